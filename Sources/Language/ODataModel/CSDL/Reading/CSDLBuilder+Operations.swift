extension CSDLBuilder {
    /// Reads `Action` and `Function` (OData CSDL 4.01, 12).
    mutating func readOperation(_ node: Node, _ kind: ODataOperation.Kind) throws(CSDLError) -> ODataOperation {
        let name = QualifiedName(namespace, try required(node, .name, expected: "the operation's name"))
        var operation = ODataOperation(name: name, kind: kind)
        for index in document.attributeRange(node) {
            let value = document.attributes[index].value
            switch document.attributes[index].name {
            case .isBound: operation.isBound = flag(value, .isBound, node: node) ?? false
            case .isComposable: operation.isComposable = flag(value, .isComposable, node: node) ?? false
            case .entitySetPath: operation.entitySetPath = resolver.path(document.string(value))
            default: break
            }
        }
        var result: Node?
        operation.parameters.reserveCapacity(document.count(node, named: .parameter))
        for child in document.children(node) {
            switch document.name(child) {
            case .parameter: operation.parameters.append(try readParameter(child))
            case .returnType: result = child
            case .annotation, .annotations, .valueAnnotation, .typeAnnotation: break
            default: warnUnknown(child, in: document.localName(node))
            }
        }
        if let result {
            operation.returnType = try requiredType(result, "the type returned")
            operation.isReturnNullable = flag(result, .nullable) ?? true
            operation.returnFacets = try readFacets(result)
            if let type = operation.returnType {
                operation.returnFacets.isNullabilityUnstated = leavesNullUnstated(type, result)
                complete(&operation.returnFacets, of: type)
            }
            operation.returnAnnotations = try readAnnotations(result)
        }
        operation.annotations = try readAnnotations(node)
        if !targeted.isEmpty { takeTargeted(for: &operation) }
        return operation
    }

    mutating func readParameter(_ node: Node) throws(CSDLError) -> ODataOperation.Parameter {
        let name = try required(node, .name, expected: "the parameter's name")
        let type = try requiredType(node, "the parameter's type")
        var (isNullable, facets) = (true, Facets())
        for index in document.attributeRange(node) {
            switch document.attributes[index].name {
            case .nullable: isNullable = flag(document.attributes[index].value, .nullable, node: node) ?? true
            case .maxLength, .precision, .scale, .srid, .unicode: try readFacet(index, node, into: &facets)
            default: break
            }
        }
        facets.isNullabilityUnstated = leavesNullUnstated(type, node)
        complete(&facets, of: type)
        try check(facets, node)
        return ODataOperation.Parameter(
            name: name, type: type, isNullable: isNullable, facets: facets, annotations: try readAnnotations(node))
    }

    /// Adds the annotations that target an operation.
    ///
    /// Annotations may target all overloads, or one overload by its parameter types. For a bound action, only the
    /// type of the binding parameter counts (OData CSDL 4.01, 14.2.1).
    private mutating func takeTargeted(for operation: inout ODataOperation) {
        let name = operation.name
        let all = targeted.group(name)
        guard targetsOverloads || all != nil else { return }
        let overload = targetsOverloads ? targeted.group(root: "\(name)(\(operation.signature))") : nil
        for case let group? in [all, overload] {
            let own = operation.annotations + targeted.share(CSDLTargets.itself, of: group)
            operation.annotations = withoutRepeats(own)
            for index in operation.parameters.indices {
                let parameter = operation.parameters[index]
                operation.parameters[index].annotations = withoutRepeats(
                    parameter.annotations + takeTargeted(parameter.name, group))
            }
            guard operation.returnType != nil else { continue }
            operation.returnAnnotations = withoutRepeats(
                operation.returnAnnotations + takeTargeted("$ReturnType", group))
        }
    }

    private mutating func takeTargeted(_ name: String, _ group: CSDLTargets.Group) -> [Annotation] {
        targeted.rest(name, texts: document.texts).map { targeted.share($0, of: group) } ?? []
    }
}

extension ODataOperation {
    /// The text that distinguishes overloads with one name: the parameter types, or only the type of the binding
    /// parameter for a bound action (OData CSDL 4.01, 14.2.1).
    var signature: String {
        switch kind {
        case .function: parameters.map(\.type.description).joined(separator: ",")
        case .action: isBound ? parameters.first?.type.description ?? "" : ""
        }
    }
}
