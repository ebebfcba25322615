/// Warnings about types, enumeration members and paths in annotation values that have no declared target (OData
/// CSDL 4.01, 14.3 and 14.4).
extension CSDLBuilder {
    /// Checks the annotations within an element and its children.
    ///
    /// - Parameters:
    ///   - node: the element.
    ///   - type: the type at which paths start; `nil` if unknown.
    mutating func checkAnnotations(in node: Node, from type: QualifiedName?, _ finder: CSDLPathFinder) {
        for child in document.children(node) {
            switch document.name(child) {
            case .annotation, .valueAnnotation, .typeAnnotation: checkExpressions(child, from: type, finder)
            case .property, .navigationProperty, .referentialConstraint, .onDelete, .member, .parameter, .returnType,
                .actionImport, .functionImport, .associationSet, .end:
                checkAnnotations(in: child, from: type, finder)
            case .entitySet, .singleton:
                let name = document.attribute(child, .name) ?? ""
                let type = finder.model.entitySet(name)?.type ?? finder.model.singleton(name)?.type
                checkAnnotations(in: child, from: type, finder)
            default: break
            }
        }
    }

    /// Returns the type at which the paths of annotations on a target start: the outermost type that the target
    /// names.
    func pathStart(ofTarget node: Node, _ finder: CSDLPathFinder) -> QualifiedName? {
        let segments = CSDLNameMap.segments(resolver.path(document.attribute(node, .target) ?? ""))
        guard let root = segments.first.flatMap({ QualifiedName($0) }) else { return nil }
        if finder.model.structuredType(root) != nil { return root }
        guard containers[root.description] != nil, segments.count > 1 else { return nil }
        let name = String(segments[1])
        return finder.model.entitySet(name)?.type ?? finder.model.singleton(name)?.type
    }

    private mutating func checkExpressions(_ node: Node, from type: QualifiedName?, _ finder: CSDLPathFinder) {
        var waiting = [node]
        while let node = waiting.popLast() {
            for attribute in document.attributes(node) where attribute.namespace < 0 {
                check(attribute.name, document.string(attribute.value), of: node, from: type, finder: finder)
            }
            let name = document.name(node)
            if name.isPath || name == .enumMember {
                check(name, document.content(node), of: node, from: type, finder: finder)
            }
            waiting += document.children(node)
        }
    }

    private mutating func check(
        _ name: CSDLName, _ text: String, of node: Node, from type: QualifiedName?, finder: CSDLPathFinder
    ) {
        let text = text.trimmed
        guard !text.isEmpty else { return }
        switch name {
        case .type: checkType(text, of: node)
        // In JSON, members are written without their type.
        case .enumMember where !isJSON: checkMembers(text, of: node, finder)
        case .path, .propertyPath, .navigationPropertyPath, .annotationPath, .anyPropertyPath:
            guard let type, !text.begins(with: "/"), finder.end(of: resolver.path(text), from: type).isNothing else {
                return
            }
            warn("The path \(text) in an annotation leads to nothing from \(type).", at: node)
        default: break
        }
    }

    private mutating func checkType(_ text: String, of node: Node) {
        let (_, isKnown) = resolver.type(text)
        let element = resolver.fullName(text.collectionElement.map(String.init) ?? text)
        guard !isKnown, let name = QualifiedName(element), declaresTypes(in: name.namespace) else { return }
        warn("The document does not declare the type \(name).", at: node)
    }

    private mutating func checkMembers(_ text: String, of node: Node, _ finder: CSDLPathFinder) {
        for member in text.parts(between: " ") {
            guard let (typeName, memberName) = member.halves(atLast: "/"),
                let name = resolver.qualifiedName(String(typeName)), declaresTypes(in: name.namespace)
            else { continue }
            let members = finder.model.enumType(name)?.members
            guard members?.contains(where: { $0.name == memberName }) != true else { continue }
            warn("The document does not declare the enumeration member \(name)/\(memberName).", at: node)
        }
    }

    /// Returns whether a document that was read declares types in a namespace. Vocabularies are seldom read.
    private func declaresTypes(in namespace: String) -> Bool { declaredNamespaces.contains(namespace) }
}
