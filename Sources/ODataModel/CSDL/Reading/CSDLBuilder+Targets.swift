/// Annotations with external targeting (OData CSDL 4.01, 14.2.1).
extension CSDLBuilder {
    /// Takes in all `Annotations` elements before anything is built, so that each element finds its own.
    mutating func collectTargetedAnnotations(_ part: Part, isMain: Bool) throws(CSDLError) {
        guard options.annotations == .all || options.annotations == .elements else { return }
        for schema in part.schemas {
            if isMain { targets.reserveCapacity(targets.count + document.count(schema, named: .annotations)) }
            for node in document.children(schema) where document.name(node) == .annotations {
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
        guard let target = document.attributeText(node, .target), !document.texts.isEmpty(target) else {
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
    private mutating func group(of target: CSDLDocument.Text) -> (CSDLTargetGroup, rest: CSDLTargetPaths.Number) {
        let (headCount, isPlain) = document.texts.withUTF8(target) { text in
            (text.firstIndex(of: UInt8(ascii: "/")) ?? text.count, !text.contains(UInt8(ascii: "(")))
        }
        guard isPlain else {
            // An overload's parameter types hold no slash, though hostile ones may.
            let segments = CSDLNameMap.segments(resolver.path(document.string(target)))
            let root = String(segments[0])
            if root.utf8.last == UInt8(ascii: ")") { targetsOverloads = true }
            guard segments.count > 1 else { return (group(named: root), CSDLTargetPaths.itself) }
            return (group(named: root), targetPaths.assign(segments[1...].joined(separator: "/")))
        }
        let rest = restNumber(of: target, after: headCount)
        // A tool writes what belongs to one element in one go.
        if let last = lastTarget, last.headCount == headCount,
            document.texts.haveSamePrefix(last.text, target, headCount)
        {
            return (last.group, rest)
        }
        let group = group(ofHead: headCount, target)
        lastTarget = (target, headCount, group)
        return (group, rest)
    }

    /// The group of a target's first segment, which most documents have as the name of a type too.
    private mutating func group(ofHead count: Int, _ target: CSDLDocument.Text) -> CSDLTargetGroup {
        let number = document.texts.withUTF8(target) {
            document.texts.number(UnsafeBufferPointer(rebasing: $0[..<count]))
        }
        if let number, let known = targetHeads[number] { return known }
        let head = document.texts.withUTF8(target) { String(decoding: $0[..<count], as: UTF8.self) }
        let group = group(named: resolver.fullName(head))
        if let number { targetHeads.insert(group, for: number) }
        return group
    }

    /// The number of what follows the first slash of a target.
    private mutating func restNumber(of target: CSDLDocument.Text, after headCount: Int) -> CSDLTargetPaths.Number {
        let (number, path) = document.texts.withUTF8(target) { text -> (CSDLTargetPaths.Number?, String?) in
            guard headCount < text.count else { return (CSDLTargetPaths.itself, nil) }
            let rest = UnsafeBufferPointer(rebasing: text[(headCount + 1)...])
            // Without a dot there is no alias to replace.
            if !rest.contains(UInt8(ascii: ".")), let number = document.texts.number(rest) { return (number, nil) }
            return (nil, String(decoding: rest, as: UTF8.self))
        }
        return number ?? targetPaths.assign(resolver.path(path ?? ""))
    }

    private mutating func group(named root: String) -> CSDLTargetGroup {
        let key = CSDLTargetGroup.key(root)
        if let group = targeted[key] { return group }
        let group = CSDLTargetGroup(root: root)
        targeted[key] = group
        return group
    }

    /// What targets an element of the model from outside, or what is within it.
    func group(named name: QualifiedName) -> CSDLTargetGroup? {
        targeted.isEmpty ? nil : targeted[name]
    }

    /// Puts annotations whose target the document lacks with the schema they stand in, in document order.
    mutating func keepUnusedTargets(_ schemas: inout [Schema]) {
        guard targets.contains(where: { !$0.group.entries[$0.entry].isTaken }) else { return }
        let starts = schemaStarts
        let names = Self.otherNames(schemas)
        var position = 0
        for (group, index, added, node) in targets where !group.entries[index].isTaken {
            let entry = group.entries[index]
            let target = targetPaths[group.rests[index]].map { "\(group.root)/\($0)" } ?? group.root
            // Terms, types and containers are whole names; an unknown one is likely a slip or another document.
            if declaration(group.root) == nil, !names.contains(String(group.root.prefix { $0 != "(" })) {
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
