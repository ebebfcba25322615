extension CSDLBuilder {
    /// Returns the annotations of an element: nested elements, attributes of other vocabularies (`sap:label`), and
    /// annotations with external targeting (OData CSDL 4.01, 14.2).
    ///
    /// - Parameters:
    ///   - node: the element.
    ///   - group: the annotations that target the element at the start of the path.
    ///   - child: the rest of the path, a single name; `nil` for the element at the start.
    mutating func readAnnotations(
        _ node: Node, group: CSDLTargets.Group? = nil, child: CSDLDocument.Text? = nil
    ) throws(CSDLError) -> [Annotation] {
        var result: [Annotation] = []
        let element = document.elements[node.index]
        if element.hasForeignAttributes, options.annotations == .all || options.annotations == .attributes {
            readForeignAttributes(node, into: &result)
        }
        if element.hasAnnotations, options.annotations == .all || options.annotations == .elements {
            for child in document.children(node) {
                switch document.name(child) {
                case .annotation, .valueAnnotation, .typeAnnotation:
                    guard takesTerm(of: child) else { continue }
                    do throws(CSDLError) {
                        result.append(try readAnnotation(child))
                    } catch {
                        try leaveOut(child, error)
                    }
                case .documentation: readDocumentation(child, into: &result)
                default: break
                }
            }
        }
        if let group, let annotations = targeted.take(child ?? CSDLTargets.itself, of: group) {
            result = result.isEmpty ? annotations : result + annotations
        }
        return withoutRepeats(result)
    }

    /// Returns the annotations of a JSON document without repetitions; the first of each remains.
    ///
    /// A namespace and its alias can name the same member twice, although JSON requires unique members. Annotations
    /// of XML documents are returned unchanged.
    func withoutRepeats(_ annotations: [Annotation]) -> [Annotation] { withoutRepeats(annotations) { $0.key } }

    /// Returns the items of a JSON document without repetitions of a key; the first of each remains.
    func withoutRepeats<Item>(_ items: [Item], key: (Item) -> String) -> [Item] {
        guard isJSON, items.count > 1 else { return items }
        var seen: Set<String> = []
        return items.filter { seen.insert(key($0)).inserted }
    }

    /// Reads `Documentation` of CSDL 1 to 3 as the equivalent V4 terms.
    private func readDocumentation(_ node: Node, into result: inout [Annotation]) {
        for child in document.children(node) {
            let term: String
            switch document.name(child) {
            case .summary: term = Annotation.description
            case .longDescription: term = Annotation.longDescription
            default: continue
            }
            let text = document.content(child).trimmed
            guard !text.isEmpty else { continue }
            result.append(Annotation(term: term, value: .constant(kind: "String", text: text)))
        }
    }

    // MARK: Attributes of other vocabularies

    /// Reads attributes of other vocabularies as annotations. The term is `prefix:name` for well-known namespaces,
    /// or else `{namespace}name`.
    private func readForeignAttributes(_ node: Node, into result: inout [Annotation]) {
        for attribute in document.attributes(node) where attribute.namespace >= 0 || attribute.name == .other {
            let foreign = ForeignAttribute(
                namespace: document.namespace(attribute.namespace), name: document.name(attribute))
            guard !foreign.isInModel else { continue }
            result.append(
                Annotation(
                    term: foreign.term,
                    value: .constant(kind: "String", text: document.string(attribute.value))))
        }
    }

    // MARK: Annotation elements

    /// Reads `Annotation`, or `ValueAnnotation` or `TypeAnnotation` of V3.
    mutating func readAnnotation(_ node: Node) throws(CSDLError) -> Annotation {
        guard let term = document.attributeText(node, .term), !document.string(term).isEmpty else {
            throw document.error(
                .missingAttribute("Term", element: document.localName(node)), at: node, expected: "the term")
        }
        var value = try readExpression(of: node)
        if document.name(node) == .typeAnnotation, value == nil {
            value = .record(type: nil, properties: try readRecordProperties(node))
        }
        let name = resolver.fullName(text: term)
        if isJSON, let untyped = value { value = typed(untyped, constantTypes.type(of: name)) }
        return Annotation(
            term: name, qualifier: document.attribute(node, .qualifier), value: value,
            annotations: try readNested(node))
    }

    /// Reads the value of an `Annotation`, `PropertyValue` or `LabeledElement`, stated as attribute or element.
    private mutating func readExpression(of node: Node) throws(CSDLError) -> AnnotationExpression? {
        for index in document.attributeRange(node) {
            let name = document.attributes[index].name
            if name.isConstant { return constant(name, document.string(document.attributes[index].value)) }
            if name.isPath { return path(name, document.string(document.attributes[index].value).trimmed) }
            if name == .urlRef {
                let text = document.string(document.attributes[index].value)
                return .dynamic(element: "UrlRef", attributes: [:], operands: [.constant(kind: "String", text: text)])
            }
        }
        for child in document.children(node) {
            switch document.name(child) {
            case .annotation, .documentation: continue
            case .propertyValue where document.name(node) == .typeAnnotation: return nil
            default: return try readExpression(child)
            }
        }
        return nil
    }

    /// Reads an expression element (OData CSDL 4.01, 14.3 and 14.4).
    ///
    /// - Parameter isOperand: whether the expression is an operand, whose type no term, property or collection
    ///   implies.
    private mutating func readExpression(
        _ node: Node, isOperand: Bool = false
    ) throws(CSDLError) -> AnnotationExpression {
        let name = document.name(node)
        // A string constant keeps its white space; the text of all other constants and of paths is trimmed.
        if name.isConstant {
            let text = document.content(node)
            return constant(name, name == .string ? text : text.trimmed)
        }
        if name.isPath { return path(name, document.content(node).trimmed) }
        switch name {
        case .collection:
            var items: [AnnotationExpression] = []
            for child in document.children(node) { items.append(try readExpression(child)) }
            return .collection(items)
        case .record:
            return .record(
                type: document.attributeText(node, .type).map { resolver.fullName(text: $0) },
                properties: try readRecordProperties(node))
        case .annotation: return .annotation(try readAnnotation(node))
        default:
            var attributes: [String: String] = [:]
            var operands: [AnnotationExpression] = []
            for attribute in document.attributes(node) where attribute.namespace < 0 {
                let text = document.string(attribute.value)
                if attribute.name.isConstant {
                    // An attribute that becomes an operand is treated as an element.
                    operands.append(constant(attribute.name, attribute.name == .string ? text : text.trimmed))
                } else if attribute.name.isPath {
                    operands.append(path(attribute.name, text.trimmed))
                } else if attribute.name == .type {
                    attributes["Type"] = resolver.typeName(text)
                } else {
                    attributes[document.name(attribute)] = text
                }
            }
            let element = document.localName(node)
            for child in document.children(node) {
                operands.append(try readExpression(child, isOperand: element != "LabeledElement"))
            }
            guard isJSON else { return .dynamic(element: element, attributes: attributes, operands: operands) }
            let annotations = withoutRepeats(operands.compactMap(\.annotation))
            operands = operands.filter { $0.annotation == nil } + annotations.map { .annotation($0) }
            // An enumeration member that is not an operand is written by its name alone.
            return (isOperand ? members(element, attributes, operands: operands) : nil)
                ?? .dynamic(element: element, attributes: attributes, operands: operands)
        }
    }

    private mutating func readRecordProperties(
        _ node: Node
    ) throws(CSDLError) -> [AnnotationExpression.RecordProperty] {
        var properties: [AnnotationExpression.RecordProperty] = []
        for child in document.children(node) {
            switch document.name(child) {
            case .propertyValue:
                let name = try required(child, .property, expected: "the property's name")
                properties.append(.init(name: name, value: try readExpression(of: child)))
                for annotation in try readNested(child) { properties.append(annotation, to: name) }
            case .annotation:
                if !isJSON, takesTerm(of: child) { properties.append(try readAnnotation(child), to: "") }
            default: warnUnknown(child, in: document.localName(node))
            }
        }
        // In JSON, repeated properties are dropped together with their annotations.
        if isJSON {
            for annotation in try readNested(node) { properties.append(annotation, to: "") }
        }
        return withoutRepeats(properties) { $0.name }
    }

    /// Returns the annotations on an annotation, a record or a record property.
    private mutating func readNested(_ node: Node) throws(CSDLError) -> [Annotation] {
        guard document.elements[node.index].hasAnnotations else { return [] }
        var result: [Annotation] = []
        for child in document.children(node, named: .annotation) where takesTerm(of: child) {
            result.append(try readAnnotation(child))
        }
        return withoutRepeats(result)
    }

    private func constant(_ name: CSDLName, _ text: String) -> AnnotationExpression {
        guard name == .enumMember else { return .constant(kind: name.rawValue, text: text) }
        guard text.utf8.contains(where: { $0 <= 0x20 }) else {
            return .constant(kind: name.rawValue, text: resolver.path(text))
        }
        // Several members are separated by spaces, each with its type.
        let members = text.utf8.split(whereSeparator: \.isXMLSpace).map { resolver.path(String(Substring($0))) }
        return .constant(kind: name.rawValue, text: members.joined(separator: " "))
    }

    private func path(_ name: CSDLName, _ text: String) -> AnnotationExpression {
        .path(kind: name.rawValue, text: resolver.path(text))
    }
}

extension [AnnotationExpression.RecordProperty] {
    /// Appends an annotation on a record (`owner` is empty) or on one of its properties, followed by the
    /// annotations on the annotation.
    mutating func append(_ annotation: Annotation, to owner: String) {
        let name = "\(owner)@\(annotation.key)"
        append(.init(name: name, value: annotation.value))
        for nested in annotation.annotations { append(nested, to: name) }
    }
}

extension Annotation {
    /// The term and the qualifier in JSON notation.
    fileprivate var key: String { qualifier.map { "\(term)#\($0)" } ?? term }
}

extension UInt8 {
    /// Whether the byte is white space in XML (XML 1.0, 2.3), or a control character that XML forbids.
    fileprivate var isXMLSpace: Bool { self <= 0x20 }
}

extension String {
    /// The string without white space at both ends.
    var trimmed: String {
        guard utf8.first?.isXMLSpace == true || utf8.last?.isXMLSpace == true else { return self }
        let rest = utf8.drop(while: \.isXMLSpace)
        guard let last = rest.lastIndex(where: { !$0.isXMLSpace }) else { return "" }
        return String(Substring(rest[...last]))
    }
}
