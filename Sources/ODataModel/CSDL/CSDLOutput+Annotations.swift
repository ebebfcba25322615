extension CSDLOutput {
    /// Writes the annotations of an element that has nothing else in it.
    mutating func write(_ annotations: [Annotation]) {
        writeAttributes(annotations)
        writeElements(annotations)
    }

    /// Writes those that came from attributes of other namespaces; only right after an element has begun.
    mutating func writeAttributes(_ annotations: [Annotation]) {
        for annotation in annotations {
            guard let (namespace, name) = Self.foreignAttribute(annotation.term),
                case .constant(_, let text) = annotation.value
            else { continue }
            xml.attribute("\(prefix(for: namespace)):\(name)", text)
        }
    }

    /// Writes the others.
    mutating func writeElements(_ annotations: [Annotation]) {
        for annotation in annotations where Self.foreignAttribute(annotation.term) == nil { write(annotation) }
    }

    /// The namespace and name behind a term such as `sap:label` or `{urn:x}label`.
    private static func foreignAttribute(_ term: String) -> (namespace: String, name: String)? {
        if term.hasPrefix("{"), let end = term.lastIndex(of: "}") {
            return (String(term[term.index(after: term.startIndex)..<end]), String(term[term.index(after: end)...]))
        }
        guard let colon = term.firstIndex(of: ":"),
            let known = CSDLBuilder.foreignPrefixes.first(where: { $0.value == term[..<colon] })
        else { return nil }
        return (known.key, String(term[term.index(after: colon)...]))
    }

    private mutating func write(_ annotation: Annotation) {
        xml.begin("Annotation")
        xml.attribute("Term", annotation.term)
        xml.attribute("Qualifier", annotation.qualifier)
        writeValue(annotation.value)
        for nested in annotation.annotations { write(nested) }
        xml.end()
    }

    /// Writes a value as an attribute where it can be one, else as an element.
    private mutating func writeValue(_ value: AnnotationExpression?) {
        switch value {
        case nil: break
        case .constant(let kind, let text),
            .path(let kind, let text) where kind != "LabeledElementReference":
            xml.attribute(kind, text)
        case .some(let expression): write(expression)
        }
    }

    private mutating func write(_ expression: AnnotationExpression) {
        switch expression {
        case .constant(let kind, let text), .path(let kind, let text): xml.element(kind, text: text)
        case .collection(let items):
            xml.begin("Collection")
            for item in items { write(item) }
            xml.end()
        case .record(let type, let properties):
            xml.begin("Record")
            xml.attribute("Type", type)
            writeProperties(properties)
            xml.end()
        case .dynamic(let element, let attributes, let operands):
            xml.begin(element)
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { xml.attribute(name, value) }
            for operand in operands { write(operand) }
            xml.end()
        }
    }

    /// Properties with the annotations on them, and the record's own.
    private mutating func writeProperties(_ properties: [AnnotationExpression.RecordProperty]) {
        var index = 0
        while index < properties.count {
            let property = properties[index]
            index += 1
            if let at = property.name.firstIndex(of: "@") {
                writeAnnotation(named: property.name[property.name.index(after: at)...], property.value)
                continue
            }
            xml.begin("PropertyValue")
            xml.attribute("Property", property.name)
            writeValue(property.value)
            while index < properties.count, properties[index].name.hasPrefix(property.name + "@") {
                let name = properties[index].name.dropFirst(property.name.count + 1)
                writeAnnotation(named: name, properties[index].value)
                index += 1
            }
            xml.end()
        }
    }

    private mutating func writeAnnotation(named name: Substring, _ value: AnnotationExpression?) {
        let parts = name.split(separator: "#", maxSplits: 1)
        write(
            Annotation(
                term: parts.first.map(String.init) ?? "", qualifier: parts.count > 1 ? String(parts[1]) : nil,
                value: value))
    }
}
