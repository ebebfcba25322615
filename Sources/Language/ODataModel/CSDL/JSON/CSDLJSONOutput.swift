/// Writes a model as CSDL in JSON (OData CSDL JSON 4.01). This file writes the document and its schemas; the
/// extension writes expressions.
///
/// If the defaults of the two formats differ, the default of XML is written explicitly. JSON has no attributes of
/// other vocabularies. SAP attributes are written as equivalent annotations, and all other attributes are omitted.
struct CSDLJSONOutput {
    let model: EntityDataModel
    var json = JSONWriter()
    var omissions: [String] = []
    /// The replacements of namespaces by aliases, which CSDL JSON uses if they are declared.
    let names: CSDLNameMap
    /// The URIs of the documents that declare namespaces and aliases, for the types of records.
    let sources: [String: String]
    /// The names of the children of the schema being written.
    private var childNames: Set<String> = []

    init(_ model: EntityDataModel) {
        self.model = model
        var aliases: [String: String] = [:]
        // If two namespaces have the same alias, the last one gets it, as in readers.
        var namespaces: [String: String] = [:]
        var sources: [String: String] = [:]
        for reference in model.references {
            for include in reference.includes {
                sources[include.namespace] = reference.uri
                guard let alias = include.alias else { continue }
                aliases[include.namespace] = alias
                namespaces[alias] = include.namespace
            }
        }
        for schema in model.schemas {
            guard let alias = schema.alias else { continue }
            aliases[schema.namespace] = alias
            namespaces[alias] = schema.namespace
        }
        names = CSDLNameMap(aliases.filter { namespaces[$0.value] == $0.key })
        self.sources = sources
    }

    mutating func write() {
        json.beginObject()
        json.key("$Version")
        json.string(model.version.rawValue)
        writeReferences()
        if let container = model.schemas.compactMap(\.container).last {
            json.key("$EntityContainer")
            json.string(container.name.description)
        }
        for schema in mergedSchemas { write(schema) }
        json.endObject()
    }

    /// The schemas with one entry for each namespace. XML allows several schemas with a namespace, but JSON allows
    /// one member.
    private var mergedSchemas: [ODataSchema] {
        var result: [ODataSchema] = []
        for schema in model.schemas {
            guard let index = result.firstIndex(where: { $0.namespace == schema.namespace }) else {
                result.append(schema)
                continue
            }
            result[index].alias = result[index].alias ?? schema.alias
            result[index].structuredTypes += schema.structuredTypes
            result[index].enumTypes += schema.enumTypes
            result[index].typeDefinitions += schema.typeDefinitions
            result[index].operations += schema.operations
            result[index].terms += schema.terms
            result[index].container = result[index].container ?? schema.container
            result[index].annotations += schema.annotations
            result[index].externalAnnotations += schema.externalAnnotations
        }
        return result
    }

    // MARK: Members

    mutating func member(_ key: String, _ value: String?) {
        guard let value else { return }
        json.key(key)
        json.string(value)
    }

    /// Writes a boolean whose default is false.
    mutating func flag(_ key: String, _ value: Bool) {
        guard value else { return }
        json.key(key)
        json.boolean(true)
    }

    private mutating func number(_ key: String, _ value: Int?) {
        guard let value else { return }
        json.key(key)
        json.integer(Int64(value))
    }

    // MARK: The document

    private mutating func writeReferences() {
        guard !model.references.isEmpty else { return }
        json.key("$Reference")
        json.beginObject()
        // A member name must be unique, but XML may refer to a document twice.
        var order: [String] = []
        var byURI: [String: [CSDLReference]] = [:]
        for reference in model.references {
            let uri = Self.jsonURI(reference.uri)
            if byURI[uri] == nil { order.append(uri) }
            byURI[uri, default: []].append(reference)
        }
        for uri in order {
            json.key(uri)
            json.beginObject()
            let references = byURI[uri] ?? []
            var includes: [CSDLReference.Include] = []
            for include in references.flatMap(\.includes) {
                // Identical inclusions are also merged, because JSON may be unable to distinguish them.
                let isSame = { (other: CSDLReference.Include) in
                    other.namespace == include.namespace && other.alias == include.alias
                }
                if let known = includes.firstIndex(where: isSame) {
                    includes[known].annotations += include.annotations
                } else {
                    includes.append(include)
                }
            }
            if !includes.isEmpty {
                json.key("$Include")
                json.beginArray()
                for include in includes {
                    json.beginObject()
                    member("$Namespace", include.namespace)
                    member("$Alias", include.alias)
                    write(include.annotations, on: "")
                    json.endObject()
                }
                json.endArray()
            }
            let annotations = references.flatMap(\.includedAnnotations)
            if !annotations.isEmpty {
                json.key("$IncludeAnnotations")
                json.beginArray()
                for include in annotations {
                    json.beginObject()
                    member("$TargetNamespace", include.targetNamespace)
                    member("$TermNamespace", include.termNamespace)
                    member("$Qualifier", include.qualifier)
                    json.endObject()
                }
                json.endArray()
            }
            write(references.flatMap(\.annotations), on: "")
            json.endObject()
        }
        json.endObject()
    }

    /// Returns the URI of a document in JSON format; OASIS publishes its vocabularies at the same place in both
    /// formats.
    private static func jsonURI(_ uri: String) -> String {
        let isVocabulary = uri.hasPrefix("https://oasis-tcs.github.io/odata-vocabularies/vocabularies/")
        return isVocabulary && uri.hasSuffix(".xml") ? uri.dropLast(3) + "json" : uri
    }

    private mutating func write(_ schema: ODataSchema) {
        json.key(schema.namespace)
        json.beginObject()
        childNames = []
        member("$Alias", schema.alias)
        write(schema.annotations, on: "")
        for type in schema.structuredTypes where isNew(type.name) { write(type) }
        for type in schema.enumTypes where isNew(type.name) { write(type) }
        for type in schema.typeDefinitions where isNew(type.name) {
            json.key(type.name.name)
            json.beginObject()
            member("$Kind", "TypeDefinition")
            member("$UnderlyingType", type.underlyingType.rawValue)
            write(type.facets, type: .primitive(type.underlyingType))
            write(type.annotations, on: "")
            json.endObject()
        }
        writeOperations(schema.operations)
        for term in schema.terms where isNew(term.name) {
            json.key(term.name.name)
            json.beginObject()
            member("$Kind", "Term")
            writeType(term.type)
            writeNullable(term.isNullable, term.facets)
            member("$BaseTerm", term.baseTerm.map(names.name))
            write(term.facets, type: term.type)
            write(defaultValue: term.defaultValue, term.type)
            if !term.appliesTo.isEmpty {
                json.key("$AppliesTo")
                json.beginArray()
                for kind in term.appliesTo { json.string(kind) }
                json.endArray()
            }
            write(term.annotations, on: "")
            json.endObject()
        }
        if let container = schema.container, isNew(container.name) { write(container) }
        if !schema.externalAnnotations.isEmpty {
            json.key("$Annotations")
            json.beginObject()
            // A target may also occur several times in XML.
            var order: [String] = []
            var byTarget: [String: [Annotation]] = [:]
            for group in schema.externalAnnotations {
                let target = names.path(group.target)
                if byTarget[target] == nil { order.append(target) }
                byTarget[target, default: []] += group.annotations
            }
            for target in order {
                json.key(target)
                json.beginObject()
                write(byTarget[target] ?? [], on: "")
                json.endObject()
            }
            json.endObject()
        }
        json.endObject()
    }

    /// Returns whether the name is new in the schema. In XML, a type and a function may have the same name.
    private mutating func isNew(_ name: QualifiedName) -> Bool {
        if childNames.insert(name.name).inserted { return true }
        omissions.append(
            "The second element named \(name) was left out: CSDL in JSON holds each name once. Rename one of the two.")
        return false
    }

    // MARK: Types

    private mutating func write(_ type: StructuredType) {
        json.key(type.name.name)
        json.beginObject()
        member("$Kind", type.kind == .entity ? "EntityType" : "ComplexType")
        member("$BaseType", (type.baseType ?? type.undeclaredBaseType).map { names.name($0.description) })
        flag("$Abstract", type.isAbstract)
        flag("$OpenType", type.isOpen)
        flag("$HasStream", type.hasStream)
        if !type.key.isEmpty {
            json.key("$Key")
            json.beginArray()
            for part in type.key {
                guard let alias = part.alias else {
                    json.string(part.path)
                    continue
                }
                json.beginObject()
                member(alias, part.path)
                json.endObject()
            }
            json.endArray()
        }
        // A document may declare a property twice; the first declaration takes precedence.
        var own: Set<String> = []
        for property in type.properties where own.insert(property.name).inserted {
            json.key(property.name)
            json.beginObject()
            writeType(property.type)
            writeNullable(property.isNullable, property.facets)
            omitNullability(property.type, property.facets, owner: "\(type.name)/\(property.name)")
            write(property.facets, type: property.type)
            write(defaultValue: property.defaultValue, property.type)
            if property.isConcurrencyToken {
                omissions.append(
                    "The concurrency mode of \(type.name)/\(property.name) was left out: CSDL in JSON cannot express it."
                )
            }
            write(property.annotations, on: "", kind: .property)
            json.endObject()
        }
        for property in type.navigationProperties where own.insert(property.name).inserted { write(property) }
        write(type.annotations, on: "")
        json.endObject()
    }

    private mutating func write(_ property: NavigationProperty) {
        json.key(property.name)
        json.beginObject()
        member("$Kind", "NavigationProperty")
        flag("$Collection", property.isCollection)
        member("$Type", names.name(property.target.description))
        flag("$Nullable", property.isNullable && !property.isCollection)
        member("$Partner", property.partner.map(names.path))
        flag("$ContainsTarget", property.isContainment)
        if !property.constraints.isEmpty {
            json.key("$ReferentialConstraint")
            json.beginObject()
            var names: Set<String> = []
            for constraint in property.constraints {
                guard names.insert(constraint.property).inserted else {
                    omissions.append(
                        "A second constraint on \(constraint.property) was left out: CSDL in JSON holds one per property."
                    )
                    continue
                }
                member(constraint.property, constraint.referencedProperty)
                write(constraint.annotations, on: constraint.property)
            }
            json.endObject()
        }
        if let action = property.onDelete {
            member("$OnDelete", action.rawValue)
            write(property.onDeleteAnnotations, on: "$OnDelete")
        }
        write(property.annotations, on: "")
        json.endObject()
    }

    private mutating func write(_ type: EnumType) {
        json.key(type.name.name)
        json.beginObject()
        member("$Kind", "EnumType")
        if type.underlyingType != .int32 { member("$UnderlyingType", type.underlyingType.rawValue) }
        flag("$IsFlags", type.isFlags)
        write(type.annotations, on: "")
        var names: Set<String> = []
        for value in type.members where names.insert(value.name).inserted {
            json.key(value.name)
            json.integer(value.value)
            write(value.annotations, on: value.name)
        }
        json.endObject()
    }

    mutating func writeType(_ type: TypeReference) {
        flag("$Collection", type.isCollection)
        let name = type.element.description
        if name != "Edm.String" { member("$Type", names.name(name)) }
    }

    /// Reports an omission if the nullability of a collection is unstated.
    ///
    /// XML allows an unstated nullability, but JSON then implies that null is not allowed (OData CSDL JSON 4.01,
    /// 7.2.1). Collections of entities never contain null.
    private mutating func omitNullability(_ type: TypeReference, _ facets: Facets, owner: String) {
        guard facets.isNullabilityUnstated, case .collection(let element) = type else { return }
        if case .entity = element { return }
        omissions.append(
            "\(owner) was written as a collection without null: CSDL in JSON cannot leave open whether it may hold null."
        )
    }

    private mutating func writeNullable(_ isNullable: Bool, _ facets: Facets) {
        flag("$Nullable", isNullable && !facets.isNullabilityUnstated)
    }

    /// Writes whether a parameter or result may be null. Before V4, the default is true, as in XML.
    private mutating func writeNullable(_ isNullable: Bool, of type: TypeReference, _ facets: Facets) {
        guard model.version < .v4 else { return writeNullable(isNullable, facets) }
        let goesWithoutSaying = type.isCollection ? facets.isNullabilityUnstated : true
        guard !isNullable || !goesWithoutSaying else { return }
        json.key("$Nullable")
        json.boolean(isNullable)
    }

    private mutating func write(_ facets: Facets, type: TypeReference) {
        number("$MaxLength", facets.maxLength)
        let element = type.element
        let hasSeconds = if case .primitive(let primitive) = element { primitive.hasSeconds } else { false }
        number("$Precision", facets.precision ?? (hasSeconds ? 0 : nil))
        switch facets.scale {
        case .fixed(let digits): number("$Scale", digits)
        case .floating: member("$Scale", "floating")
        // `variable` is the default for decimals only; a type definition may have another default.
        case .variable: if element != .primitive(.decimal) { member("$Scale", "variable") }
        case nil: if element == .primitive(.decimal) { number("$Scale", 0) }
        }
        if facets.isUnicode == false {
            json.key("$Unicode")
            json.boolean(false)
        }
        if facets.isSRIDVariable { member("$SRID", "variable") }
        number("$SRID", facets.isSRIDVariable ? nil : facets.srid)
    }

    private mutating func write(defaultValue text: String?, _ type: TypeReference) {
        guard let text else { return }
        json.key("$DefaultValue")
        switch type.element.primitive {
        case _ where text == "null": json.null()
        case .boolean? where text == "true" || text == "false": json.boolean(text == "true")
        case let type? where type.isNumeric: number(text)
        // If another document declares the type, only the text is known.
        case nil where text == "true" || text == "false": json.boolean(text == "true")
        default: json.string(text)
        }
    }

    /// Writes a number if the text is a valid JSON number, or else a string.
    mutating func number(_ text: String) {
        if Self.isNumber(text) { json.raw(text.utf8) } else { json.string(text) }
    }

    private static func isNumber(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { buffer in
            var scanner = JSONScanner(buffer)
            return (try? scanner.peekKind()) == .number && (try? scanner.skipValue()) == 0..<bytes.count
        }
    }

    // MARK: Operations and containers

    /// Writes operations; overloads share one member.
    private mutating func writeOperations(_ operations: [ODataOperation]) {
        var order: [String] = []
        var byName: [String: [ODataOperation]] = [:]
        for operation in operations {
            if byName[operation.name.name] == nil { order.append(operation.name.name) }
            byName[operation.name.name, default: []].append(operation)
        }
        for name in order {
            guard let first = byName[name]?.first, isNew(first.name) else { continue }
            json.key(name)
            json.beginArray()
            for operation in byName[name] ?? [] { write(operation) }
            json.endArray()
        }
    }

    private mutating func write(_ operation: ODataOperation) {
        json.beginObject()
        member("$Kind", operation.kind == .action ? "Action" : "Function")
        flag("$IsBound", operation.isBound)
        flag("$IsComposable", operation.isComposable)
        member("$EntitySetPath", operation.entitySetPath.map(names.path))
        if !operation.parameters.isEmpty {
            json.key("$Parameter")
            json.beginArray()
            for parameter in operation.parameters {
                json.beginObject()
                member("$Name", parameter.name)
                writeType(parameter.type)
                writeNullable(parameter.isNullable, of: parameter.type, parameter.facets)
                omitNullability(parameter.type, parameter.facets, owner: "\(operation.name)/\(parameter.name)")
                write(parameter.facets, type: parameter.type)
                write(parameter.annotations, on: "", kind: .property)
                json.endObject()
            }
            json.endArray()
        }
        if let type = operation.returnType {
            json.key("$ReturnType")
            json.beginObject()
            writeType(type)
            writeNullable(operation.isReturnNullable, of: type, operation.returnFacets)
            omitNullability(type, operation.returnFacets, owner: "\(operation.name)/$ReturnType")
            write(operation.returnFacets, type: type)
            write(operation.returnAnnotations, on: "")
            json.endObject()
        }
        write(operation.annotations, on: "")
        json.endObject()
    }

    private mutating func write(_ container: EntityContainer) {
        json.key(container.name.name)
        json.beginObject()
        member("$Kind", "EntityContainer")
        member("$Extends", container.extends.map { names.name($0.description) })
        write(container.annotations, on: "")
        for set in container.entitySets {
            json.key(set.name)
            json.beginObject()
            flag("$Collection", true)
            member("$Type", names.name(set.type.description))
            if !set.isInServiceDocument {
                json.key("$IncludeInServiceDocument")
                json.boolean(false)
            }
            write(set.bindings, of: container)
            write(set.annotations, on: "", kind: .entitySet)
            json.endObject()
        }
        for singleton in container.singletons {
            json.key(singleton.name)
            json.beginObject()
            member("$Type", names.name(singleton.type.description))
            flag("$Nullable", singleton.isNullable)
            write(singleton.bindings, of: container)
            write(singleton.annotations, on: "")
            json.endObject()
        }
        // V2 function imports may be overloaded, but a V4 import represents all overloads.
        var imports: Set<String> = []
        for operation in container.operationImports where imports.insert(operation.name).inserted {
            json.key(operation.name)
            json.beginObject()
            member(operation.kind == .action ? "$Action" : "$Function", names.name(operation.operation.description))
            member("$EntitySet", operation.entitySet.map { local($0, in: container) })
            flag("$IncludeInServiceDocument", operation.isInServiceDocument)
            write(operation.annotations, on: "")
            json.endObject()
        }
        json.endObject()
    }

    private mutating func write(_ bindings: [NavigationPropertyBinding], of container: EntityContainer) {
        guard !bindings.isEmpty else { return }
        json.key("$NavigationPropertyBinding")
        json.beginObject()
        var paths: Set<String> = []
        for binding in bindings where paths.insert(binding.path).inserted {
            member(names.path(binding.path), local(binding.target, in: container))
        }
        json.endObject()
    }

    /// Returns the target as a plain name if it is in the same container, or else as a path.
    private func local(_ target: String, in container: EntityContainer) -> String {
        guard let rest = target.rest(behind: "\(container.name)/"), !rest.isEmpty else { return names.path(target) }
        return String(rest)
    }
}

extension PrimitiveType {
    /// Whether values have seconds, for which `Precision` is the number of fractional digits.
    ///
    /// Without the facet, XML allows no fractional digits and JSON allows any number (OData CSDL XML 4.01 and JSON
    /// 4.01, 7.2.3).
    var hasSeconds: Bool { [.dateTime, .dateTimeOffset, .duration, .timeOfDay].contains(self) }
}
