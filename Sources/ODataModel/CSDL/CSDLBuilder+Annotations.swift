extension CSDLBuilder {
    /// The annotations of an element: the elements within it, its foreign attributes (`sap:label`), and those
    /// with external targeting (OData CSDL 4.01, 14.2).
    ///
    /// - Parameters:
    ///   - node: the element.
    ///   - target: the first segment of the element's path, where others may target it.
    ///   - child: the second one.
    mutating func readAnnotations(
        _ node: Node, target: String? = nil, child: String? = nil
    ) throws(CSDLError) -> [Annotation] {
        try readAnnotations(node, targets: target.map { [$0] } ?? [], child: child)
    }

    mutating func readAnnotations(
        _ node: Node, targets: [String], child: String?
    ) throws(CSDLError) -> [Annotation] {
        var result: [Annotation] = []
        for attribute in document.attributes(node) where attribute.namespace >= 0 {
            if let annotation = foreignAnnotation(attribute) { result.append(annotation) }
        }
        for element in document.children(node) {
            switch document.name(element) {
            case .annotation, .valueAnnotation, .typeAnnotation: result.append(try readAnnotation(element))
            default: break
            }
        }
        if !targetedRoots.isEmpty {
            for target in targets where targetedRoots.contains(target) {
                if let more = targeted.removeValue(forKey: child.map { "\(target)/\($0)" } ?? target) {
                    result += more
                    // An unqualified operation target stands for all overloads: the others need it too.
                    if targets.count > 1 { shared[child.map { "\(target)/\($0)" } ?? target] = more }
                } else if targets.count > 1, let more = shared[child.map { "\(target)/\($0)" } ?? target] {
                    result += more
                }
            }
        }
        return result
    }

    /// The prefixes under which attributes of known namespaces are kept, whatever the document calls them.
    static let foreignPrefixes = [
        "http://www.sap.com/Protocols/SAPData": "sap",
        metadataNamespace: "m",
        "http://schemas.microsoft.com/ado/2009/02/edm/annotation": "annotation",
    ]

    /// An attribute of another namespace as an annotation with the term `prefix:name`, or `{namespace}name`
    /// where the namespace is none of the well-known ones.
    private func foreignAnnotation(_ attribute: CSDLDocument.Attribute) -> Annotation? {
        let namespace = document.namespace(attribute.namespace)
        let name = attribute.name == .other ? document.string(attribute.otherName) : attribute.name.rawValue
        let term: String
        if let prefix = Self.foreignPrefixes[namespace] {
            // These have places of their own in the model.
            switch (namespace == Self.metadataNamespace, name) {
            case (true, "HasStream"), (true, "HttpMethod"), (true, "IsDefaultEntityContainer"),
                (true, "ConcurrencyMode"), (true, "DataServiceVersion"), (true, "MaxDataServiceVersion"):
                return nil
            default: term = "\(prefix):\(name)"
            }
        } else {
            term = "{\(namespace)}\(name)"
        }
        return Annotation(term: term, value: .constant(kind: "String", text: document.string(attribute.value)))
    }

    /// `Annotation`; `ValueAnnotation` and `TypeAnnotation` in V3.
    private mutating func readAnnotation(_ node: Node) throws(CSDLError) -> Annotation {
        let term = resolver.fullName(try required(node, .term, "the term"))
        var value = try readExpression(of: node)
        if document.name(node) == .typeAnnotation, value == nil {
            value = .record(type: nil, properties: try readRecordProperties(node))
        }
        var nested: [Annotation] = []
        for child in document.children(node, named: .annotation) { nested.append(try readAnnotation(child)) }
        return Annotation(
            term: term, qualifier: document.attribute(node, .qualifier), value: value, annotations: nested)
    }

    /// The value that an `Annotation`, `PropertyValue` or `LabeledElement` has as attribute or element.
    private mutating func readExpression(of node: Node) throws(CSDLError) -> AnnotationExpression? {
        for attribute in document.attributes(node) {
            let name = attribute.name
            if name.isConstant { return constant(name, document.string(attribute.value)) }
            if name.isPath { return path(name, document.string(attribute.value)) }
            if name == .urlRef {
                let text = document.string(attribute.value)
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
    private mutating func readExpression(_ node: Node) throws(CSDLError) -> AnnotationExpression {
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
                type: document.attribute(node, .type).map { resolver.fullName($0) },
                properties: try readRecordProperties(node))
        case .annotation:
            let annotation = try readAnnotation(node)
            var attributes = ["Term": annotation.term]
            attributes["Qualifier"] = annotation.qualifier
            return .dynamic(
                element: "Annotation", attributes: attributes, operands: annotation.value.map { [$0] } ?? [])
        default:
            var attributes: [String: String] = [:]
            var operands: [AnnotationExpression] = []
            for attribute in document.attributes(node) where attribute.namespace < 0 {
                let text = document.string(attribute.value)
                if attribute.name.isConstant {
                    operands.append(constant(attribute.name, text))
                } else if attribute.name.isPath {
                    operands.append(path(attribute.name, text))
                } else if attribute.name == .type {
                    attributes["Type"] = resolver.path("(\(text))").dropFirst().dropLast().description
                } else {
                    let key =
                        attribute.name == .other ? document.string(attribute.otherName) : attribute.name.rawValue
                    attributes[key] = text
                }
            }
            for child in document.children(node) { operands.append(try readExpression(child)) }
            return .dynamic(element: document.localName(node), attributes: attributes, operands: operands)
        }
    }

    private mutating func readRecordProperties(
        _ node: Node
    ) throws(CSDLError) -> [AnnotationExpression.RecordProperty] {
        var properties: [AnnotationExpression.RecordProperty] = []
        func append(_ annotation: Annotation, to owner: String) {
            let suffix = annotation.qualifier.map { "#\($0)" } ?? ""
            properties.append(.init(name: "\(owner)@\(annotation.term)\(suffix)", value: annotation.value))
        }
        for child in document.children(node) {
            switch document.name(child) {
            case .propertyValue:
                let name = try required(child, .property, "the property's name")
                properties.append(.init(name: name, value: try readExpression(of: child)))
                for nested in document.children(child, named: .annotation) {
                    append(try readAnnotation(nested), to: name)
                }
            case .annotation: append(try readAnnotation(child), to: "")
            default: warnUnknown(child, in: document.localName(node))
            }
        }
        return properties
    }

    private func constant(_ name: CSDLName, _ text: String) -> AnnotationExpression {
        guard name == .enumMember else { return .constant(kind: name.rawValue, text: text) }
        // Several members are separated by spaces, each with its type.
        let members = text.split(separator: " ").map { resolver.path(String($0)) }
        return .constant(kind: name.rawValue, text: members.joined(separator: " "))
    }

    private func path(_ name: CSDLName, _ text: String) -> AnnotationExpression {
        .path(kind: name.rawValue, text: resolver.path(text))
    }

    // MARK: External targeting

    /// Takes in all `Annotations` elements before anything is built, so that each element finds its own.
    mutating func collectTargetedAnnotations(_ schemas: [Node]) throws(CSDLError) {
        for schema in schemas {
            for node in document.children(schema, named: .annotations) {
                let target = resolver.path(try required(node, .target, "the path of a model element"))
                let qualifier = document.attribute(node, .qualifier)
                var annotations: [Annotation] = []
                for child in document.children(node) {
                    switch document.name(child) {
                    case .annotation, .valueAnnotation, .typeAnnotation:
                        var annotation = try readAnnotation(child)
                        if annotation.qualifier == nil { annotation.qualifier = qualifier }
                        annotations.append(annotation)
                    default: warnUnknown(child, in: "Annotations")
                    }
                }
                guard !annotations.isEmpty else { continue }
                targeted[target, default: []] += annotations
                targetedRoots.insert(Self.root(of: target))
                targetOrder.append(target)
            }
        }
    }

    /// Puts annotations whose target the document lacks with the first schema, in document order.
    mutating func keepUnusedTargets(_ schemas: inout [Schema], _ nodes: [Node]) {
        guard !targeted.isEmpty, !schemas.isEmpty else { return }
        for target in targetOrder {
            guard let annotations = targeted.removeValue(forKey: target) else { continue }
            // Terms, types and containers are whole names; an unknown one is likely a slip or another document.
            if let node = nodes.first, declarations[Self.root(of: target)] == nil {
                warn("The document does not declare \(target), which has annotations.", at: node)
            }
            schemas[0].externalAnnotations.append(TargetedAnnotations(target: target, annotations: annotations))
        }
    }

    private static func root(of path: String) -> String {
        var depth = 0
        for index in path.utf8.indices {
            switch path.utf8[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "/") where depth == 0: return String(path[..<index])
            default: break
            }
        }
        return path
    }
}

extension String {
    /// Without white space at both ends.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
