extension CSDLOutput {
    /// Writes the annotations of an element without other content.
    mutating func write(_ annotations: [Annotation]) {
        writeAttributes(annotations)
        writeDocumentation(annotations)
        writeElements(annotations)
    }

    /// Writes the annotations that represent attributes of other namespaces; valid only directly after the start
    /// tag.
    mutating func writeAttributes(_ annotations: [Annotation]) {
        for annotation in annotations {
            guard let attribute = ForeignAttribute(annotation), let text = annotation.value?.string else { continue }
            xml.attribute(
                attribute.namespace.isEmpty ? attribute.name : "\(prefix(for: attribute.namespace)):\(attribute.name)",
                text)
        }
    }

    /// Writes the annotations that do not represent attributes.
    mutating func writeElements(_ annotations: [Annotation]) {
        for annotation in annotations where ForeignAttribute(annotation) == nil {
            if !isV4, annotation.isDocumentation { continue }
            write(annotation)
        }
    }

    private mutating func write(_ annotation: Annotation) {
        xml.begin("Annotation")
        // Metadata of V2 and V3 contain annotations in V4 notation.
        if !isV4 { xml.attribute("xmlns", CSDLBuilder.v4Namespace) }
        xml.attribute("Term", annotation.term)
        xml.attribute("Qualifier", annotation.qualifier)
        writeValue(annotation.value)
        for nested in annotation.annotations { write(nested) }
        xml.end()
    }

    /// Writes a value as an attribute if possible, or else as an element.
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
        case .dynamic("Annotation", _, _):
            if let annotation = expression.annotation { write(annotation) }
        case .dynamic(let element, let attributes, let operands):
            xml.begin(element)
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { xml.attribute(name, value) }
            for operand in operands { write(operand) }
            xml.end()
        }
    }

    /// Writes the properties of a record with their annotations, and the annotations on the record.
    private mutating func writeProperties(_ properties: [AnnotationExpression.RecordProperty]) {
        var index = 0
        while index < properties.count {
            let property = properties[index]
            guard property.name.utf8.first != UInt8(ascii: "@") else {
                write(properties.annotation(at: &index, on: ""))
                continue
            }
            index += 1
            xml.begin("PropertyValue")
            xml.attribute("Property", property.name)
            writeValue(property.value)
            while index < properties.count, properties[index].name.begins(with: property.name + "@") {
                write(properties.annotation(at: &index, on: property.name))
            }
            xml.end()
        }
    }
}

extension [AnnotationExpression.RecordProperty] {
    /// Returns the annotation on `owner` at an index, with its nested annotations, and advances the index.
    ///
    /// If the name at the index is not an annotation on `owner`, the whole name becomes the term.
    func annotation(at index: inout Int, on owner: String) -> Annotation {
        let name = self[index].name
        let (term, qualifier) = (name.rest(behind: owner + "@") ?? name[...]).termAndQualifier
        var annotation = Annotation(
            term: term.isEmpty ? name : String(term), qualifier: qualifier.map(String.init), value: self[index].value)
        index += 1
        while index < count, self[index].name.begins(with: name + "@") {
            annotation.annotations.append(self.annotation(at: &index, on: name))
        }
        return annotation
    }
}
