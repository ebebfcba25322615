/// Writes a model as a metadata document in XML (OData CSDL XML 4.01).
///
/// ```swift
/// let bytes = CSDLWriter.xml(model)
/// ```
///
/// Reading the document gives a model with equal schemas. What OData 4 has no element for is kept in
/// attributes of the namespaces it came from: `sap:` annotations, V2's HTTP methods and concurrency modes.
public enum CSDLWriter {
    /// Writes a document.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - version: 4.0 or 4.01; anything earlier is written as 4.0, since V2 metadata has other elements.
    ///   - references: the documents that the terms and types used come from.
    public static func xml(
        _ model: EntityDataModel, version: ODataVersion = .v401, references: [CSDLReference] = []
    ) -> [UInt8] {
        var body = CSDLOutput()
        for schema in model.schemas { body.write(schema) }
        var header = CSDLOutput(indentedBy: 1)
        for reference in references { header.write(reference) }
        var output = XMLOutput()
        output.declaration()
        output.begin("edmx:Edmx")
        output.attribute("xmlns:edmx", "http://docs.oasis-open.org/odata/ns/edmx")
        output.attribute("xmlns", CSDLBuilder.v4Namespace)
        for (namespace, prefix) in body.prefixes.sorted(by: { $0.value < $1.value }) {
            output.attribute("xmlns:\(prefix)", namespace)
        }
        output.attribute("Version", version == .v401 ? "4.01" : "4.0")
        output.append(header.xml)
        output.begin("edmx:DataServices")
        output.append(body.xml)
        output.end()
        output.end()
        return output.bytes
    }
}

/// Writes the elements of schemas and remembers which foreign namespaces they use.
struct CSDLOutput {
    var xml: XMLOutput
    /// The prefixes of foreign namespaces used so far.
    var prefixes: [String: String] = [:]

    init(indentedBy depth: Int = 2) { xml = XMLOutput(indentedBy: depth) }

    mutating func write(_ reference: CSDLReference) {
        xml.begin("edmx:Reference")
        xml.attribute("Uri", reference.uri)
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
        write(reference.annotations)
        xml.end()
    }

    mutating func write(_ schema: Schema) {
        xml.begin("Schema")
        xml.attribute("Namespace", schema.namespace)
        xml.attribute("Alias", schema.alias)
        write(schema.annotations)
        for type in schema.structuredTypes { write(type) }
        for type in schema.enumTypes { write(type) }
        for type in schema.typeDefinitions {
            xml.begin("TypeDefinition")
            xml.attribute("Name", type.name.name)
            xml.attribute("UnderlyingType", type.underlyingType.rawValue)
            write(type.facets)
            write(type.annotations)
            xml.end()
        }
        for operation in schema.operations { write(operation) }
        for term in schema.terms {
            xml.begin("Term")
            xml.attribute("Name", term.name.name)
            xml.attribute("Type", term.type.description)
            xml.attribute("BaseTerm", term.baseTerm)
            xml.attribute("Nullable", term.isNullable, unless: true)
            write(term.facets)
            xml.attribute("DefaultValue", term.defaultValue)
            xml.attribute("AppliesTo", term.appliesTo.isEmpty ? nil : term.appliesTo.joined(separator: " "))
            write(term.annotations)
            xml.end()
        }
        if let container = schema.container { write(container) }
        for group in schema.externalAnnotations {
            xml.begin("Annotations")
            xml.attribute("Target", group.target)
            write(group.annotations)
            xml.end()
        }
        xml.end()
    }

    private mutating func write(_ type: StructuredType) {
        xml.begin(type.kind == .entity ? "EntityType" : "ComplexType")
        xml.attribute("Name", type.name.name)
        xml.attribute("BaseType", type.baseType?.description)
        xml.attribute("Abstract", type.isAbstract, unless: false)
        xml.attribute("OpenType", type.isOpen, unless: false)
        xml.attribute("HasStream", type.hasStream, unless: false)
        writeAttributes(type.annotations)
        if !type.key.isEmpty {
            xml.begin("Key")
            for part in type.key {
                xml.begin("PropertyRef")
                xml.attribute("Name", part.path)
                xml.attribute("Alias", part.alias)
                xml.end()
            }
            xml.end()
        }
        for property in type.properties {
            xml.begin("Property")
            xml.attribute("Name", property.name)
            xml.attribute("Type", property.type.description)
            xml.attribute("Nullable", property.isNullable, unless: true)
            write(property.facets)
            xml.attribute("DefaultValue", property.defaultValue)
            if property.isConcurrencyToken {
                xml.attribute("\(prefix(for: CSDLBuilder.metadataNamespace)):ConcurrencyMode", "Fixed")
            }
            write(property.annotations)
            xml.end()
        }
        for property in type.navigationProperties { write(property) }
        writeElements(type.annotations)
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
            xml.end()
        }
        if let action = property.onDelete {
            xml.begin("OnDelete")
            xml.attribute("Action", action.rawValue)
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

    private mutating func write(_ operation: Operation) {
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
            xml.attribute("Nullable", parameter.isNullable, unless: true)
            write(parameter.facets)
            write(parameter.annotations)
            xml.end()
        }
        if let type = operation.returnType {
            xml.begin("ReturnType")
            xml.attribute("Type", type.description)
            xml.attribute("Nullable", operation.isReturnNullable, unless: true)
            write(operation.returnFacets)
            write(operation.returnAnnotations)
            xml.end()
        }
        writeElements(operation.annotations)
        xml.end()
    }

    private mutating func write(_ container: EntityContainer) {
        xml.begin("EntityContainer")
        xml.attribute("Name", container.name.name)
        xml.attribute("Extends", container.extends?.description)
        writeAttributes(container.annotations)
        for set in container.entitySets {
            xml.begin("EntitySet")
            xml.attribute("Name", set.name)
            xml.attribute("EntityType", set.type.description)
            xml.attribute("IncludeInServiceDocument", set.isInServiceDocument, unless: true)
            writeAttributes(set.annotations)
            write(set.bindings)
            writeElements(set.annotations)
            xml.end()
        }
        for singleton in container.singletons {
            xml.begin("Singleton")
            xml.attribute("Name", singleton.name)
            xml.attribute("Type", singleton.type.description)
            writeAttributes(singleton.annotations)
            write(singleton.bindings)
            writeElements(singleton.annotations)
            xml.end()
        }
        for operation in container.operationImports {
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
        writeElements(container.annotations)
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

    private mutating func write(_ facets: Facets) {
        xml.attribute("MaxLength", facets.maxLength.map(String.init))
        xml.attribute("Precision", facets.precision.map(String.init))
        switch facets.scale {
        case .fixed(let digits): xml.attribute("Scale", String(digits))
        case .variable: xml.attribute("Scale", "variable")
        case .floating: xml.attribute("Scale", "floating")
        case nil: break
        }
        xml.attribute("Unicode", facets.isUnicode.map { $0 ? "true" : "false" })
        xml.attribute("SRID", facets.srid.map(String.init))
    }

    /// The prefix of a foreign namespace, from now on declared at the root.
    mutating func prefix(for namespace: String) -> String {
        if let prefix = prefixes[namespace] { return prefix }
        let prefix = CSDLBuilder.foreignPrefixes[namespace] ?? "ns\(prefixes.count + 1)"
        prefixes[namespace] = prefix
        return prefix
    }
}
