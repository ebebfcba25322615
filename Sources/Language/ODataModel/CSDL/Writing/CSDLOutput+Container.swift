extension CSDLOutput {
    mutating func write(_ operation: ODataOperation) {
        xml.begin(operation.kind == .action ? "Action" : "Function")
        xml.attribute("Name", operation.name.name)
        xml.attribute("IsBound", operation.isBound, unless: false)
        xml.attribute("IsComposable", operation.isComposable, unless: false)
        xml.attribute("EntitySetPath", operation.entitySetPath)
        writeAttributes(operation.annotations)
        for parameter in operation.parameters {
            xml.begin("Parameter")
            xml.attribute("Name", parameter.name)
            xml.attribute("Type", parameter.type.description)
            writeNullable(parameter.isNullable, parameter.type, facets: parameter.facets)
            write(parameter.facets, of: parameter.type)
            write(parameter.annotations)
            xml.end()
        }
        if let type = operation.returnType {
            xml.begin("ReturnType")
            xml.attribute("Type", type.description)
            writeNullable(operation.isReturnNullable, type, facets: operation.returnFacets)
            write(operation.returnFacets, of: type)
            write(operation.returnAnnotations)
            xml.end()
        }
        writeElements(operation.annotations)
        xml.end()
    }

    mutating func write(_ container: EntityContainer, operations: [ODataOperation]) {
        guard !isV4 else { return write(container, isDefault: true, operations) }
        let parts = container.parts
        var rest = operations
        var owned: [[ODataOperation]] = parts.map { _ in [] }
        // Operations without an import are written once, in the first container.
        for (index, part) in parts.enumerated().dropFirst() {
            let called = Set(part.container.operationImports.map(\.operation))
            owned[index] = rest.filter { called.contains($0.name) }
            rest.removeAll { called.contains($0.name) }
        }
        if !owned.isEmpty { owned[0] = rest }
        for (part, operations) in zip(parts, owned) { write(part.container, isDefault: part.isDefault, operations) }
    }

    private mutating func write(_ container: EntityContainer, isDefault: Bool, _ operations: [ODataOperation]) {
        xml.begin("EntityContainer")
        xml.attribute("Name", container.name.name)
        if !isV4 { xml.attribute("m:IsDefaultEntityContainer", isDefault ? "true" : "false") }
        xml.attribute("Extends", isV4 ? container.extends?.description : container.extends?.name)
        writeAttributes(container.annotations)
        writeDocumentation(container.annotations)
        for set in container.entitySets {
            guard canSay(set) else {
                omit("The entity set \(set.name)")
                continue
            }
            xml.begin("EntitySet")
            xml.attribute("Name", set.name)
            xml.attribute("EntityType", set.type.description)
            if isV4 { xml.attribute("IncludeInServiceDocument", set.isInServiceDocument, unless: true) }
            writeAttributes(set.annotations)
            writeDocumentation(set.annotations)
            if isV4 { write(set.bindings) }
            writeElements(set.annotations)
            xml.end()
        }
        if isV4 {
            for singleton in container.singletons { write(singleton) }
            for operation in container.operationImports { write(operation) }
        } else {
            for singleton in container.singletons { omit("The singleton \(singleton.name)") }
            writeV2(container, operations, isDefault: isDefault)
        }
        writeElements(container.annotations)
        xml.end()
    }

    private mutating func write(_ singleton: Singleton) {
        xml.begin("Singleton")
        xml.attribute("Name", singleton.name)
        xml.attribute("Type", singleton.type.description)
        xml.attribute("Nullable", singleton.isNullable, unless: false)
        writeAttributes(singleton.annotations)
        write(singleton.bindings)
        writeElements(singleton.annotations)
        xml.end()
    }

    private mutating func write(_ operation: OperationImport) {
        let isAction = operation.kind == .action
        xml.begin(isAction ? "ActionImport" : "FunctionImport")
        xml.attribute("Name", operation.name)
        xml.attribute(isAction ? "Action" : "Function", operation.operation.description)
        xml.attribute("EntitySet", operation.entitySet)
        xml.attribute("IncludeInServiceDocument", operation.isInServiceDocument, unless: false)
        if let method = operation.httpMethod {
            xml.attribute("\(prefix(for: CSDLBuilder.metadataNamespace)):HttpMethod", method)
        }
        write(operation.annotations)
        xml.end()
    }

    private mutating func write(_ bindings: [NavigationPropertyBinding]) {
        for binding in bindings {
            xml.begin("NavigationPropertyBinding")
            xml.attribute("Path", binding.path)
            xml.attribute("Target", binding.target)
            xml.end()
        }
    }
}
