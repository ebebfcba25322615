extension CSDLJSONOutput {
    /// Writes annotations as members of the open object.
    ///
    /// - Parameters:
    ///   - annotations: the annotations.
    ///   - owner: the annotated member; empty for the object itself.
    ///   - kind: the kind of the annotated element, which determines the meaning of its attributes.
    mutating func write(_ annotations: [Annotation], on owner: String, kind: AnnotatedKind = .other) {
        guard !annotations.isEmpty else { return }
        var written: [String: Annotation] = [:]
        for annotation in annotations where ForeignAttribute(annotation) == nil {
            write(annotation, on: owner, &written)
        }
        for meaning in SAPAttributes.annotations(for: annotations, on: kind)
        where !annotations.contains(where: { $0.term == meaning.term }) {
            write(meaning, on: owner, &written)
        }
        for annotation in annotations where ForeignAttribute(annotation) != nil {
            guard SAPAttributes.annotations(for: annotation, among: annotations, on: kind).isEmpty else { continue }
            omissions.append("CSDL in JSON has no place for the attribute \(annotation.term).")
        }
    }

    private mutating func write(_ annotation: Annotation, on owner: String, _ written: inout [String: Annotation]) {
        let qualifier = annotation.qualifier.map { "#\($0)" } ?? ""
        let key = "\(owner)@\(names.name(annotation.term))\(qualifier)"
        // The same term twice is a mistake that XML can write down.
        if let first = written[key] {
            if first != annotation { omitRepeated("annotation \(key)") }
            return
        }
        written[key] = annotation
        json.key(key)
        // An annotation without a value has the default of its term, which is true for tags.
        write(annotation.value ?? .constant(kind: "Bool", text: "true"), isOperand: false)
        for nested in annotation.annotations { write(nested, on: key, &written) }
    }

    private mutating func omitRepeated(_ element: String) {
        omissions.append(
            "The second \(element) was left out: CSDL in JSON holds each name once. Remove or qualify one of the two.")
    }

    /// Writes an expression (OData CSDL JSON 4.01, 14.3 and 14.4).
    private mutating func write(_ expression: AnnotationExpression, isOperand: Bool) {
        switch expression {
        case .constant("Bool", let text): json.boolean(Bool(stated: text) == true)
        case .constant("Int", let text), .constant("Decimal", let text), .constant("Float", let text): number(text)
        case .constant("EnumMember", let text): write(enumMember: text, isOperand: isOperand)
        case .constant(_, let text): json.string(text)
        case .path("Path", let text): write(single: "$Path", names.path(text))
        case .path("LabeledElementReference", let text): write(single: "$LabeledElementReference", names.path(text))
        case .path(_, let text): json.string(names.path(text))
        case .collection(let items):
            json.beginArray()
            for item in items { write(item, isOperand: false) }
            json.endArray()
        case .record(let type, let properties):
            json.beginObject()
            if let type {
                let source = type.halves(atLast: ".").flatMap { sources[String($0.before)] } ?? ""
                member(model.version < .v401 ? "@odata.type" : "@type", "\(source)#\(names.name(type))")
            }
            var written: [String: AnnotationExpression?] = [:]
            for property in properties {
                let key = names.annotationKey(property.name)
                if let first = written[key] {
                    if first != property.value { omitRepeated("property \(key) of a record") }
                    continue
                }
                written[key] = .some(property.value)
                json.key(key)
                write(property.value ?? .constant(kind: "Bool", text: "true"), isOperand: false)
            }
            json.endObject()
        case .dynamic(let element, let attributes, let operands): write(element, attributes, operands: operands)
        }
    }

    private mutating func write(single key: String, _ text: String) {
        json.beginObject()
        member(key, text)
        json.endObject()
    }

    /// Writes members without their type, which the term implies; an operand gets a cast to the type.
    private mutating func write(enumMember text: String, isOperand: Bool) {
        let members = text.parts(between: " ").map { $0.halves(atLast: "/") ?? ("", $0) }
        let value = members.map { String($0.behind) }.joined(separator: ",")
        guard isOperand, let type = members.first?.before, !type.isEmpty else { return json.string(value) }
        json.beginObject()
        member("$Cast", value)
        member("$Type", names.name(type))
        json.endObject()
    }

    private mutating func write(_ element: String, _ attributes: [String: String], operands: [AnnotationExpression]) {
        let annotations = operands.compactMap(\.annotation)
        let values = operands.filter { $0.annotation == nil }
        if element == "Null", annotations.isEmpty { return json.null() }
        json.beginObject()
        write(annotations, on: "")
        for (name, text) in attributes.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "Type":
                let element = text.collectionElement
                flag("$Collection", element != nil)
                let type = element.map(String.init) ?? text
                if type != "Edm.String" { member("$Type", names.name(type)) }
            case "MaxLength", "Precision", "Scale", "SRID":
                json.key("$" + name)
                number(text)
            case "Unicode":
                json.key("$Unicode")
                json.boolean(Bool(stated: text) == true)
            default: member("$" + name, text)
            }
        }
        json.key("$" + element)
        switch element {
        case "Null": json.null()
        case "Not", "Neg", "Cast", "IsOf", "LabeledElement", "UrlRef":
            if let value = values.first { write(value, isOperand: element != "LabeledElement") } else { json.null() }
        default:
            json.beginArray()
            for value in values { write(value, isOperand: true) }
            json.endArray()
        }
        json.endObject()
    }
}

extension CSDLNameMap {
    /// Returns the name of a record property or of an annotation on it, such as `Name@NS.Term#Q@NS.Other`.
    func annotationKey(_ key: String) -> String {
        let parts = key.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).map { Substring($0) }
        guard parts.count > 1 else { return key }
        let terms = parts.dropFirst().map { part in
            let (term, qualifier) = part.termAndQualifier
            return qualifier.map { "\(name(term))#\($0)" } ?? name(term)
        }
        return ([String(parts[0])] + terms).joined(separator: "@")
    }
}
