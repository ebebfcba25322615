extension CSDLBuilder {
    /// `EntityType` and `ComplexType` (OData CSDL 4.01, 6 and 9).
    mutating func readStructuredType(_ node: Node, _ kind: StructuredType.Kind) throws(CSDLError) -> StructuredType {
        let name = QualifiedName(namespace, try required(node, .name, "the type's name"))
        let target = name.description
        var type = StructuredType(name: name, kind: kind)
        if let base = document.attribute(node, .baseType) {
            switch resolver.type(base).type {
            case .entity(let base?) where kind == .entity: type.baseType = base
            case .complex(let base?) where kind == .complex: type.baseType = base
            case .entity(nil), .complex(nil): break
            default: warn("The base type \(resolver.fullName(base)) is not known here and was left out.", at: node)
            }
        }
        type.isAbstract = flag(node, .abstract) ?? false
        type.isOpen = flag(node, .openType) ?? false
        type.hasStream = flag(node, .hasStream) ?? false
        type.annotations = try readAnnotations(node, target: target)
        for child in document.children(node) {
            switch document.name(child) {
            case .property: type.properties.append(try readProperty(child, of: target))
            case .navigationProperty:
                let property =
                    try document.attribute(child, .relationship) == nil
                    ? readNavigationProperty(child, of: target) : readV2NavigationProperty(child, of: target)
                if let property { type.navigationProperties.append(property) }
            case .key:
                for part in document.children(child, named: .propertyRef) {
                    type.key.append(
                        StructuredType.KeyProperty(
                            path: try required(part, .name, "a property path"), alias: document.attribute(part, .alias))
                    )
                }
            case .annotation, .valueAnnotation, .typeAnnotation: break
            default: warnUnknown(child, in: document.localName(node))
            }
        }
        return type
    }

    /// `Property` (OData CSDL 4.01, 7).
    private mutating func readProperty(_ node: Node, of owner: String) throws(CSDLError) -> Property {
        let name = try required(node, .name, "the property's name")
        var typeName = try required(node, .type, "the property's type")
        // CSDL 2 and 3 may state a collection beside the type.
        if let kind = document.attribute(node, other: "CollectionKind"), kind != "None", !typeName.hasPrefix("Coll") {
            typeName = "Collection(\(typeName))"
        }
        return Property(
            name: name, type: type(typeName, at: node), isNullable: flag(node, .nullable) ?? true,
            facets: readFacets(node), defaultValue: document.attribute(node, .defaultValue),
            isConcurrencyToken: document.attribute(node, .concurrencyMode) == "Fixed",
            annotations: try readAnnotations(node, target: owner, child: name))
    }

    /// `NavigationProperty` of CSDL 4 (OData CSDL 4.01, 8).
    private mutating func readNavigationProperty(
        _ node: Node, of owner: String
    ) throws(CSDLError) -> NavigationProperty? {
        let name = try required(node, .name, "the property's name")
        var typeName = try required(node, .type, "the type of the related entities")[...]
        let isCollection = typeName.hasPrefix("Collection(") && typeName.hasSuffix(")")
        if isCollection { typeName = typeName.dropFirst(11).dropLast() }
        guard let target = resolver.qualifiedName(String(typeName)) else {
            throw document.error(
                .invalidAttribute("Type", element: "NavigationProperty", value: String(typeName)), at: node,
                expected: "an entity type with namespace or alias")
        }
        switch type(String(typeName), at: node) {
        case .entity, .untyped: break
        default: warn("The navigation property \(name) leads to \(target), which is no entity type.", at: node)
        }
        var property = NavigationProperty(
            name: name, target: target, isCollection: isCollection, isNullable: flag(node, .nullable) ?? true,
            partner: document.attribute(node, .partner).map(resolver.path),
            isContainment: flag(node, .containsTarget) ?? false,
            annotations: try readAnnotations(node, target: owner, child: name))
        for child in document.children(node) {
            switch document.name(child) {
            case .referentialConstraint:
                property.constraints.append(
                    ReferentialConstraint(
                        property: try required(child, .property, "a property path"),
                        referencedProperty: try required(child, .referencedProperty, "a property path")))
            case .onDelete: property.onDelete = try readOnDelete(child)
            case .annotation: break
            default: warnUnknown(child, in: "NavigationProperty")
            }
        }
        return property
    }

    func readOnDelete(_ node: Node) throws(CSDLError) -> OnDeleteAction {
        let text = try required(node, .action, "Cascade, None, SetNull or SetDefault")
        if let action = OnDeleteAction(rawValue: text) { return action }
        throw document.error(
            .invalidAttribute("Action", element: "OnDelete", value: text), at: node,
            expected: "Cascade, None, SetNull or SetDefault")
    }

    /// `EnumType` (OData CSDL 4.01, 10): members without a value count on from the one before.
    mutating func readEnumType(_ node: Node) throws(CSDLError) -> EnumType {
        let name = QualifiedName(namespace, try required(node, .name, "the type's name"))
        var type = EnumType(name: name, isFlags: flag(node, .isFlags) ?? false, members: [])
        if let text = document.attribute(node, .underlyingType) {
            guard let underlying = PrimitiveType(rawValue: text) ?? PrimitiveType(rawValue: "Edm." + text),
                underlying.isInteger
            else {
                throw document.error(
                    .invalidAttribute("UnderlyingType", element: "EnumType", value: text), at: node,
                    expected: "an integer type")
            }
            type.underlyingType = underlying
        }
        type.annotations = try readAnnotations(node, target: name.description)
        var next: Int64 = 0
        for child in document.children(node) {
            switch document.name(child) {
            case .member:
                let member = try required(child, .name, "the member's name")
                var value = next
                if let text = document.attribute(child, .value) {
                    guard let stated = Int64(text) else {
                        throw document.error(
                            .invalidAttribute("Value", element: "Member", value: text), at: child,
                            expected: "a whole number")
                    }
                    value = stated
                }
                next = value &+ 1
                type.members.append(
                    EnumType.Member(
                        name: member, value: value,
                        annotations: try readAnnotations(child, target: name.description, child: member)))
            case .annotation, .valueAnnotation, .typeAnnotation: break
            default: warnUnknown(child, in: "EnumType")
            }
        }
        return type
    }

    /// `TypeDefinition` (OData CSDL 4.01, 11).
    mutating func readTypeDefinition(_ node: Node) throws(CSDLError) -> TypeDefinition {
        let name = QualifiedName(namespace, try required(node, .name, "the type's name"))
        guard case .typeDefinition(_, let underlying)? = resolver.declared[name.description] else {
            throw document.error(
                .missingAttribute("UnderlyingType", element: "TypeDefinition"), at: node, expected: "a primitive type")
        }
        return TypeDefinition(
            name: name, underlyingType: underlying, facets: readFacets(node),
            annotations: try readAnnotations(node, target: name.description))
    }

    /// `Term` (OData CSDL 4.01, 14.1), `ValueTerm` in V3.
    mutating func readTerm(_ node: Node) throws(CSDLError) -> Term {
        let name = QualifiedName(namespace, try required(node, .name, "the term's name"))
        let typeName = try required(node, .type, "the term's type")
        let appliesTo = document.attribute(node, .appliesTo)?.split(separator: " ").map(String.init) ?? []
        return Term(
            name: name, type: type(typeName, at: node),
            baseTerm: document.attribute(node, .baseTerm).map { resolver.fullName($0) },
            isNullable: flag(node, .nullable) ?? true, facets: readFacets(node),
            defaultValue: document.attribute(node, .defaultValue), appliesTo: appliesTo,
            annotations: try readAnnotations(node, target: name.description))
    }

    /// `Action` and `Function` (OData CSDL 4.01, 12).
    mutating func readOperation(_ node: Node, _ kind: Operation.Kind) throws(CSDLError) -> Operation {
        let name = QualifiedName(namespace, try required(node, .name, "the operation's name"))
        var operation = Operation(
            name: name, kind: kind, isBound: flag(node, .isBound) ?? false,
            isComposable: flag(node, .isComposable) ?? false,
            entitySetPath: document.attribute(node, .entitySetPath).map(resolver.path))
        let parameters = document.children(node, named: .parameter)
        var types: [TypeReference] = []
        for child in parameters {
            types.append(type(try required(child, .type, "the parameter's type"), at: child))
        }
        // Annotations may target all overloads, or one by its parameter types: a bound action's only by the
        // binding parameter's (OData CSDL 4.01, 14.2.1).
        let all = types.map(\.description).joined(separator: ",")
        let own = kind == .function ? all : operation.isBound ? types.first?.description ?? "" : ""
        let targets = ["\(name)", "\(name)(\(own))"]
        for (child, type) in zip(parameters, types) {
            let parameter = try required(child, .name, "the parameter's name")
            operation.parameters.append(
                Operation.Parameter(
                    name: parameter, type: type, isNullable: flag(child, .nullable) ?? true,
                    facets: readFacets(child),
                    annotations: try readAnnotations(child, targets: targets, child: parameter)))
        }
        if let result = document.children(node, named: .returnType).first {
            operation.returnType = type(try required(result, .type, "the type returned"), at: result)
            operation.isReturnNullable = flag(result, .nullable) ?? true
            operation.returnFacets = readFacets(result)
            operation.returnAnnotations = try readAnnotations(result, targets: targets, child: "$ReturnType")
        }
        operation.annotations = try readAnnotations(node, targets: targets, child: nil)
        return operation
    }

    /// The facets of an element (OData CSDL 4.01, 7.2); what cannot be read is warned of and left out.
    mutating func readFacets(_ node: Node) -> Facets {
        var facets = Facets()
        // One walk over the attributes: most elements have no facet at all.
        for attribute in document.attributes(node) {
            switch attribute.name {
            case .maxLength: facets.maxLength = number(attribute, node, unlimited: "max")
            case .precision: facets.precision = number(attribute, node, unlimited: "variable")
            case .srid: facets.srid = number(attribute, node, unlimited: "variable")
            case .unicode: facets.isUnicode = flag(node, .unicode)
            case .scale:
                switch document.string(attribute.value).lowercased() {
                case "variable": facets.scale = .variable
                case "floating": facets.scale = .floating
                default: facets.scale = number(attribute, node, unlimited: "variable").map { .fixed($0) }
                }
            default: break
            }
        }
        return facets
    }

    private mutating func number(
        _ attribute: CSDLDocument.Attribute, _ node: Node, unlimited: String
    ) -> Int? {
        let text = document.string(attribute.value)
        if text.lowercased() == unlimited { return nil }
        if let value = Int(text), value >= 0 { return value }
        warn("\(attribute.name.rawValue)=\"\(text)\" is no whole number and was ignored.", at: node)
        return nil
    }
}
