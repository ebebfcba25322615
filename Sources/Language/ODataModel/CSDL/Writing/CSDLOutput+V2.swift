/// Parts of metadata that differ in OData 1 to 3: associations, function imports and fewer types.
extension CSDLOutput {
    /// Returns the name of the equivalent type in the version; `nil` if there is none.
    func typeName(_ type: TypeReference) -> String? {
        guard !isV4 else { return type.description }
        if case .collection(let element) = type {
            guard version == .v3, let name = typeName(element) else { return nil }
            return "Collection(\(name))"
        }
        switch type {
        case .entity(let name?) where !model.hasKeyBeforeV4(name): return nil
        case .typeDefinition(_, let primitive), .primitive(let primitive): return typeName(primitive)
        case .enumeration: return version == .v3 ? type.description : "Edm.String"
        case .complex(nil), .entity(nil): return nil
        // A type of another document keeps its name, but the version has no V4 abstract types.
        case .untyped(let name): return name.hasPrefix("Edm.") ? nil : name
        default: return type.description
        }
    }

    private func typeName(_ type: PrimitiveType) -> String? {
        switch type {
        case .date: return PrimitiveType.dateTime.rawValue
        case .timeOfDay, .duration: return PrimitiveType.time.rawValue
        case .stream: return version == .v3 ? type.rawValue : nil
        case _ where type.isGeo: return version == .v3 ? type.rawValue : nil
        default: return type.rawValue
        }
    }

    // MARK: Keys and facets

    /// Returns whether the version supports a type: before V4, key properties must belong directly to the entity.
    func canSay(_ type: StructuredType) -> Bool { isV4 || model.hasKeyBeforeV4(type.name) }

    /// Returns whether the version supports an entity set, whose entities need a key that is valid in URLs.
    func canSay(_ set: EntitySet) -> Bool { isV4 || model.hasKeyBeforeV4(set.type) }

    mutating func omitKey(of type: StructuredType) {
        let key = model.shape(type.name)?.key.map(\.path).joined(separator: ", ") ?? ""
        omit("The entity type \(type.name) with the key \(key)")
    }

    /// Returns whether the precision is missing, without which most readers reject a scale before V4.
    func lacksPrecision(_ facets: Facets) -> Bool { !isV4 && model.version >= .v4 && facets.precision == nil }

    /// Reports a scale that ``write(_:of:)`` omits.
    mutating func omitScale(_ facets: Facets, of type: TypeReference, _ owner: String) {
        guard !isV4 else { return }
        let facets = model.facets(of: Property(name: "", type: type, facets: facets))
        guard case .fixed? = facets.scale, lacksPrecision(facets) else { return }
        omit("The scale of \(owner), which has no precision,")
    }

    // MARK: Associations

    mutating func write(_ association: Association) {
        xml.begin("Association")
        xml.attribute("Name", association.name.name)
        writeAttributes(association.annotations)
        writeDocumentation(association.annotations)
        for end in association.ends {
            xml.begin("End")
            xml.attribute("Role", end.role)
            xml.attribute("Type", end.type.description)
            xml.attribute("Multiplicity", end.multiplicity.rawValue)
            writeAttributes(end.annotations)
            if let action = end.onDelete {
                xml.begin("OnDelete")
                xml.attribute("Action", action.rawValue)
                xml.end()
            }
            writeElements(end.annotations)
            xml.end()
        }
        if let constraint = association.constraint {
            xml.begin("ReferentialConstraint")
            write("Principal", constraint.principalRole, properties: constraint.principalProperties)
            write("Dependent", constraint.dependentRole, properties: constraint.dependentProperties)
            xml.end()
        }
        writeElements(association.annotations)
        xml.end()
    }

    private mutating func write(_ element: String, _ role: String, properties: [String]) {
        xml.begin(element)
        xml.attribute("Role", role)
        for property in properties {
            xml.begin("PropertyRef")
            xml.attribute("Name", property)
            xml.end()
        }
        xml.end()
    }

    mutating func writeV2(_ property: NavigationProperty, of type: StructuredType) {
        let path = GeneratedAssociations.Path(type: type.name, property: property.name)
        guard let relationship = property.relationship ?? associations.relationships[path] else { return }
        xml.begin("NavigationProperty")
        xml.attribute("Name", property.name)
        xml.attribute("Relationship", relationship.association.description)
        xml.attribute("FromRole", relationship.fromRole)
        xml.attribute("ToRole", relationship.toRole)
        if version == .v3 { xml.attribute("ContainsTarget", property.isContainment, unless: false) }
        write(property.annotations)
        xml.end()
    }

    // MARK: Containers

    mutating func writeV2(_ container: EntityContainer, _ operations: [ODataOperation], isDefault: Bool) {
        for set in container.associationSets + (isDefault ? associations.sets : []) {
            xml.begin("AssociationSet")
            xml.attribute("Name", set.name)
            xml.attribute("Association", set.association.description)
            writeAttributes(set.annotations)
            for end in set.ends {
                xml.begin("End")
                xml.attribute("Role", end.role)
                xml.attribute("EntitySet", end.entitySet)
                write(end.annotations)
                xml.end()
            }
            writeElements(set.annotations)
            xml.end()
        }
        // Function imports are written in the order of the operations, which reflects the original order of the
        // imports. Overloads with one name come from the same number of imports.
        var written: Set<String> = []
        var imports: [String: [OperationImport]] = [:]
        for operationImport in container.operationImports {
            imports["\(operationImport.operation) \(operationImport.kind)", default: []].append(operationImport)
        }
        for operation in operations {
            let key = "\(operation.name) \(operation.kind)"
            if let operationImport = imports[key]?.first {
                if let count = imports[key]?.count, count > 1 { imports[key]?.removeFirst() }
                // A V4 import represents all overloads, but V2 allows one signature for each name.
                if model.version >= .v4, version < .v3, !written.insert(operationImport.name).inserted {
                    omit("The overload \(operation.name)(\(operation.signature))")
                } else {
                    writeFunctionImport(operation, operationImport)
                }
            } else if operation.isBound, version == .v3 {
                writeFunctionImport(operation, nil)
            } else {
                omit("The \(operation.kind == .action ? "action" : "function") \(operation.name)")
            }
        }
    }

    private mutating func writeFunctionImport(_ operation: ODataOperation, _ operationImport: OperationImport?) {
        var parameters: [(ODataOperation.Parameter, String)] = []
        for parameter in operation.parameters {
            guard let type = typeName(parameter.type), mayBeParameter(parameter.type) else {
                return omit("The parameter \(parameter.name) of \(operation.name)")
            }
            parameters.append((parameter, type))
        }
        var returnType: String?
        if let type = operation.returnType {
            // V2 allows collections as results, although not as types of properties.
            returnType = typeName(type.element).map { type.isCollection ? "Collection(\($0))" : $0 }
            guard returnType != nil else { return omit("The result of \(operation.name)") }
        }
        let set = operationImport?.entitySet?.parts(between: "/").last.map(String.init)
        guard hasSet(operation, set) else {
            return omit("The result of \(operation.name), which is of no entity set,")
        }
        xml.begin("FunctionImport")
        xml.attribute("Name", operationImport?.name ?? operation.name.name)
        xml.attribute("ReturnType", returnType)
        xml.attribute("EntitySet", set)
        xml.attribute("EntitySetPath", operation.entitySetPath)
        if operation.isBound { xml.attribute("IsBindable", "true") }
        xml.attribute("IsComposable", operation.isComposable, unless: false)
        if let method = operationImport?.httpMethod {
            xml.attribute("m:HttpMethod", method)
        } else if operation.kind == .action {
            if version == .v3 {
                xml.attribute("IsSideEffecting", "true")
            } else {
                xml.attribute("m:HttpMethod", "POST")
            }
        } else if model.version < .v4 {
            // The original document states no method, which implies a function.
        } else if version == .v3 {
            xml.attribute("IsSideEffecting", "false")
        } else {
            xml.attribute("m:HttpMethod", "GET")
        }
        let annotations = operationImport?.annotations ?? operation.annotations
        writeAttributes(annotations)
        for (parameter, type) in parameters {
            xml.begin("Parameter")
            xml.attribute("Name", parameter.name)
            xml.attribute("Type", type)
            writeNullable(parameter.isNullable, parameter.type, facets: parameter.facets)
            write(parameter.facets, of: parameter.type)
            omitScale(parameter.facets, of: parameter.type, "\(operation.name)/\(parameter.name)")
            write(parameter.annotations)
            xml.end()
        }
        writeElements(annotations)
        xml.end()
    }

    /// Returns whether the version supports a parameter of a type. Before V3, URLs contain only primitive values.
    /// Models read from such versions are written unchanged.
    private func mayBeParameter(_ type: TypeReference) -> Bool {
        guard model.version >= .v4, version < .v3 else { return true }
        switch type {
        case .complex, .entity, .collection: return false
        default: return true
        }
    }

    /// Returns whether the entities that a function import returns have an entity set, which is required before V4
    /// ([MC-CSDL] 2.1.20).
    private func hasSet(_ operation: ODataOperation, _ set: String?) -> Bool {
        guard model.version >= .v4, case .entity? = operation.returnType?.element else { return true }
        guard let set else { return version == .v3 && operation.entitySetPath != nil }
        return model.entitySet(set).map(canSay) ?? false
    }

    // MARK: Documentation

    /// Writes the two terms that correspond to `Documentation` in V2 and V3.
    mutating func writeDocumentation(_ annotations: [Annotation]) {
        guard !isV4 else { return }
        let documentation = annotations.filter(\.isDocumentation)
        guard !documentation.isEmpty else { return }
        xml.begin("Documentation")
        for annotation in documentation {
            xml.element(
                annotation.term == Annotation.description ? "Summary" : "LongDescription",
                text: annotation.value?.string ?? "")
        }
        xml.end()
    }
}

extension EntityDataModel {
    /// Returns whether a type's key consists of the entity's own properties, as required before V4. Types without a
    /// key are also valid.
    func hasKeyBeforeV4(_ type: QualifiedName) -> Bool {
        shape(type)?.key.allSatisfy { !$0.path.utf8.contains(UInt8(ascii: "/")) } ?? true
    }
}

extension Annotation {
    /// Whether the annotation is equivalent to `Documentation` in V2 and V3.
    var isDocumentation: Bool {
        guard term == Self.description || term == Self.longDescription, qualifier == nil, annotations.isEmpty,
            let text = value?.string
        else { return false }
        // `Documentation` does not preserve white space at the ends of its text.
        return !text.isEmpty && text.first?.isWhitespace == false && text.last?.isWhitespace == false
    }
}
