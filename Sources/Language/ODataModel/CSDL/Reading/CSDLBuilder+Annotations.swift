extension CSDLBuilder {
    /// The annotations of an element: the elements within it, the attributes of other vocabularies
    /// (`sap:label`), and those with external targeting (OData CSDL 4.01, 14.2).
    ///
    /// - Parameters:
    ///   - node: the element.
    ///   - group: those that target the element that the path starts from.
    ///   - child: the name that the rest of the path is; `nil` for that element itself.
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

    /// What is said in JSON, each thing once: a namespace and its alias make two names of one, which stand beside each
    /// other as members that JSON may have once. What comes first holds. XML says what it says.
    func withoutRepeats(_ annotations: [Annotation]) -> [Annotation] { withoutRepeats(annotations) { $0.key } }

    /// The same of whatever has a name.
    func withoutRepeats<Item>(_ items: [Item], key: (Item) -> String) -> [Item] {
        guard isJSON, items.count > 1 else { return items }
        var seen: Set<String> = []
        return items.filter { seen.insert(key($0)).inserted }
    }

    /// `Documentation` of CSDL 1 to 3 as the terms that V4 has for it.
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

    /// Attributes of other vocabularies as annotations with the term `prefix:name`, or `{namespace}name` where
    /// the namespace is none of the well-known ones.
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

    /// `Annotation`; `ValueAnnotation` and `TypeAnnotation` in V3.
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

    /// The value that an `Annotation`, `PropertyValue` or `LabeledElement` has as attribute or element.
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

    /// An expression element (OData CSDL 4.01, 14.3 and 14.4).
    ///
    /// - Parameter isOperand: whether nothing tells of which type it is: not the term, the property or the collection
    ///   that it is the value of.
    private mutating func readExpression(
        _ node: Node, isOperand: Bool = false
    ) throws(CSDLError) -> AnnotationExpression {
        let name = document.name(node)
        // `Path` and the like; the element of a string keeps its white space.
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
                    // What becomes an element is as it were of one.
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
            // A member of an enumeration that is no operand is written by its name alone.
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
        // In JSON, those that come again are left out with all that is said of them.
        if isJSON {
            for annotation in try readNested(node) { properties.append(annotation, to: "") }
        }
        return withoutRepeats(properties) { $0.name }
    }

    /// The annotations on an annotation, a record or one of its properties.
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
    /// Appends an annotation on a record (`owner` is empty) or on one of its properties, with the annotations on
    /// it behind it.
    mutating func append(_ annotation: Annotation, to owner: String) {
        let name = "\(owner)@\(annotation.key)"
        append(.init(name: name, value: annotation.value))
        for nested in annotation.annotations { append(nested, to: name) }
    }
}

extension Annotation {
    /// The term and the qualifier, as JSON has them.
    fileprivate var key: String { qualifier.map { "\(term)#\($0)" } ?? term }
}

extension UInt8 {
    /// Whether this is white space in XML (XML 1.0, 2.3), or what XML does not have.
    fileprivate var isXMLSpace: Bool { self <= 0x20 }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        guard utf8.first?.isXMLSpace == true || utf8.last?.isXMLSpace == true else { return self }
        let rest = utf8.drop(while: \.isXMLSpace)
        guard let last = rest.lastIndex(where: { !$0.isXMLSpace }) else { return "" }
        return String(Substring(rest[...last]))
    }
}
