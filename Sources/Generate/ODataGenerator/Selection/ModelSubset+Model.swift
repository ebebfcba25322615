import ODataModel

extension ModelSubset {
    /// Returns a reduced model for the generated code, with everything that requests and changes depend on.
    /// Labels and descriptions are left out, because they are in the documentation comments.
    ///
    /// - Throws: ``GeneratorError/metadata(_:)`` if the part is not a valid model.
    func reducedModel(of model: EntityDataModel) throws(GeneratorError) -> EntityDataModel {
        let container = model.container
        var schemas: [ODataSchema] = []
        for schema in model.includedSchemas + model.schemas { schemas.append(reduced(schema)) }
        // Extended containers are merged into the last one.
        for index in schemas.indices { schemas[index].container = nil }
        let home = schemas.lastIndex { $0.namespace == container.name.namespace } ?? schemas.indices.last
        if let home { schemas[home].container = reduced(container) }
        do throws(ModelError) {
            return try EntityDataModel(schemas: schemas, version: model.version)
        } catch {
            throw .metadata(error.description)
        }
    }

    private func reduced(_ schema: ODataSchema) -> ODataSchema {
        var result = ODataSchema(namespace: schema.namespace, alias: schema.alias)
        var relationships: Set<QualifiedName> = []
        for type in schema.structuredTypes where contains(type.name) {
            var type = type
            type.annotations = reduced(type.annotations)
            type.properties = type.properties.map { property in
                var property = property
                property.annotations = reduced(property.annotations)
                return property
            }
            type.navigationProperties = type.navigationProperties.filter { contains($0.target) }.map { property in
                var property = property
                property.annotations = property.annotations.filter { $0.term.hasPrefix(Vocabulary.objects) }
                property.onDeleteAnnotations = []
                if let relationship = property.relationship { relationships.insert(relationship.association) }
                return property
            }
            result.structuredTypes.append(type)
        }
        result.enumTypes = schema.enumTypes.filter { contains(.enumeration($0.name)) }.map { type in
            var type = type
            type.annotations = []
            for index in type.members.indices { type.members[index].annotations = [] }
            return type
        }
        result.typeDefinitions = schema.typeDefinitions.map { definition in
            var definition = definition
            definition.annotations = []
            return definition
        }
        var seen: Set<QualifiedName> = []
        for operation in schema.operations where seen.insert(operation.name).inserted {
            result.operations += overloads(of: operation.name).map(reduced)
        }
        result.associations = schema.associations.filter { association in
            association.ends.allSatisfy { contains($0.type) }
        }
        return result
    }

    private func reduced(_ operation: ODataOperation) -> ODataOperation {
        var operation = operation
        operation.annotations = reduced(operation.annotations)
        operation.returnAnnotations = []
        for index in operation.parameters.indices {
            operation.parameters[index].annotations = reduced(operation.parameters[index].annotations)
        }
        return operation
    }

    private func reduced(_ container: EntityContainer) -> EntityContainer {
        var result = EntityContainer(name: container.name)
        result.annotations = container.annotations.filter { $0.term.hasPrefix(Vocabulary.objects) }
        result.entitySets = container.entitySets.filter { isWanted($0.name) && contains($0.type) }.map { set in
            var set = set
            set.annotations = reduced(set.annotations) + verbRestrictions(set.annotations)
            set.bindings = reduced(set.bindings, container)
            return set
        }
        result.singletons = container.singletons.filter { isWanted($0.name) && contains($0.type) }.map { singleton in
            var singleton = singleton
            singleton.annotations = reduced(singleton.annotations)
            singleton.bindings = reduced(singleton.bindings, container)
            return singleton
        }
        result.operationImports = container.operationImports.filter {
            isWanted($0.name) && !overloads(of: $0.operation).isEmpty
        }.map { operation in
            var operation = operation
            operation.annotations = reduced(operation.annotations)
            return operation
        }
        let sets = Set(result.entitySets.map(\.name))
        result.associationSets = container.associationSets.filter { $0.ends.allSatisfy { sets.contains($0.entitySet) } }
        return result
    }

    /// Returns the annotations about the verbs of a set, which the metadata of business objects show.
    private func verbRestrictions(_ annotations: [Annotation]) -> [Annotation] {
        guard configuration.objects else { return [] }
        let terms = ["Insert", "Update", "Delete"].map { "\(Vocabulary.capabilities)\($0)Restrictions" }
        return annotations.filter { terms.contains($0.term) }
    }

    private func reduced(
        _ bindings: [NavigationPropertyBinding], _ container: EntityContainer
    ) -> [NavigationPropertyBinding] {
        bindings.filter { binding in
            let name = binding.target.split(separator: "/").last.map(String.init) ?? binding.target
            let type =
                container.entitySets.first { $0.name == name }?.type
                ?? container.singletons.first { $0.name == name }?.type
            return isWanted(name) && type.map { contains($0) } == true
        }
    }

    /// Returns the annotations on which requests and changes depend.
    private func reduced(_ annotations: [Annotation]) -> [Annotation] {
        let texts = ["label", "quickinfo", "heading", "Description", "LongDescription"]
        return annotations.filter { annotation in
            let isKept =
                annotation.term.hasPrefix(Vocabulary.core) || annotation.term.hasPrefix("sap:")
                || annotation.term.hasPrefix(Vocabulary.objects)
            return isKept && !texts.contains { annotation.term.hasSuffix($0) }
        }
    }
}
