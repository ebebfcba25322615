/// Annotations with external targeting (OData CSDL 4.01, 14.2.1).
extension CSDLBuilder {
    /// Collects all `Annotations` elements before anything is built, so that each element finds its own.
    mutating func collectTargetedAnnotations(_ part: Part, isMain: Bool) throws(CSDLError) {
        guard options.annotations == .all || options.annotations == .elements else { return }
        guard !part.isAnnotations else { return try collectAll(of: part) }
        for schema in part.schemas {
            if isMain {
                let count = document.childCounts(schema).annotations
                targets.reserveCapacity(targets.count + count)
                targeted.reserveCapacity(targets.count + count)
            }
            for node in document.children(schema) where document.name(node) == .annotations {
                do throws(CSDLError) { try collect(node, isMain: isMain) } catch { try leaveOut(node, error) }
            }
        }
        guard !isMain, !part.includedAnnotations.isEmpty else { return }
        // A document that is included for its annotations contributes those with the requested terms and targets,
        // from all its schemas.
        for schema in try allSchemas(part.root) where !part.schemas.contains(schema) {
            for node in document.children(schema, named: .annotations) {
                do throws(CSDLError) {
                    try collect(node, isMain: false, only: part.includedAnnotations)
                } catch {
                    try leaveOut(node, error)
                }
            }
        }
    }

    /// Collects the annotations of a document that has nothing else (``CSDLReaderOptions/annotationDocuments``).
    private mutating func collectAll(of part: Part) throws(CSDLError) {
        for schema in try allSchemas(part.root) {
            for node in document.children(schema) {
                switch document.name(node) {
                case .annotations:
                    for child in document.children(node) { warnOfUnknownObjectsTerm(of: child) }
                    do throws(CSDLError) { try collect(node, isMain: true) } catch { try leaveOut(node, error) }
                case .annotation, .documentation, .using: break
                default:
                    let name = document.attribute(node, .name).map { " \($0)" } ?? ""
                    warn(
                        "\(document.localName(node))\(name) was left out, because only annotations are read from this "
                            + "document.", at: node)
                }
            }
        }
    }

    /// Warns of an annotation with a term that the vocabulary of object packages does not have.
    private mutating func warnOfUnknownObjectsTerm(of node: Node) {
        guard let text = document.attributeText(node, .term) else { return }
        let term = resolver.fullName(text: text)
        guard term.hasPrefix(Vocabulary.objects), !ObjectsVocabulary.declares(term) else { return }
        warn("The vocabulary \(ObjectsVocabulary.namespace) has no term \(term).", at: node)
    }

    private func allSchemas(_ root: Node) throws(CSDLError) -> [Node] {
        document.name(root) == .schema
            ? [root] : document.children(root, named: .dataServices).flatMap { document.children($0, named: .schema) }
    }

    private mutating func collect(
        _ node: Node, isMain: Bool, only wanted: [CSDLReference.IncludeAnnotations]? = nil
    ) throws(CSDLError) {
        guard let target = document.target(of: node, hint: &targetHint) else {
            throw document.error(
                .missingAttribute("Target", element: "Annotations"), at: node, expected: "the path of a model element")
        }
        let qualifier = document.attribute(node, .qualifier)
        let (group, rest) = self.group(of: target)
        var annotations: [Annotation] = []
        for child in document.children(node) {
            switch document.name(child) {
            case .annotation, .valueAnnotation, .typeAnnotation:
                guard takesTerm(of: child) else { continue }
                var annotation: Annotation
                do throws(CSDLError) {
                    annotation = try readAnnotation(child)
                } catch {
                    try leaveOut(child, error)
                    continue
                }
                if annotation.qualifier == nil { annotation.qualifier = qualifier }
                if let wanted {
                    let root = targeted.root(group)
                    guard wanted.contains(where: { $0.includes(annotation, on: root) }) else { continue }
                }
                annotations.append(annotation)
            default: warnUnknown(child, in: "Annotations")
            }
        }
        guard !annotations.isEmpty else { return }
        let (entry, added) = targeted.add(annotations, to: rest, of: group)
        if isMain { targets.append((group, entry, added, node)) }
    }

    /// Returns the group of a target, and the rest of the path after the group's root.
    private mutating func group(
        of target: CSDLDocument.Target
    ) -> (group: CSDLTargets.Group, rest: CSDLTargets.Rest) {
        guard target.head >= 0 else {
            // The parameter types of an overload contain no slash, except in malicious documents.
            let segments = CSDLNameMap.segments(resolver.path(document.string(target.path)))
            let root = String(segments[0])
            if root.utf8.last == UInt8(ascii: ")") { targetsOverloads = true }
            let rest =
                segments.count > 1
                ? restNumber(segments[1...].joined(separator: "/")) : CSDLTargets.itself
            return (targeted.makeGroup(root), rest)
        }
        if let group = targetHeads[target.head] { return (group, target.rest) }
        let group = targeted.makeGroup(resolver.fullName(document.texts[target.head]))
        targetHeads.insert(group, for: target.head)
        return (group, target.rest)
    }

    private mutating func restNumber(_ path: String) -> CSDLTargets.Rest {
        targeted.rest(path, texts: document.texts) ?? targeted.makeRest(path)
    }

    /// Adds annotations with undeclared targets to the schemas that contain them, in document order.
    mutating func keepUnusedTargets(_ schemas: inout [ODataSchema]) {
        guard targets.contains(where: { !targeted.entries[$0.entry].isTaken }) else { return }
        let starts = schemaStarts
        let names = Self.otherNames(schemas)
        var position = 0
        // The positions of targets. JSON has one member for each target in a schema, even if the names differ.
        var places: [[Int]: Int] = [:]
        for (group, index, added, node) in targets where !targeted.entries[index].isTaken {
            let entry = targeted.entries[index]
            let root = targeted.root(group)
            let target = targeted.path(entry.rest, texts: document.texts).map { "\(root)/\($0)" } ?? root
            // Terms, types and containers have whole names. An unknown name is probably a typing error or belongs
            // to another document.
            if declaration(root) == nil, !names.contains(String(root.prefix { $0 != "(" })) {
                warn("The document does not declare \(target), which has annotations.", at: node)
            }
            // The schema of the element is the last schema that begins before it; both lists are in document order.
            while position + 1 < starts.count, starts[position + 1] < node.index { position += 1 }
            guard schemas.indices.contains(position) else { continue }
            let annotations = Array(entry.annotations[added])
            if isJSON, let place = places[[position, index]] {
                let before = schemas[position].externalAnnotations[place].annotations
                schemas[position].externalAnnotations[place].annotations = withoutRepeats(before + annotations)
                continue
            }
            places[[position, index]] = schemas[position].externalAnnotations.count
            schemas[position].externalAnnotations.append(
                TargetedAnnotations(target: target, annotations: withoutRepeats(annotations)))
        }
    }

    /// Returns the names of schemas, terms and operations.
    private static func otherNames(_ schemas: [ODataSchema]) -> Set<String> {
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
    /// Returns whether an annotation of the referenced document is included (OData CSDL 4.01, 4.3).
    fileprivate func includes(_ annotation: Annotation, on target: String) -> Bool {
        guard let (namespace, _) = annotation.term.halves(atLast: "."), namespace == termNamespace else { return false }
        if let qualifier, annotation.qualifier != qualifier { return false }
        if let targetNamespace { return target.begins(with: targetNamespace + ".") }
        return true
    }
}
