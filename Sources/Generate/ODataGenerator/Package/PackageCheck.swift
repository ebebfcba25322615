import ODataModel
import ODataQuery

/// Checks the object package of a model, with the texts of its queries.
struct PackageCheck {
    private let model: EntityDataModel
    private let configuration: GeneratorConfiguration

    init(_ model: EntityDataModel, _ configuration: GeneratorConfiguration) {
        self.model = model
        self.configuration = configuration
    }

    /// Returns the package.
    ///
    /// - Throws: ``GeneratorError/package(place:reason:)`` for its first error;
    ///   ``GeneratorError/unknownGroup(_:known:)``.
    func package() throws(GeneratorError) -> PackageModel {
        let package = PackageModel(model)
        if let problem = package.problems.first { throw .package(place: problem.place, reason: problem.reason) }
        for group in configuration.groups ?? [] where package.groups[group] == nil {
            throw .unknownGroup(group, known: package.groups.keys.sorted())
        }
        for set in package.sets.values.sorted(by: { $0.name < $1.name }) {
            for parameter in set.parameters { try check(parameter, of: set.type, in: set.name) }
            guard let filter = set.filter else { continue }
            try check("$filter=\(filter)", set.parameters, over: set.name, in: set.name)
        }
        for (type, queries) in package.queries.sorted(by: { $0.key.description < $1.key.description }) {
            guard let set = model.container.entitySets.first(where: { model.isType(type, $0.type) })?.name else {
                throw .package(
                    place: type.description, reason: "It has object queries but no entity set. Add the type to a set.")
            }
            for query in queries {
                let place = "\(type)/\(query.name)"
                for parameter in query.parameters { try check(parameter, of: type, in: place) }
                let path = model.entitySet(set)?.type == type ? set : "\(set)/\(type)"
                try check(query.text, query.parameters, over: path, in: place)
            }
        }
        for schema in model.schemas + model.includedSchemas {
            for operation in schema.operations where operation.kind == .action { try check(operation) }
        }
        return package
    }

    private func check(
        _ parameter: PackageModel.Parameter, of type: QualifiedName, in place: String
    ) throws(GeneratorError) {
        if let text = parameter.defaultValue, (try? ODataValue(lexical: text, type: parameter.type)) == nil {
            throw .package(
                place: place,
                reason: "The default \(text) of the parameter \(parameter.name) is no \(parameter.type.rawValue).")
        }
        guard let attribute = parameter.attribute else { return }
        guard let found = model.property(attribute, of: type) else {
            throw .package(
                place: place,
                reason: "The parameter \(parameter.name) names the property \(attribute), which \(type) does not have.")
        }
        try requireEqual(parameter, found.type, attribute: attribute, in: place)
    }

    private func requireEqual(
        _ parameter: PackageModel.Parameter, _ type: TypeReference, attribute: String, in place: String
    ) throws(GeneratorError) {
        guard let primitive = type.primitive, primitive != parameter.type else { return }
        throw .package(
            place: place,
            reason:
                "The parameter \(parameter.name) is \(parameter.type.rawValue), but \(attribute) is \(primitive.rawValue). Give the parameter the type of the property."
        )
    }

    /// Binds the text of a query, with a sample for each parameter.
    private func check(
        _ text: String, _ parameters: [PackageModel.Parameter], over path: String, in place: String
    ) throws(GeneratorError) {
        var shape: TypeShape?
        var url = ODataURL()
        do throws(QueryError) {
            url = try ODataURL(parsing: "\(path)?\(text)")
        } catch {
            throw .package(place: place, reason: "The query \(text) cannot be used: \(error)")
        }
        let used = url.descendants.compactMap { expression in
            if case .alias(let name) = expression { name.text } else { nil }
        }
        let known = Set(parameters.map(\.name)).union(url.options.aliases.keys)
        if let name = used.first(where: { !known.contains($0) }) {
            throw .package(
                place: place, reason: "The query \(text) uses the parameter \(name), which is not declared.")
        }
        for parameter in parameters {
            url.options.aliases[parameter.name] = Self.sample(parameter.type).expression
        }
        do throws(QueryError) {
            if case .entities(let found, _) = try Binder(model: model).bind(url).resource.target { shape = found }
        } catch {
            throw .package(place: place, reason: "The query \(text) cannot be used: \(error)")
        }
        if let option = url.options.custom.first {
            throw .package(place: place, reason: "The query \(text) has the unknown option \(option.name).")
        }
        guard let shape, let filter = url.options.filter else { return }
        for (attribute, name) in Self.comparisons(in: filter) {
            guard let parameter = parameters.first(where: { $0.name == name }),
                let property = model.property(attribute, of: shape.name)
            else { continue }
            try requireEqual(parameter, property.type, attribute: attribute, in: place)
        }
    }

    /// A value of a type, with which a query is bound.
    private static func sample(_ type: PrimitiveType) -> QueryExpression {
        let text =
            switch type {
            case .binary: ""
            case .boolean: "true"
            case .date: "2000-01-01"
            case .dateTime: "2000-01-01T00:00:00"
            case .dateTimeOffset: "2000-01-01T00:00:00Z"
            case .duration, .time: "PT1S"
            case .guid: "00000000-0000-0000-0000-000000000000"
            case .string: "a"
            case .timeOfDay: "00:00:00"
            default: "1"
            }
        return (try? ODataValue(lexical: text, type: type)).map(QueryExpression.value) ?? .value(.null)
    }

    /// The attributes that a condition compares with parameters.
    private static func comparisons(in expression: CommonExpression) -> [(attribute: String, parameter: String)] {
        var found: [(String, String)] = []
        for expression in [expression] + expression.descendants {
            guard case .binary(_, let left, let right) = expression else { continue }
            for (path, other) in [(left, right), (right, left)] {
                guard case .alias(let name) = other, case .path(let steps) = path else { continue }
                let names = steps.compactMap { step in
                    if case .name(let name) = step { name.text } else { nil }
                }
                if names.count == steps.count { found.append((names.joined(separator: "/"), name.text)) }
            }
        }
        return found
    }

    /// Checks that the role of an action is about a type, and that it maps parameters to attributes of their types.
    private func check(_ operation: ODataOperation) throws(GeneratorError) {
        let role = PackageModel.role(of: operation)
        let place = operation.name.description
        guard role.kind != .other else { return }
        guard let type = PackageModel.roleType(of: operation) else {
            let remedy =
                role.kind == .create
                ? "Bind it to a collection of entities, or let it return one." : "Bind it to an entity."
            throw .package(
                place: place, reason: "Its role is \(role.kind.rawValue), but it has no entity type. \(remedy)")
        }
        for (parameter, attribute) in role.mapping.sorted(by: { $0.key < $1.key }) {
            guard let found = operation.parameters.first(where: { $0.name == parameter }) else {
                throw .package(
                    place: place, reason: "Its role maps the parameter \(parameter), which it does not have.")
            }
            guard let property = model.property(attribute, of: type) else {
                throw .package(
                    place: place, reason: "Its role maps \(parameter) to \(attribute), which \(type) does not have.")
            }
            guard property.type == found.type else {
                throw .package(
                    place: place,
                    reason:
                        "Its role maps \(parameter), which is \(found.type), to \(attribute), which is \(property.type)."
                )
            }
        }
    }
}

extension PackageModel {
    /// A configuration with the sets of the groups that it names.
    func choosing(_ configuration: GeneratorConfiguration) -> GeneratorConfiguration {
        guard let groups = configuration.groups else { return configuration }
        var result = configuration
        let chosen = sets.values.filter { groups.contains($0.group) }.map(\.name)
        result.sets = Swift.Set(chosen).union(configuration.sets ?? []).sorted()
        return result
    }
}
