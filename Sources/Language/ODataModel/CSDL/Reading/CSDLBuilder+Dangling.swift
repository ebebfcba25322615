/// Warnings about names and paths in the main document that have no declared target. Warnings about undeclared
/// types and terms are issued when these are read.
extension CSDLBuilder {
    mutating func checkReferences(_ parts: [Part], _ uses: [CSDLReference], model: EntityDataModel) {
        guard let main = parts.first else { return }
        let finder = CSDLPathFinder(model: model)
        declaredNamespaces = Set(parts.flatMap(\.schemas).compactMap { document.attribute($0, .namespace) })
        for schema in main.schemas {
            namespace = document.attribute(schema, .namespace) ?? ""
            isV4 = isV4Schema(schema)
            for node in document.children(schema) {
                switch document.name(node) {
                case .entityType, .complexType: checkType(node, finder)
                case .association: checkAssociation(node, finder)
                case .entityContainer:
                    checkContainer(node, finder)
                    checkAnnotations(in: node, from: nil, finder)
                case .annotations: checkAnnotations(in: node, from: pathStart(ofTarget: node, finder), finder)
                case .enumType, .typeDefinition: checkAnnotations(in: node, from: nil, finder)
                case .action, .function:
                    checkEntitySetPath(node, finder)
                    checkAnnotations(in: node, from: nil, finder)
                case .term, .valueTerm:
                    checkBaseTerm(node, model)
                    checkAnnotations(in: node, from: nil, finder)
                case .using: checkUsing(node)
                default: break
                }
            }
        }
        checkTargets(finder)
        checkInclusions(parts, uses)
    }

    private mutating func warnOfDangling(_ what: String, _ name: String, kind: String, at node: Node) {
        warn("\(what) names \(name), which is no \(kind).", at: node)
    }

    // MARK: Types

    private mutating func checkType(_ node: Node, _ finder: CSDLPathFinder) {
        guard let simpleName = document.attribute(node, .name) else { return }
        let name = QualifiedName(namespace, simpleName)
        guard resolver.declared[name]?.node == node, finder.model.structuredType(name) != nil else { return }
        checkAnnotations(in: node, from: name, finder)
        for child in document.children(node) {
            switch document.name(child) {
            case .key:
                for part in document.children(child, named: .propertyRef) {
                    guard let path = document.attribute(part, .name), !path.isEmpty,
                        !finder.end(of: resolver.path(path), from: name).mayBeProperty
                    else { continue }
                    warnOfDangling("The key of \(name)", path, kind: "property of \(name)", at: part)
                }
            case .navigationProperty: checkNavigationProperty(child, of: name, finder)
            default: break
            }
        }
    }

    private mutating func checkNavigationProperty(_ node: Node, of type: QualifiedName, _ finder: CSDLPathFinder) {
        guard let simpleName = document.attribute(node, .name),
            let property = finder.model.structuredType(type)?.navigationProperties.first(where: {
                $0.name == simpleName
            }), property.relationship == nil
        else { return }
        let path = "\(type)/\(simpleName)"
        if let partner = property.partner, finder.model.structuredType(property.target) != nil,
            !finder.end(of: partner, from: property.target).mayBeNavigationProperty
        {
            warnOfDangling(
                "The partner of \(path)", partner, kind: "navigation property of \(property.target)", at: node)
        }
        for constraint in document.children(node, named: .referentialConstraint) {
            for (attribute, owner) in [(CSDLName.property, type), (.referencedProperty, property.target)] {
                guard let name = document.attribute(constraint, attribute), !name.isEmpty,
                    finder.model.structuredType(owner) != nil,
                    !finder.end(of: resolver.path(name), from: owner).mayBeProperty
                else { continue }
                warnOfDangling(
                    "The referential constraint of \(path)", name, kind: "property of \(owner)", at: constraint)
            }
        }
    }

    // MARK: Associations

    private mutating func checkAssociation(_ node: Node, _ finder: CSDLPathFinder) {
        let name = "\(namespace).\(document.attribute(node, .name) ?? "")"
        guard associationNodes[name] == node, let association = associations[name] else { return }
        for (end, child) in zip(association.ends, document.children(node, named: .end))
        where finder.model.structuredType(end.type)?.kind != .entity {
            warnOfDangling(
                "The end \(end.role) of \(name)", end.type.description, kind: "declared entity type", at: child)
        }
        guard let constraint = document.child(node, named: .referentialConstraint) else { return }
        for child in document.children(constraint) {
            guard let role = document.attribute(child, .role) else { continue }
            guard let end = association.end(role) else {
                warnOfDangling("The referential constraint of \(name)", role, kind: "role of it", at: child)
                continue
            }
            guard finder.model.structuredType(end.type) != nil else { continue }
            for property in document.children(child, named: .propertyRef) {
                guard let path = document.attribute(property, .name), !path.isEmpty,
                    !finder.end(of: path, from: end.type).mayBeProperty
                else { continue }
                warnOfDangling(
                    "The referential constraint of \(name)", path, kind: "property of \(end.type)", at: property)
            }
        }
    }

    private mutating func checkAssociationSet(_ node: Node, _ model: EntityDataModel) {
        guard let text = document.attribute(node, .association) else { return }
        let set = "The association set \(document.attribute(node, .name) ?? text)"
        let name = resolver.qualifiedName(text) ?? resolver.qualified(text, in: namespace)
        let association = name.flatMap { associations[$0.description] }
        if association == nil { warnOfDangling(set, resolver.fullName(text), kind: "declared association", at: node) }
        for end in document.children(node, named: .end) {
            if let target = document.attribute(end, .entitySet), !isSet(target, model) {
                warnOfDangling(set, target, kind: "entity set", at: end)
            }
            if let association, let role = document.attribute(end, .role), association.end(role) == nil {
                warnOfDangling(set, role, kind: "role of \(association.name)", at: end)
            }
        }
    }

    // MARK: Containers

    private mutating func checkContainer(_ node: Node, _ finder: CSDLPathFinder) {
        if let text = document.attribute(node, .extends) {
            let name = resolver.qualifiedName(text) ?? resolver.qualified(text, in: namespace)
            if name.flatMap({ containers[$0.description] }) == nil {
                let owner = document.attribute(node, .name) ?? ""
                warn("\(owner) extends \(resolver.fullName(text)), which is no declared container.", at: node)
            }
        }
        for child in document.children(node) {
            switch document.name(child) {
            case .entitySet, .singleton: checkBindings(child, finder)
            case .actionImport, .functionImport: checkImport(child, finder)
            case .associationSet: checkAssociationSet(child, finder.model)
            default: break
            }
        }
    }

    private mutating func checkBindings(_ node: Node, _ finder: CSDLPathFinder) {
        guard let name = document.attribute(node, .name), setNames[name] == node,
            let type = finder.model.entitySet(name)?.type ?? finder.model.singleton(name)?.type
        else { return }
        for child in document.children(node, named: .navigationPropertyBinding) {
            if let path = document.attribute(child, .path), !path.isEmpty,
                !finder.end(of: resolver.path(path), from: type).mayBeNavigationProperty
            {
                warnOfDangling("A binding of \(name)", path, kind: "navigation property of \(type)", at: child)
            }
            if let target = document.attribute(child, .target), !target.isEmpty,
                !isTarget(resolver.path(target), finder)
            {
                warnOfDangling("A binding of \(name)", target, kind: "entity set or singleton", at: child)
            }
        }
    }

    private mutating func checkImport(_ node: Node, _ finder: CSDLPathFinder) {
        let name = document.attribute(node, .name) ?? ""
        for (attribute, kind) in [(CSDLName.action, ODataOperation.Kind.action), (.function, .function)] {
            guard let text = document.attribute(node, attribute), !text.isEmpty,
                let operation = resolver.qualifiedName(text) ?? resolver.qualified(text, in: namespace),
                !finder.model.operations(operation).contains(where: { $0.kind == kind && !$0.isBound })
            else { continue }
            let wanted = kind == .action ? "declared unbound action" : "declared unbound function"
            warnOfDangling("The import \(name)", operation.description, kind: wanted, at: node)
        }
        let result = document.child(node, named: .returnType)
        for owner in [node, result].compactMap(\.self) {
            guard let set = document.attribute(owner, .entitySet), !set.isEmpty, !isTarget(resolver.path(set), finder)
            else { continue }
            warnOfDangling("The import \(name)", set, kind: "entity set", at: owner)
        }
    }

    /// Returns whether a name is that of a declared entity set.
    private func isSet(_ name: String, _ model: EntityDataModel) -> Bool { model.entitySet(name) != nil }

    /// Returns whether a path leads to a set or singleton, or through one to contained entities (OData CSDL 4.01,
    /// 13.4.2).
    private func isTarget(_ path: String, _ finder: CSDLPathFinder) -> Bool {
        var segments = CSDLNameMap.segments(path)[...]
        if let first = segments.first, let container = QualifiedName(first) {
            guard containers[container.description] != nil else {
                // Some documents contain a dot instead of a slash.
                return segments.count == 1 && isSet(String(first), finder.model)
            }
            segments = segments.dropFirst()
        }
        guard let name = segments.popFirst().map(String.init),
            let type = finder.model.entitySet(name)?.type ?? finder.model.singleton(name)?.type
        else { return false }
        return segments.isEmpty || !finder.end(of: segments.joined(separator: "/"), from: type).isNothing
    }

    // MARK: Operations and terms

    private mutating func checkEntitySetPath(_ node: Node, _ finder: CSDLPathFinder) {
        guard isV4, let text = document.attribute(node, .entitySetPath), !text.isEmpty,
            let name = document.attribute(node, .name)
        else { return }
        let what = "The entity set path of \(namespace).\(name)"
        let segments = CSDLNameMap.segments(resolver.path(text))
        guard let parameter = document.child(node, named: .parameter),
            document.attribute(parameter, .name) == segments.first.map(String.init)
        else { return warnOfDangling(what, text, kind: "path from the binding parameter", at: node) }
        guard segments.count > 1, let stated = document.attributeText(parameter, .type),
            case .entity(let type?) = resolver.type(stated).type.element,
            finder.end(of: segments[1...].joined(separator: "/"), from: type).isNothing
        else { return }
        warnOfDangling(what, text, kind: "path from the binding parameter", at: node)
    }

    private mutating func checkBaseTerm(_ node: Node, _ model: EntityDataModel) {
        guard let text = document.attribute(node, .baseTerm), !text.isEmpty else { return }
        let base = resolver.fullName(text)
        var known = knownTerms ?? CSDLKnownTerms(document, options.terms)
        guard !known.isKnown(base) else { return }
        let name = document.attribute(node, .name) ?? ""
        warnOfDangling("The term \(namespace).\(name)", base, kind: "declared term", at: node)
    }

    // MARK: Annotations

    /// Checks targets within declared elements. Targets with an undeclared first segment have a warning already.
    ///
    /// - Parameter first: the element from which on targets are checked; `nil` for all.
    mutating func checkTargets(_ finder: CSDLPathFinder, from first: Node? = nil) {
        for (group, index, _, node) in targets
        where !targeted.entries[index].isTaken && node.index >= first?.index ?? 0 {
            let root = targeted.root(group)
            let rest = targeted.path(targeted.entries[index].rest, texts: document.texts)
            guard !isTarget(root, rest, finder: finder) else { continue }
            let target = rest.map { "\(root)/\($0)" } ?? root
            warn("The document does not declare \(target), which has annotations.", at: node)
        }
    }

    /// Returns whether a path within a declared element is a valid target of annotations.
    private func isTarget(_ root: String, _ rest: String?, finder: CSDLPathFinder) -> Bool {
        let model = finder.model
        let (operation, signature) = root.operationAndSignature
        if let signature, let name = QualifiedName(operation) {
            let overloads = model.operations(name)
            // An undeclared name has a warning already.
            guard !overloads.isEmpty else { return true }
            guard let overload = overloads.first(where: { $0.signature == signature }) else { return false }
            return rest.map { Self.has($0, overload) } ?? true
        }
        guard let rest, let name = QualifiedName(root) else { return true }
        if model.structuredType(name) != nil { return !finder.end(of: rest, from: name).isNothing }
        let segments = CSDLNameMap.segments(rest)
        guard let first = segments.first.map(String.init), !rest.begins(with: "@") else { return true }
        if let type = model.enumType(name) { return type.members.contains { $0.name == first } }
        if containers[name.description] != nil { return isContainerTarget(first, segments.dropFirst(), finder: finder) }
        let overloads = model.operations(name)
        return overloads.isEmpty || overloads.contains { Self.has(rest, $0) }
    }

    private func isContainerTarget(
        _ name: String, _ rest: ArraySlice<Substring>, finder: CSDLPathFinder
    ) -> Bool {
        let model = finder.model
        if let type = model.entitySet(name)?.type ?? model.singleton(name)?.type {
            return rest.isEmpty || !finder.end(of: rest.joined(separator: "/"), from: type).isNothing
        }
        if model.container.associationSets.contains(where: { $0.name == name }) { return true }
        let imports = model.operationImports(name)
        guard let parameter = rest.first else { return !imports.isEmpty }
        return imports.contains { item in
            model.operations(item.operation).contains { Self.has(String(parameter), $0) }
        }
    }

    /// Returns whether a path begins with a parameter or the result of an operation.
    private static func has(_ path: String, _ operation: ODataOperation) -> Bool {
        guard let first = CSDLNameMap.segments(path).first else { return true }
        return first.utf8.first == UInt8(ascii: "$") || first.utf8.first == UInt8(ascii: "@")
            || operation.parameters.contains { $0.name == first }
    }

    // MARK: Other documents

    /// Warns of schemas that are missing in the referenced documents.
    private mutating func checkInclusions(_ parts: [Part], _ uses: [CSDLReference]) {
        guard let main = parts.first else { return }
        for reference in document.children(main.root, named: .reference) {
            guard let uri = document.attribute(reference, .uri) ?? document.attribute(reference, .url),
                let number = uses.firstIndex(where: { $0.uri == uri }), parts.indices.contains(number + 1)
            else { continue }
            let namespaces = parts[number + 1].schemas.compactMap { document.attribute($0, .namespace) }
            for include in document.children(reference, named: .include) {
                guard let namespace = document.attribute(include, .namespace), !namespaces.contains(namespace) else {
                    continue
                }
                warn("The document \(uri) has no schema \(namespace), which is included from there.", at: include)
            }
        }
    }

    private mutating func checkUsing(_ node: Node) {
        guard let used = document.attribute(node, .namespace), !used.isEmpty else { return }
        guard !declaredNamespaces.contains(used) else { return }
        warn("Using names the namespace \(used), which the document does not declare.", at: node)
    }
}

extension String {
    /// The name of an operation, and the parameter types if the string identifies an overload.
    fileprivate var operationAndSignature: (name: String, signature: String?) {
        guard utf8.last == UInt8(ascii: ")"), let start = utf8.firstIndex(of: UInt8(ascii: "(")) else {
            return (self, nil)
        }
        let types = self[utf8.index(after: start)...].utf8.dropLast()
        return (String(self[..<start]), String(Substring(types)))
    }
}
