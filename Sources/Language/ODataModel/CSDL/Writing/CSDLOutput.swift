/// Writes the elements of schemas and collects the foreign namespaces that they use.
///
/// This file writes schemas and types. The extensions write operations, containers, the differences of V2 and V3,
/// and annotations.
struct CSDLOutput {
    let version: ODataVersion
    let model: EntityDataModel
    var xml: XMLOutput
    /// The prefixes of foreign namespaces used so far.
    var prefixes: [String: String] = [:]
    /// Descriptions of elements that the version cannot express.
    var omissions: [String] = []
    /// V2 and V3: the associations for navigation properties without an association in the model.
    var associations = GeneratedAssociations()

    var isV4: Bool { version >= .v4 }

    init(_ model: EntityDataModel, version: ODataVersion, indentedBy depth: Int) {
        self.model = model
        self.version = version
        xml = XMLOutput(indentedBy: depth)
    }

    mutating func omit(_ what: String) {
        omissions.append("\(what) was left out: OData \(version.rawValue) cannot express it. Write a newer version.")
    }

    mutating func write(_ reference: CSDLReference) {
        xml.begin("edmx:Reference")
        if !isV4 { xml.attribute("xmlns:edmx", "http://docs.oasis-open.org/odata/ns/edmx") }
        xml.attribute("Uri", reference.uri)
        writeAttributes(reference.annotations)
        for include in reference.includes {
            xml.begin("edmx:Include")
            xml.attribute("Namespace", include.namespace)
            xml.attribute("Alias", include.alias)
            write(include.annotations)
            xml.end()
        }
        for include in reference.includedAnnotations {
            xml.begin("edmx:IncludeAnnotations")
            xml.attribute("TermNamespace", include.termNamespace)
            xml.attribute("Qualifier", include.qualifier)
            xml.attribute("TargetNamespace", include.targetNamespace)
            xml.end()
        }
        writeElements(reference.annotations)
        xml.end()
    }

    mutating func write(_ schema: ODataSchema) {
        xml.begin("Schema")
        if !isV4 {
            xml.attribute(
                "xmlns",
                version == .v3
                    ? "http://schemas.microsoft.com/ado/2009/11/edm" : "http://schemas.microsoft.com/ado/2008/09/edm")
        }
        xml.attribute("Namespace", schema.namespace)
        xml.attribute("Alias", schema.alias)
        write(schema.annotations)
        for type in schema.structuredTypes {
            if canSay(type) { write(type) } else { omitKey(of: type) }
        }
        if version >= .v3 {
            for type in schema.enumTypes { write(type) }
        } else {
            for type in schema.enumTypes { omit("The enumeration type \(type.name)") }
        }
        for type in schema.typeDefinitions { write(type) }
        if isV4 {
            for operation in schema.operations { write(operation) }
        } else {
            for association in schema.associations { write(association) }
            for association in associations.bySchema[schema.namespace] ?? [] { write(association) }
        }
        for term in schema.terms { write(term) }
        if let container = schema.container { write(container, operations: schema.operations) }
        for group in schema.externalAnnotations {
            xml.begin("Annotations")
            if !isV4 { xml.attribute("xmlns", CSDLBuilder.v4Namespace) }
            xml.attribute("Target", group.target)
            write(group.annotations)
            xml.end()
        }
        xml.end()
    }

    private mutating func write(_ type: StructuredType) {
        xml.begin(type.kind == .entity ? "EntityType" : "ComplexType")
        xml.attribute("Name", type.name.name)
        xml.attribute("BaseType", (type.baseType ?? type.undeclaredBaseType)?.description)
        xml.attribute("Abstract", type.isAbstract, unless: false)
        xml.attribute("OpenType", type.isOpen, unless: false)
        xml.attribute(isV4 ? "HasStream" : "m:HasStream", type.hasStream, unless: false)
        writeAttributes(type.annotations)
        writeDocumentation(type.annotations)
        write(type.key)
        for property in type.properties { write(property, of: type) }
        for property in type.navigationProperties {
            if isV4 {
                write(property)
            } else {
                writeV2(property, of: type)
            }
        }
        writeElements(type.annotations)
        xml.end()
    }

    private mutating func write(_ key: [StructuredType.KeyProperty]) {
        guard !key.isEmpty else { return }
        xml.begin("Key")
        for part in key {
            xml.begin("PropertyRef")
            xml.attribute("Name", part.path)
            if isV4 { xml.attribute("Alias", part.alias) }
            xml.end()
        }
        xml.end()
    }

    private mutating func write(_ property: Property, of type: StructuredType) {
        guard let typeName = typeName(property.type) else {
            return omit("The property \(type.name)/\(property.name) of type \(property.type)")
        }
        xml.begin("Property")
        xml.attribute("Name", property.name)
        xml.attribute("Type", typeName)
        writeNullable(property.isNullable, property.type, facets: property.facets)
        write(property.facets, of: property.type)
        omitScale(property.facets, of: property.type, "\(type.name)/\(property.name)")
        xml.attribute("DefaultValue", property.defaultValue)
        if property.isConcurrencyToken {
            xml.attribute(
                isV4 ? "\(prefix(for: CSDLBuilder.metadataNamespace)):ConcurrencyMode" : "ConcurrencyMode", "Fixed")
        }
        write(property.annotations)
        xml.end()
    }

    private mutating func write(_ property: NavigationProperty) {
        xml.begin("NavigationProperty")
        xml.attribute("Name", property.name)
        xml.attribute("Type", property.isCollection ? "Collection(\(property.target))" : property.target.description)
        xml.attribute("Nullable", property.isNullable, unless: true)
        xml.attribute("Partner", property.partner)
        xml.attribute("ContainsTarget", property.isContainment, unless: false)
        writeAttributes(property.annotations)
        for constraint in property.constraints {
            xml.begin("ReferentialConstraint")
            xml.attribute("Property", constraint.property)
            xml.attribute("ReferencedProperty", constraint.referencedProperty)
            write(constraint.annotations)
            xml.end()
        }
        if let action = property.onDelete {
            xml.begin("OnDelete")
            xml.attribute("Action", action.rawValue)
            write(property.onDeleteAnnotations)
            xml.end()
        }
        writeElements(property.annotations)
        xml.end()
    }

    private mutating func write(_ type: EnumType) {
        xml.begin("EnumType")
        xml.attribute("Name", type.name.name)
        if type.underlyingType != .int32 { xml.attribute("UnderlyingType", type.underlyingType.rawValue) }
        xml.attribute("IsFlags", type.isFlags, unless: false)
        writeAttributes(type.annotations)
        writeDocumentation(type.annotations)
        for member in type.members {
            xml.begin("Member")
            xml.attribute("Name", member.name)
            xml.attribute("Value", String(member.value))
            write(member.annotations)
            xml.end()
        }
        writeElements(type.annotations)
        xml.end()
    }

    private mutating func write(_ type: TypeDefinition) {
        // Before V4, elements state the underlying type instead.
        guard isV4 else { return }
        xml.begin("TypeDefinition")
        xml.attribute("Name", type.name.name)
        xml.attribute("UnderlyingType", type.underlyingType.rawValue)
        write(type.facets, of: .primitive(type.underlyingType))
        write(type.annotations)
        xml.end()
    }

    private mutating func write(_ term: Term) {
        guard version >= .v3, let typeName = typeName(term.type) else { return omit("The term \(term.name)") }
        xml.begin(isV4 ? "Term" : "ValueTerm")
        xml.attribute("Name", term.name.name)
        xml.attribute("Type", typeName)
        xml.attribute("BaseTerm", term.baseTerm)
        writeNullable(term.isNullable, term.type, facets: term.facets)
        write(term.facets, of: term.type)
        xml.attribute("DefaultValue", term.defaultValue)
        xml.attribute("AppliesTo", term.appliesTo.isEmpty ? nil : term.appliesTo.joined(separator: " "))
        write(term.annotations)
        xml.end()
    }

    /// Writes the nullability unless it is the default; collections have no default.
    mutating func writeNullable(_ isNullable: Bool, _ type: TypeReference, facets: Facets) {
        if type.isCollection, isNullable, !facets.isNullabilityUnstated {
            xml.attribute("Nullable", "true")
        } else {
            xml.attribute("Nullable", isNullable, unless: true)
        }
    }

    /// Writes the facets of an element. Before V4, which has no type definitions, these include the facets of the
    /// type definition.
    mutating func write(_ facets: Facets, of type: TypeReference) {
        let facets = isV4 ? facets : model.facets(of: Property(name: "", type: type, facets: facets))
        xml.attribute(
            "MaxLength", facets.isMaxLengthUnlimited ? (isV4 ? "max" : "Max") : facets.maxLength.map(String.init))
        xml.attribute("Precision", facets.precision.map(String.init))
        switch facets.scale {
        case .fixed where lacksPrecision(facets): break
        case .fixed(let digits): xml.attribute("Scale", String(digits))
        // Before V4, a scale is always a number.
        case .variable where isV4: xml.attribute("Scale", "variable")
        case .floating where isV4: xml.attribute("Scale", "floating")
        case .variable, .floating, nil: break
        }
        xml.attribute("Unicode", facets.isUnicode.map { $0 ? "true" : "false" })
        xml.attribute("SRID", facets.isSRIDVariable ? "variable" : facets.srid.map(String.init))
    }

    /// Returns the prefix of a foreign namespace and marks it for declaration at the root.
    mutating func prefix(for namespace: String) -> String {
        if namespace == ForeignAttribute.xmlNamespace { return "xml" }
        if let prefix = prefixes[namespace] { return prefix }
        let prefix = ForeignAttribute.prefixes[namespace] ?? "ns\(prefixes.count + 1)"
        prefixes[namespace] = prefix
        return prefix
    }
}
