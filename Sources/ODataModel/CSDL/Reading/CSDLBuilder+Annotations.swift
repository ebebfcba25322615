extension CSDLBuilder {
    /// The annotations of an element: the elements within it, the attributes of other vocabularies
    /// (`sap:label`), and those with external targeting (OData CSDL 4.01, 14.2).
    ///
    /// - Parameters:
    ///   - node: the element.
    ///   - group: those that target the element that the path starts from.
    ///   - child: the rest of the path; `nil` for that element itself.
    mutating func readAnnotations(
        _ node: Node, group: TargetedGroup? = nil, child: String? = nil
    ) throws(CSDLError) -> [Annotation] {
        var result: [Annotation] = []
        let element = document.elements[node.index]
        if element.hasForeignAttributes, options.annotations == .all || options.annotations == .attributes {
            readForeignAttributes(node, into: &result)
        }
        if element.hasAnnotations, options.annotations == .all || options.annotations == .elements {
            for child in document.children(node) {
                switch document.name(child) {
                case .annotation, .valueAnnotation, .typeAnnotation: result.append(try readAnnotation(child))
                case .documentation: readDocumentation(child, into: &result)
                default: break
                }
            }
        }
        guard let annotations = group?.take(child) else { return result }
        return result.isEmpty ? annotations : result + annotations
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
            let name = document.name(attribute)
            let namespace = document.namespace(attribute.namespace)
            if namespace == Self.metadataNamespace || namespace.isEmpty {
                // These have places of their own in the model.
                switch name {
                case "HasStream", "HttpMethod", "IsDefaultEntityContainer", "ConcurrencyMode", "DataServiceVersion",
                    "MaxDataServiceVersion", "ElementType":
                    continue
                default: break
                }
            }
            result.append(
                Annotation(
                    term: ForeignAttribute(namespace: namespace, name: name).term,
                    value: .constant(kind: "String", text: document.string(attribute.value))))
        }
    }

    // MARK: Annotation elements

    /// `Annotation`; `ValueAnnotation` and `TypeAnnotation` in V3.
    private mutating func readAnnotation(_ node: Node) throws(CSDLError) -> Annotation {
        guard let term = document.attributeText(node, .term), !document.string(term).isEmpty else {
            throw document.error(
                .missingAttribute("Term", element: document.localName(node)), at: node, expected: "the term")
        }
        var value = try readExpression(of: node)
        if document.name(node) == .typeAnnotation, value == nil {
            value = .record(type: nil, properties: try readRecordProperties(node))
        }
        var annotation = Annotation(
            term: resolver.fullName(text: term), qualifier: document.attribute(node, .qualifier), value: value)
        if document.elements[node.index].hasAnnotations {
            for child in document.children(node, named: .annotation) {
                annotation.annotations.append(try readAnnotation(child))
            }
        }
        return annotation
    }

    /// The value that an `Annotation`, `PropertyValue` or `LabeledElement` has as attribute or element.
    private mutating func readExpression(of node: Node) throws(CSDLError) -> AnnotationExpression? {
        for index in document.attributeRange(node) {
            let name = document.attributes[index].name
            if name.isConstant { return constant(name, document.string(document.attributes[index].value)) }
            if name.isPath { return path(name, document.string(document.attributes[index].value)) }
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
                type: document.attributeText(node, .type).map { resolver.fullName(text: $0) },
                properties: try readRecordProperties(node))
        case .annotation: return .annotation(try readAnnotation(node))
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
                    attributes["Type"] = resolver.typeName(text)
                } else {
                    attributes[document.name(attribute)] = text
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
        for child in document.children(node) {
            switch document.name(child) {
            case .propertyValue:
                let name = try required(child, .property, "the property's name")
                properties.append(.init(name: name, value: try readExpression(of: child)))
                guard document.elements[child.index].hasAnnotations else { continue }
                for nested in document.children(child, named: .annotation) {
                    properties.append(try readAnnotation(nested), to: name)
                }
            case .annotation: properties.append(try readAnnotation(child), to: "")
            default: warnUnknown(child, in: document.localName(node))
            }
        }
        return properties
    }

    private func constant(_ name: CSDLName, _ text: String) -> AnnotationExpression {
        guard name == .enumMember else { return .constant(kind: name.rawValue, text: text) }
        // Several members are separated by spaces, each with its type.
        let members = text.split(whereSeparator: \.isWhitespace).map { resolver.path(String($0)) }
        return .constant(kind: name.rawValue, text: members.joined(separator: " "))
    }

    private func path(_ name: CSDLName, _ text: String) -> AnnotationExpression {
        .path(kind: name.rawValue, text: resolver.path(text))
    }

    // MARK: External targeting

    /// The annotations that target an element or what is within it, from outside.
    final class TargetedGroup {
        struct Entry {
            /// The rest of the path after the element; `nil` for the element itself.
            var rest: String?
            var annotations: [Annotation]
            var isTaken = false
        }

        let root: String
        fileprivate(set) var entries: [Entry] = []
        /// By the rest of the path, once there are many.
        private var positions: [String?: Int] = [:]
        private static let listLimit = 12

        init(root: String) { self.root = root }

        /// Those on the element itself or on a child; all overloads of an operation may take the same ones.
        func take(_ rest: String?) -> [Annotation]? {
            guard let position = position(of: rest) else { return nil }
            entries[position].isTaken = true
            return entries[position].annotations
        }

        private func position(of rest: String?) -> Int? {
            if entries.count <= Self.listLimit { return entries.firstIndex { $0.rest == rest } }
            return positions[rest]
        }

        /// Adds some to those that are there.
        ///
        /// - Returns: the entry they are in, and where in it.
        fileprivate func add(_ annotations: [Annotation], _ rest: String?) -> (entry: Int, added: Range<Int>) {
            if let position = position(of: rest) {
                let start = entries[position].annotations.count
                entries[position].annotations += annotations
                return (position, start..<start + annotations.count)
            }
            entries.append(Entry(rest: rest, annotations: annotations))
            if entries.count == Self.listLimit + 1 {
                for (position, entry) in entries.enumerated() { positions[entry.rest] = position }
            } else if entries.count > Self.listLimit {
                positions[rest] = entries.count - 1
            }
            return (entries.count - 1, 0..<annotations.count)
        }
    }

    /// Takes in all `Annotations` elements before anything is built, so that each element finds its own.
    mutating func collectTargetedAnnotations(_ part: Part, isMain: Bool) throws(CSDLError) {
        guard options.annotations == .all || options.annotations == .elements else { return }
        for schema in part.schemas {
            for node in document.children(schema, named: .annotations) {
                try collect(node, isMain: isMain)
            }
        }
        guard !isMain, !part.includedAnnotations.isEmpty else { return }
        // Included for its annotations: those of the terms and targets asked for, from all its schemas.
        for schema in try allSchemas(part.root) where !part.schemas.contains(schema) {
            for node in document.children(schema, named: .annotations) {
                try collect(node, isMain: false, only: part.includedAnnotations)
            }
        }
    }

    private func allSchemas(_ root: Node) throws(CSDLError) -> [Node] {
        document.name(root) == .schema
            ? [root] : document.children(root, named: .dataServices).flatMap { document.children($0, named: .schema) }
    }

    private mutating func collect(
        _ node: Node, isMain: Bool, only wanted: [CSDLReference.IncludeAnnotations]? = nil
    ) throws(CSDLError) {
        guard let target = document.attributeText(node, .target), !document.string(target).isEmpty else {
            throw document.error(
                .missingAttribute("Target", element: "Annotations"), at: node, expected: "the path of a model element")
        }
        let qualifier = document.attribute(node, .qualifier)
        let (group, rest) = self.group(of: target)
        var annotations: [Annotation] = []
        for child in document.children(node) {
            switch document.name(child) {
            case .annotation, .valueAnnotation, .typeAnnotation:
                var annotation = try readAnnotation(child)
                if annotation.qualifier == nil { annotation.qualifier = qualifier }
                if let wanted, !wanted.contains(where: { $0.includes(annotation, on: group.root) }) { continue }
                annotations.append(annotation)
            default: warnUnknown(child, in: "Annotations")
            }
        }
        guard !annotations.isEmpty else { return }
        let (entry, added) = group.add(annotations, rest)
        if isMain { targets.append((group, entry, added, node)) }
    }

    /// The group of a target, and the rest of the path after the group's root.
    private mutating func group(of target: CSDLDocument.Text) -> (TargetedGroup, rest: String?) {
        let root: String
        var rest: String?
        let (head, tail, isPlain) = document.strings.withUTF8(target) { text in
            let slash = text.firstIndex(of: UInt8(ascii: "/"))
            let head = targetParts.id(UnsafeBufferPointer(rebasing: text[..<(slash ?? text.count)]))
            let tail = slash.map { targetParts.id(UnsafeBufferPointer(rebasing: text[($0 + 1)...])) }
            return (head, tail, !text.contains(UInt8(ascii: "(")))
        }
        if isPlain {
            if let known = targetRoots[head] {
                root = known
            } else {
                root = resolver.fullName(targetParts[head])
                targetRoots[head] = root
            }
            rest = tail.map { resolver.path(targetParts[$0]) }
        } else {
            // An overload's parameter types hold no slash, though hostile ones may.
            let segments = CSDLNameMap.segments(resolver.path(document.string(target)))
            root = String(segments[0])
            if segments.count > 1 { rest = segments[1...].joined(separator: "/") }
            if root.utf8.last == UInt8(ascii: ")") { targetsOverloads = true }
        }
        // A tool writes what belongs to one element in one go.
        if let last = targets.last?.group, last.root == root { return (last, rest) }
        if let group = targeted[root] { return (group, rest) }
        let group = TargetedGroup(root: root)
        targeted[root] = group
        return (group, rest)
    }

    /// Puts annotations whose target the document lacks with the schema they stand in, in document order.
    mutating func keepUnusedTargets(_ schemas: inout [Schema]) {
        guard targets.contains(where: { !$0.group.entries[$0.entry].isTaken }) else { return }
        let starts = schemaStarts
        let names = Self.otherNames(schemas)
        var position = 0
        for (group, index, added, node) in targets where !group.entries[index].isTaken {
            let entry = group.entries[index]
            let target = entry.rest.map { "\(group.root)/\($0)" } ?? group.root
            // Terms, types and containers are whole names; an unknown one is likely a slip or another document.
            if declarations[group.root] == nil, !names.contains(String(group.root.prefix { $0 != "(" })) {
                warn("The document does not declare \(target), which has annotations.", at: node)
            }
            // The schema that the element stands in is the last that begins before it; both come in order.
            while position + 1 < starts.count, starts[position + 1] < node.index { position += 1 }
            guard schemas.indices.contains(position) else { continue }
            schemas[position].externalAnnotations.append(
                TargetedAnnotations(target: target, annotations: Array(entry.annotations[added])))
        }
    }

    /// The names of schemas, terms and operations.
    private static func otherNames(_ schemas: [Schema]) -> Set<String> {
        var names: Set<String> = []
        for schema in schemas {
            names.insert(schema.namespace)
            for term in schema.terms { names.insert(term.name.description) }
            for operation in schema.operations { names.insert(operation.name.description) }
        }
        return names
    }

    private var schemaStarts: [Int] {
        guard let root = document.roots.first?.node else { return [] }
        return (try? allSchemas(root).map(\.index)) ?? []
    }
}

extension [AnnotationExpression.RecordProperty] {
    /// Appends an annotation on a record (`owner` is empty) or on one of its properties, with the annotations on
    /// it behind it.
    mutating func append(_ annotation: Annotation, to owner: String) {
        let name = "\(owner)@\(annotation.term)\(annotation.qualifier.map { "#\($0)" } ?? "")"
        append(.init(name: name, value: annotation.value))
        for nested in annotation.annotations { append(nested, to: name) }
    }
}

extension CSDLReference.IncludeAnnotations {
    /// Whether an annotation of the document referred to is one of those included (OData CSDL 4.01, 4.3).
    fileprivate func includes(_ annotation: Annotation, on target: String) -> Bool {
        guard let dot = annotation.term.lastIndex(of: "."), annotation.term[..<dot] == termNamespace else {
            return false
        }
        if let qualifier, annotation.qualifier != qualifier { return false }
        if let targetNamespace { return target.hasPrefix(targetNamespace + ".") }
        return true
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
