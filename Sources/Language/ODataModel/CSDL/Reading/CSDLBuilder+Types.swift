extension CSDLBuilder {
    /// Reads `EntityType` and `ComplexType` (OData CSDL 4.01, 6 and 9).
    mutating func readStructuredType(_ node: Node, _ kind: StructuredType.Kind) throws(CSDLError) -> StructuredType {
        let name = QualifiedName(namespace, try required(node, .name, expected: "the type's name"))
        let group = targeted.group(name)
        var type = StructuredType(name: name, kind: kind)
        for index in document.attributeRange(node) {
            let value = document.attributes[index].value
            switch document.attributes[index].name {
            case .baseType: readBaseType(value, of: &type, node)
            case .abstract: type.isAbstract = flag(value, .abstract, node: node) ?? false
            case .openType: type.isOpen = flag(value, .openType, node: node) ?? false
            case .hasStream: type.hasStream = flag(value, .hasStream, node: node) ?? false
            default: break
            }
        }
        type.annotations = try readAnnotations(node, group: group)
        type.properties.reserveCapacity(document.count(node, named: .property))
        type.navigationProperties.reserveCapacity(document.count(node, named: .navigationProperty))
        var unreadable: Set<String> = []
        for child in document.children(node) {
            if let name = document.attributeText(child, .name) {
                let owner = Int32(node.index) + 1
                guard owners[Int(name)] != owner else {
                    let name = document.string(name)
                    warn("\(name) within \(type.name) is declared twice: the first one holds.", at: child)
                    continue
                }
                owners[Int(name)] = owner
            }
            do throws(CSDLError) {
                try readMember(child, of: &type, group)
            } catch {
                try leaveOut(child, error)
                if let name = document.attribute(child, .name) { unreadable.insert(name) }
            }
        }
        // Entities with an incomplete key cannot be distinguished.
        let part = type.key.first { part in
            part.path.parts(between: "/").first.map { unreadable.contains(String($0)) } ?? false
        }
        if let part {
            warn("The key of \(type.name) was left out: \(part.path) cannot be read.", at: node)
            type.key = []
        }
        return type
    }

    private mutating func readMember(
        _ node: Node, of type: inout StructuredType, _ group: CSDLTargets.Group?
    ) throws(CSDLError) {
        switch document.name(node) {
        case .property: type.properties.append(try readProperty(node, group))
        case .navigationProperty:
            let property =
                try document.attributeText(node, .relationship) == nil
                ? readNavigationProperty(node, group) : readV2NavigationProperty(node, group)
            if let property { type.navigationProperties.append(property) }
        case .key:
            var key = type.key
            for part in document.children(node, named: .propertyRef) {
                let path = try required(part, .name, expected: "a property path")
                guard !key.contains(where: { $0.path == path }) else {
                    warn("The key of \(type.name) names \(path) twice: the first one holds.", at: part)
                    continue
                }
                key.append(StructuredType.KeyProperty(path: path, alias: document.attribute(part, .alias)))
            }
            type.key = key
        case .annotation, .valueAnnotation, .typeAnnotation: break
        default: warnUnknown(node, in: type.kind == .entity ? "EntityType" : "ComplexType")
        }
    }

    private mutating func readBaseType(_ text: CSDLDocument.Text, of type: inout StructuredType, _ node: Node) {
        var (found, isKnown) = resolver.type(text)
        if !isKnown, let name = resolver.qualified(document.string(text), in: namespace),
            let declared = resolver.declared[name]?.type
        {
            warnOfShortName(document.string(text), name, at: node)
            found = declared
        }
        switch found {
        case .entity(let base?) where type.kind == .entity: type.baseType = base
        case .complex(let base?) where type.kind == .complex: type.baseType = base
        case .entity(nil), .complex(nil): break
        case let other:
            let base = resolver.fullName(text: text)
            guard !base.isEmpty else { return }
            if case .untyped = other { type.undeclaredBaseType = QualifiedName(base) }
            warn("The base type \(base) is not known here: what is inherited from it is left out.", at: node)
        }
    }

    /// Reads `Property` (OData CSDL 4.01, 7).
    private mutating func readProperty(_ node: Node, _ group: CSDLTargets.Group?) throws(CSDLError) -> Property {
        let name = try required(node, .name, expected: "the property's name")
        var type = try requiredType(node, "the property's type")
        var (isNullable, facets, defaultValue, isConcurrencyToken) = (true, Facets(), String?.none, false)
        // A single loop is efficient, because most elements have only a name and a type.
        for index in document.attributeRange(node) {
            let value = document.attributes[index].value
            switch document.attributes[index].name {
            case .nullable: isNullable = flag(value, .nullable, node: node) ?? true
            case .maxLength, .precision, .scale, .srid, .unicode: try readFacet(index, node, into: &facets)
            case .defaultValue: defaultValue = document.string(value)
            case .concurrencyMode: isConcurrencyToken = document.string(value).lowercased() == "fixed"
            // CSDL 2 and 3 may state the collection kind separately from the type.
            case .collectionKind where document.string(value) != "None" && !type.isCollection: type = .collection(type)
            default: break
            }
        }
        facets.isNullabilityUnstated = leavesNullUnstated(type, node)
        complete(&facets, of: type)
        try check(facets, node)
        // The property is created last, because changing it earlier would cause a copy on return.
        return Property(
            name: name, type: type, isNullable: isNullable, facets: facets, defaultValue: defaultValue,
            isConcurrencyToken: isConcurrencyToken,
            annotations: try readAnnotations(node, group: group, child: document.attributeText(node, .name)))
    }

    /// Reads `NavigationProperty` of CSDL 4 (OData CSDL 4.01, 8).
    private mutating func readNavigationProperty(
        _ node: Node, _ group: CSDLTargets.Group?
    ) throws(CSDLError) -> NavigationProperty? {
        let name = try required(node, .name, expected: "the property's name")
        let type = try requiredType(node, "the type of the related entities")
        let target: QualifiedName
        switch type.element {
        case .entity(let name?): target = name
        case .entity(nil): target = QualifiedName("Edm", "EntityType")
        case .untyped(let text):
            guard let name = QualifiedName(text) else { throw navigationTypeError(node) }
            target = name
        default:
            guard let name = QualifiedName(type.element.description) else { throw navigationTypeError(node) }
            warn(
                "The navigation property \(document.attribute(node, .name) ?? "") leads to \(name), which is no entity type.",
                at: node)
            target = name
        }
        var (isNullable, partner, isContainment) = (true, String?.none, false)
        for index in document.attributeRange(node) {
            let value = document.attributes[index].value
            switch document.attributes[index].name {
            case .nullable: isNullable = flag(value, .nullable, node: node) ?? true
            case .partner: partner = resolver.path(document.string(value))
            case .containsTarget: isContainment = flag(value, .containsTarget, node: node) ?? false
            default: break
            }
        }
        let annotations = try readAnnotations(node, group: group, child: document.attributeText(node, .name))
        var constraints: [ReferentialConstraint] = []
        var (onDelete, onDeleteAnnotations) = (OnDeleteAction?.none, [Annotation]())
        for child in document.children(node) {
            switch document.name(child) {
            case .referentialConstraint:
                do throws(CSDLError) {
                    constraints.append(
                        ReferentialConstraint(
                            property: try required(child, .property, expected: "a property path"),
                            referencedProperty: try required(child, .referencedProperty, expected: "a property path"),
                            annotations: try readAnnotations(child)))
                } catch {
                    try leaveOut(child, error)
                }
            case .onDelete:
                onDelete = try readOnDelete(child)
                onDeleteAnnotations = onDelete == nil ? [] : try readAnnotations(child)
            case .annotation: break
            default: warnUnknown(child, in: "NavigationProperty")
            }
        }
        return NavigationProperty(
            name: name, target: target, isCollection: type.isCollection, isNullable: isNullable, partner: partner,
            isContainment: isContainment, constraints: constraints, onDelete: onDelete,
            onDeleteAnnotations: onDeleteAnnotations, annotations: annotations)
    }

    private func navigationTypeError(_ node: Node) -> CSDLError {
        document.error(
            .invalidAttribute("Type", element: "NavigationProperty", value: document.attribute(node, .type) ?? ""),
            at: node, expected: "an entity type with namespace or alias")
    }

    /// Reads `OnDelete` (OData CSDL 4.01, 8.6); returns `nil` with a warning if its action is unknown.
    mutating func readOnDelete(_ node: Node) throws(CSDLError) -> OnDeleteAction? {
        let text = document.attribute(node, .action) ?? ""
        if let action = OnDeleteAction(rawValue: text) { return action }
        // CSDL 2 also has `Restrict`, with the meaning of `None`.
        if text == "Restrict" { return OnDeleteAction.none }
        try leaveOut(
            node,
            document.error(
                .invalidAttribute("Action", element: "OnDelete", value: text), at: node,
                expected: "Cascade, None, SetNull or SetDefault"))
        return nil
    }

    /// Reads `EnumType` (OData CSDL 4.01, 10). A member without a value has the value of the previous member plus
    /// 1.
    mutating func readEnumType(_ node: Node) throws(CSDLError) -> EnumType {
        let name = QualifiedName(namespace, try required(node, .name, expected: "the type's name"))
        let group = targeted.group(name)
        var type = EnumType(name: name, isFlags: flag(node, .isFlags) ?? false, members: [])
        if let text = document.attribute(node, .underlyingType) {
            if let underlying = PrimitiveType(stated: text), underlying.isInteger {
                type.underlyingType = underlying
            } else {
                warn("UnderlyingType=\"\(text)\" of \(name) is no integer type and was read as Edm.Int32.", at: node)
            }
        }
        type.annotations = try readAnnotations(node, group: group)
        var next: Int64 = 0
        var names: Set<String> = []
        type.members.reserveCapacity(document.count(node, named: .member))
        for child in document.children(node) {
            switch document.name(child) {
            case .member:
                do throws(CSDLError) {
                    let member = try readEnumMember(child, next, group: group)
                    next = member.value &+ 1
                    if names.insert(member.name).inserted {
                        type.members.append(member)
                    } else {
                        warn("\(member.name) within \(name) is declared twice: the first one holds.", at: child)
                    }
                } catch {
                    try leaveOut(child, error)
                }
            case .annotation, .valueAnnotation, .typeAnnotation: break
            default: warnUnknown(child, in: "EnumType")
            }
        }
        return type
    }

    private mutating func readEnumMember(
        _ node: Node, _ next: Int64, group: CSDLTargets.Group?
    ) throws(CSDLError) -> EnumType.Member {
        let name = try required(node, .name, expected: "the member's name")
        var value = next
        if let text = document.attribute(node, .value) {
            guard let stated = Int64(text) else {
                throw document.error(
                    .invalidAttribute("Value", element: "Member", value: text), at: node, expected: "a whole number")
            }
            value = stated
        }
        return EnumType.Member(
            name: name, value: value,
            annotations: try readAnnotations(node, group: group, child: document.attributeText(node, .name)))
    }

    /// Reads `TypeDefinition` (OData CSDL 4.01, 11).
    mutating func readTypeDefinition(_ node: Node) throws(CSDLError) -> TypeDefinition {
        let name = QualifiedName(namespace, try required(node, .name, expected: "the type's name"))
        guard case .typeDefinition(_, let underlying)? = resolver.declared[name]?.type else {
            throw document.error(
                .missingAttribute("UnderlyingType", element: "TypeDefinition"), at: node, expected: "a primitive type")
        }
        var facets = try readFacets(node)
        complete(&facets, of: .primitive(underlying))
        return TypeDefinition(
            name: name, underlyingType: underlying, facets: facets,
            annotations: try readAnnotations(node, group: targeted.group(name)))
    }

    /// Reads `Term` (OData CSDL 4.01, 14.1), or `ValueTerm` of V3.
    mutating func readTerm(_ node: Node) throws(CSDLError) -> Term {
        let name = QualifiedName(namespace, try required(node, .name, expected: "the term's name"))
        let type = try requiredType(node, "the term's type")
        var facets = try readFacets(node)
        facets.isNullabilityUnstated = leavesNullUnstated(type, node)
        complete(&facets, of: type)
        let appliesTo = document.attribute(node, .appliesTo)?.split(whereSeparator: \.isWhitespace).map(String.init)
        return Term(
            name: name, type: type,
            baseTerm: document.attribute(node, .baseTerm).map { resolver.fullName($0) },
            isNullable: flag(node, .nullable) ?? true, facets: facets,
            defaultValue: document.attribute(node, .defaultValue), appliesTo: appliesTo ?? [],
            annotations: try readAnnotations(node, group: targeted.group(name)))
    }

    // MARK: Facets

    /// Reads the facets of an element (OData CSDL 4.01, 7.2).
    mutating func readFacets(_ node: Node) throws(CSDLError) -> Facets {
        var facets = Facets()
        for index in document.attributeRange(node) { try readFacet(index, node, into: &facets) }
        try check(facets, node)
        return facets
    }

    /// Sets unstated facets to the defaults of the options. For a type definition, the facets of the definition
    /// apply instead.
    func complete(_ facets: inout Facets, of type: TypeReference) {
        guard options.defaultsToVariableScale || options.defaultsToVariableSRID,
            case .primitive(let primitive) = type.element
        else { return }
        if options.defaultsToVariableScale, primitive == .decimal, facets.scale == nil { facets.scale = .variable }
        if options.defaultsToVariableSRID, primitive.isGeo, facets.srid == nil { facets.isSRIDVariable = true }
    }

    /// Returns whether the type is a collection with unstated nullability.
    func leavesNullUnstated(_ type: TypeReference, _ node: Node) -> Bool {
        type.isCollection && document.attributeText(node, .nullable) == nil
    }

    /// Reads an attribute that may be a facet.
    mutating func readFacet(_ index: Int, _ node: Node, into facets: inout Facets) throws(CSDLError) {
        let attribute = document.attributes[index]
        switch attribute.name {
        case .maxLength:
            // JSON has no notation for an unlimited length.
            if !isJSON, document.string(attribute.value).lowercased() == "max" {
                facets.isMaxLengthUnlimited = true
            } else {
                facets.maxLength = try number(attribute, node)
            }
        case .precision:
            if document.string(attribute.value).lowercased() != "variable" {
                facets.precision = try number(attribute, node)
            }
        case .srid:
            if document.string(attribute.value).lowercased() == "variable" {
                facets.isSRIDVariable = true
            } else {
                facets.srid = try number(attribute, node)
            }
        case .unicode: facets.isUnicode = flag(attribute.value, .unicode, node: node)
        case .scale:
            switch document.string(attribute.value).lowercased() {
            case "variable": facets.scale = .variable
            case "floating": facets.scale = .floating
            default: facets.scale = try number(attribute, node).map { .fixed($0) }
            }
        default: break
        }
    }

    private mutating func number(_ attribute: CSDLDocument.Attribute, _ node: Node) throws(CSDLError) -> Int? {
        let text = document.string(attribute.value)
        if let value = Int(text), value >= 0, value <= Int32.max { return value }
        try refuseFacet(
            "\(attribute.name.rawValue)=\"\(text)\" is no whole number and was ignored.", attribute.name, value: text,
            at: node
        )
        return nil
    }

    /// Describes a contradiction between facets. Such facets are kept as stated, because the intention is unknown.
    func contradiction(in facets: Facets) -> String? {
        guard case .fixed(let scale)? = facets.scale, let precision = facets.precision, scale > precision else {
            return nil
        }
        return "Scale=\"\(scale)\" is above Precision=\"\(precision)\"."
    }

    mutating func check(_ facets: Facets, _ node: Node) throws(CSDLError) {
        guard let contradiction = contradiction(in: facets), case .fixed(let scale)? = facets.scale else { return }
        try refuseFacet(contradiction, .scale, value: String(scale), at: node)
    }
}
