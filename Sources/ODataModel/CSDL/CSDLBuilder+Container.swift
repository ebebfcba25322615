extension CSDLBuilder {
    /// `EntityContainer` (OData CSDL 4.01, 13). CSDL 2 allows several: they become one, the default's name first.
    mutating func readContainer(_ node: Node, into schema: inout Schema) throws(CSDLError) {
        let name = QualifiedName(namespace, try required(node, .name, "the container's name"))
        let target = name.description
        var container = EntityContainer(name: name)
        container.extends = document.attribute(node, .extends).flatMap { resolver.qualifiedName($0) }
        container.annotations = try readAnnotations(node, target: target)
        for child in document.children(node) {
            switch document.name(child) {
            case .entitySet:
                if let set = try readEntitySet(child, target) { container.entitySets.append(set) }
            case .singleton:
                if let singleton = try readSingleton(child, target) { container.singletons.append(singleton) }
            case .actionImport:
                container.operationImports.append(try readImport(child, .action, .action, target))
            case .functionImport where isV4 && document.attribute(child, .function) != nil:
                container.operationImports.append(try readImport(child, .function, .function, target))
            case .functionImport:
                let (operation, operationImport) = try readFunctionImport(child, target)
                schema.operations.append(operation)
                if let operationImport { container.operationImports.append(operationImport) }
            case .associationSet, .annotation, .valueAnnotation, .typeAnnotation: break
            default: warnUnknown(child, in: "EntityContainer")
            }
        }
        try bindAssociationSets(node, &container)
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
        schema.container = first
    }

    private mutating func readEntitySet(_ node: Node, _ container: String) throws(CSDLError) -> EntitySet? {
        let name = try required(node, .name, "the set's name")
        let annotations = try readAnnotations(node, target: container, child: name)
        let type = try qualifiedName(node, .entityType)
        guard try isEntityType(type, user: name, node), takeName(name, node) else { return nil }
        return EntitySet(
            name: name, type: type, bindings: try readBindings(node),
            isInServiceDocument: flag(node, .includeInServiceDocument) ?? true, annotations: annotations)
    }

    private mutating func readSingleton(_ node: Node, _ container: String) throws(CSDLError) -> Singleton? {
        let name = try required(node, .name, "the singleton's name")
        let annotations = try readAnnotations(node, target: container, child: name)
        let type = try qualifiedName(node, .type)
        guard try isEntityType(type, user: name, node), takeName(name, node) else { return nil }
        return Singleton(name: name, type: type, bindings: try readBindings(node), annotations: annotations)
    }

    /// A set of a type that another document declares cannot be worked with; the rest of the model can.
    private mutating func isEntityType(_ type: QualifiedName, user: String, _ node: Node) throws(CSDLError) -> Bool {
        if case .entity? = resolver.declared[type.description] { return true }
        warn("\(user) was left out: the document does not declare the entity type \(type).", at: node)
        return false
    }

    private mutating func takeName(_ name: String, _ node: Node) -> Bool {
        if setNames.insert(name).inserted { return true }
        warn("\(name) was left out: another set has this name.", at: node)
        return false
    }

    private func readBindings(_ node: Node) throws(CSDLError) -> [NavigationPropertyBinding] {
        var bindings: [NavigationPropertyBinding] = []
        for child in document.children(node, named: .navigationPropertyBinding) {
            bindings.append(
                NavigationPropertyBinding(
                    path: resolver.path(try required(child, .path, "a navigation property path")),
                    target: resolver.path(try required(child, .target, "an entity set"))))
        }
        return bindings
    }

    /// `ActionImport` and `FunctionImport` of CSDL 4 (OData CSDL 4.01, 13.5 and 13.6).
    private mutating func readImport(
        _ node: Node, _ attribute: CSDLName, _ kind: Operation.Kind, _ container: String
    ) throws(CSDLError) -> OperationImport {
        let name = try required(node, .name, "the import's name")
        return OperationImport(
            name: name, operation: try qualifiedName(node, attribute), kind: kind,
            entitySet: document.attribute(node, .entitySet).map(resolver.path),
            httpMethod: document.attribute(node, .httpMethod),
            isInServiceDocument: flag(node, .includeInServiceDocument) ?? false,
            annotations: try readAnnotations(node, target: container, child: name))
    }

    /// `FunctionImport` of CSDL 2 and 3: an operation and its import in one.
    private mutating func readFunctionImport(
        _ node: Node, _ container: String
    ) throws(CSDLError) -> (Operation, OperationImport?) {
        let name = try required(node, .name, "the function import's name")
        let qualified = QualifiedName(namespace, name)
        let method = document.attribute(node, .httpMethod)
        let kind: Operation.Kind =
            if let method {
                method == "GET" ? .function : .action
            } else {
                flag(node, .isSideEffecting) == true ? .action : .function
            }
        var operation = Operation(
            name: qualified, kind: kind, isBound: flag(node, .isBindable) ?? false,
            isComposable: flag(node, .isComposable) ?? false,
            entitySetPath: document.attribute(node, .entitySetPath))
        for child in document.children(node, named: .parameter) {
            let parameter = try required(child, .name, "the parameter's name")
            operation.parameters.append(
                Operation.Parameter(
                    name: parameter, type: type(try required(child, .type, "the parameter's type"), at: child),
                    isNullable: flag(child, .nullable) ?? true, facets: readFacets(child),
                    annotations: try readAnnotations(child)))
        }
        let result = document.children(node, named: .returnType).first
        var returnType = document.attribute(node, .returnType)
        if returnType == nil, let result { returnType = try required(result, .type, "the type returned") }
        if let returnType { operation.returnType = type(returnType, at: node) }
        let annotations = try readAnnotations(node, target: container, child: name)
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
