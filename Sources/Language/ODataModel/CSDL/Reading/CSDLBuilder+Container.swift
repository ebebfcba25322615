extension CSDLBuilder {
    /// Reads `EntityContainer` (OData CSDL 4.01, 13). CSDL 2 allows several containers; they are merged, with the
    /// name of the default container first.
    mutating func readContainer(_ node: Node, into schema: inout ODataSchema) throws(CSDLError) {
        let name = QualifiedName(namespace, try required(node, .name, expected: "the container's name"))
        let group = targeted.group(name)
        containers[name.description] = node
        var container = EntityContainer(name: name)
        container.extends = document.attribute(node, .extends).flatMap { resolver.qualifiedName($0) }
        container.annotations = try readAnnotations(node, group: group)
        var repeats = CSDLRepeats()
        for child in document.children(node) {
            do throws(CSDLError) {
                try readChild(child, of: &container, in: &schema, group: group, repeats: &repeats)
            } catch {
                try leaveOut(child, error)
            }
        }
        if isJSON { container.shortenTargets() }
        if !isV4, !plainContainers.contains(name.description) { container.nameSetsAsInModel() }
        bindAssociationSets(&container)
        guard let other = schema.container else {
            schema.container = container
            return
        }
        warn("The schema has a second container, \(name); both are read as one.", at: node)
        let isDefault = flag(node, .isDefaultEntityContainer) == true
        let (main, second) = isDefault ? (container, other) : (other, container)
        var first = main
        first.entitySets += second.entitySets
        first.singletons += second.singletons
        first.operationImports += second.operationImports
        first.associationSets += second.associationSets
        schema.container = first
    }

    private mutating func readChild(
        _ node: Node, of container: inout EntityContainer, in schema: inout ODataSchema, group: CSDLTargets.Group?,
        repeats: inout CSDLRepeats
    ) throws(CSDLError) {
        switch document.name(node) {
        case .entitySet:
            if let set = try readEntitySet(node, group, of: container.name) { container.entitySets.append(set) }
        case .singleton:
            if let singleton = try readSingleton(node, group) { container.singletons.append(singleton) }
        case .actionImport, .functionImport, .associationSet:
            switch document.name(node) {
            case .actionImport:
                let operationImport = try readImport(node, .action, kind: .action, group: group)
                guard repeats.imports.insert(operationImport).inserted else { return warnOfRepeat(node) }
                container.operationImports.append(operationImport)
            case .functionImport where isV4 && document.attributeText(node, .function) != nil:
                let operationImport = try readImport(node, .function, kind: .function, group: group)
                guard repeats.imports.insert(operationImport).inserted else { return warnOfRepeat(node) }
                container.operationImports.append(operationImport)
            case .associationSet where repeats.isRepeated(node, in: document),
                .functionImport where repeats.isRepeated(node, in: document):
                warnOfRepeat(node)
            case .functionImport:
                var (operation, operationImport) = try readFunctionImport(node, group)
                schema.operations.append(operation)
                operationImport?.qualifiedName = qualified(node, container.name)
                if let operationImport { container.operationImports.append(operationImport) }
            default: container.associationSets.append(try readAssociationSet(node))
            }
        case .annotation, .valueAnnotation, .typeAnnotation: break
        default: warnUnknown(node, in: "EntityContainer")
        }
    }

    private mutating func readEntitySet(
        _ node: Node, _ group: CSDLTargets.Group?, of container: QualifiedName
    ) throws(CSDLError) -> EntitySet? {
        var name = try required(node, .name, expected: "the set's name")
        let annotations = try readAnnotations(node, group: group, child: document.attributeText(node, .name))
        let type = try qualifiedName(node, .entityType)
        let qualified = qualified(node, container)
        guard isEntityType(type, user: name, node) else { return nil }
        // Sets of several containers may have the same name but different URLs.
        if qualified != nil, setNames[name] != nil || plainSetNames.contains(name) {
            name = "\(container.name)_\(name)"
        }
        guard takeName(name, node) else { return nil }
        return EntitySet(
            name: name, type: type, bindings: try readBindings(node),
            isInServiceDocument: flag(node, .includeInServiceDocument) ?? true, annotations: annotations,
            qualifiedName: qualified)
    }

    /// Returns the name of a container's element in URLs if it differs from the plain name.
    private func qualified(_ node: Node, _ container: QualifiedName) -> String? {
        guard !isV4, !plainContainers.contains(container.description) else { return nil }
        return document.attribute(node, .name).map { "\(container.name).\($0)" }
    }

    private mutating func readSingleton(_ node: Node, _ group: CSDLTargets.Group?) throws(CSDLError) -> Singleton? {
        let name = try required(node, .name, expected: "the singleton's name")
        let annotations = try readAnnotations(node, group: group, child: document.attributeText(node, .name))
        let type = try qualifiedName(node, .type)
        guard isEntityType(type, user: name, node), takeName(name, node) else { return nil }
        return Singleton(
            name: name, type: type, isNullable: flag(node, .nullable) ?? false, bindings: try readBindings(node),
            annotations: annotations)
    }

    /// Returns whether the type is a declared entity type; otherwise the set is left out with a warning, and the
    /// rest of the model remains usable.
    private mutating func isEntityType(_ type: QualifiedName, user: String, _ node: Node) -> Bool {
        if case .entity? = resolver.declared[type]?.type { return true }
        setsOfUnknownTypes.append(user)
        warn("\(user) was left out: the document does not declare the entity type \(type).", at: node)
        return false
    }

    private mutating func takeName(_ name: String, _ node: Node) -> Bool {
        if setNames[name] == nil {
            setNames[name] = node
            return true
        }
        warn("\(name) was left out: another set has this name.", at: node)
        return false
    }

    private mutating func readBindings(_ node: Node) throws(CSDLError) -> [NavigationPropertyBinding] {
        var bindings: [NavigationPropertyBinding] = []
        var repeats = CSDLRepeats()
        for child in document.children(node, named: .navigationPropertyBinding) {
            guard !repeats.isRepeated(child, in: document) else {
                let name = document.attribute(node, .name) ?? ""
                warn("A binding of \(name) is stated twice in the same way.", at: child)
                continue
            }
            do throws(CSDLError) {
                bindings.append(
                    NavigationPropertyBinding(
                        path: resolver.path(try required(child, .path, expected: "a navigation property path")),
                        target: resolver.path(try required(child, .target, expected: "an entity set"))))
            } catch {
                try leaveOut(child, error)
            }
        }
        return withoutRepeats(bindings) { $0.path }
    }

    /// Reads `ActionImport` and `FunctionImport` of CSDL 4 (OData CSDL 4.01, 13.5 and 13.6).
    private mutating func readImport(
        _ node: Node, _ attribute: CSDLName, kind: ODataOperation.Kind, group: CSDLTargets.Group?
    ) throws(CSDLError) -> OperationImport {
        let name = try required(node, .name, expected: "the import's name")
        return OperationImport(
            name: name, operation: try qualifiedName(node, attribute), kind: kind,
            entitySet: document.attribute(node, .entitySet).map(resolver.path),
            httpMethod: document.attribute(node, .httpMethod),
            isInServiceDocument: flag(node, .includeInServiceDocument) ?? false,
            annotations: try readAnnotations(node, group: group, child: document.attributeText(node, .name)))
    }

    /// Reads `FunctionImport` of CSDL 2 and 3, which combines an operation and its import.
    private mutating func readFunctionImport(
        _ node: Node, _ group: CSDLTargets.Group?
    ) throws(CSDLError) -> (ODataOperation, OperationImport?) {
        let name = try required(node, .name, expected: "the function import's name")
        let qualified = QualifiedName(namespace, name)
        let method = document.attribute(node, .httpMethod)
        let kind: ODataOperation.Kind =
            if let method {
                method.uppercased() == "GET" ? .function : .action
            } else {
                flag(node, .isSideEffecting) == true ? .action : .function
            }
        var operation = ODataOperation(
            name: qualified, kind: kind, isBound: flag(node, .isBindable) ?? false,
            isComposable: flag(node, .isComposable) ?? false,
            entitySetPath: document.attribute(node, .entitySetPath))
        for child in document.children(node, named: .parameter) {
            var parameter = try readParameter(child)
            if let mode = document.attribute(child, .mode), mode != "In" {
                parameter.annotations.append(
                    Annotation(
                        term: ForeignAttribute(namespace: "", name: ForeignAttribute.mode).term,
                        value: .constant(kind: "String", text: mode)))
            }
            operation.parameters.append(parameter)
        }
        let result = document.child(node, named: .returnType)
        if let text = document.attributeText(node, .returnType) {
            operation.returnType = type(text, at: node)
        } else if let result {
            operation.returnType = try requiredType(result, "the type returned")
            operation.returnFacets = try readFacets(result)
        }
        // CSDL 2 and 3 have no attribute for the nullability of results.
        operation.returnFacets.isNullabilityUnstated = operation.returnType?.isCollection == true
        let annotations = try readAnnotations(node, group: group, child: document.attributeText(node, .name))
        // A bindable function import of V3 is called on entities, not at the service root.
        guard !operation.isBound else {
            operation.annotations = annotations
            return (operation, nil)
        }
        let operationImport = OperationImport(
            name: name, operation: qualified, kind: kind,
            entitySet: document.attribute(node, .entitySet)
                ?? result.flatMap { document.attribute($0, .entitySet) },
            httpMethod: method, annotations: annotations)
        return (operation, operationImport)
    }
}

extension EntityContainer {
    /// Renames sets in association sets and function imports to their names in the model.
    fileprivate mutating func nameSetsAsInModel() {
        var names: [String: String] = [:]
        for set in entitySets { names[set.nameInContainer] = set.name }
        for set in associationSets.indices {
            for end in associationSets[set].ends.indices {
                let stated = associationSets[set].ends[end].entitySet
                associationSets[set].ends[end].entitySet = names[stated] ?? stated
            }
        }
        for index in operationImports.indices {
            operationImports[index].entitySet = operationImports[index].entitySet.map { names[$0] ?? $0 }
        }
    }

    /// Removes the container's name from references to its own sets, as in JSON (OData CSDL JSON 4.01, 13.4.1).
    fileprivate mutating func shortenTargets() {
        for set in entitySets.indices {
            entitySets[set].bindings = shortened(entitySets[set].bindings)
        }
        for singleton in singletons.indices {
            singletons[singleton].bindings = shortened(singletons[singleton].bindings)
        }
        for operation in operationImports.indices {
            operationImports[operation].entitySet = operationImports[operation].entitySet.map(shortened)
        }
    }

    private func shortened(_ bindings: [NavigationPropertyBinding]) -> [NavigationPropertyBinding] {
        bindings.map { NavigationPropertyBinding(path: $0.path, target: shortened($0.target)) }
    }

    private func shortened(_ target: String) -> String {
        var target = target[...]
        while let rest = target.rest(behind: "\(name)/"), !rest.isEmpty { target = rest }
        return String(target)
    }
}
