import ODataModel

/// Binding of operation calls in a path, and of the query over the addressed rows.
extension ResourceBinder {
    /// Resolves a call of an overloaded operation. The names of the given parameters select the overload (OData
    /// Protocol 4.01, 11.5.4.1).
    mutating func call(
        _ name: Identifier, _ arguments: PathArguments, among overloads: [(ODataOperation, EntitySet?)]
    ) throws(QueryError) {
        let given: [CommonExpression.NamedArgument]?
        var following: KeyPredicate?
        switch arguments {
        case .none: given = nil
        case .empty: given = []
        case .named(let named): given = named
        case .key(let key):
            given = []
            following = key
        }
        var chosen: (operation: ODataOperation, set: EntitySet?, arguments: [CommonExpression.NamedArgument])?
        for (operation, set) in overloads {
            let parameters = operation.parameters.dropFirst(operation.isBound ? 1 : 0)
            if operation.kind == .action {
                guard given == nil || given == [] else { continue }
                chosen = (operation, set, [])
                break
            }
            // Without parentheses, the parameters are query options: with @ in 4.01, without in V2.
            let values = given ?? implicitArguments(for: parameters)
            let names = Set(values.map(\.name.text))
            if names == Set(parameters.map(\.name)) {
                // Among overloads whose parameters are all query options, the one with the most parameters is
                // chosen.
                if given == nil, let chosen, chosen.arguments.count >= values.count { continue }
                chosen = (operation, set, values)
                if given == nil { continue }
                break
            }
            // An overload with exactly these parameters takes precedence over one with optional parameters
            // (11.5.4.1.1).
            if chosen == nil, names.isSubset(of: parameters.map(\.name)),
                parameters.allSatisfy({ names.contains($0.name) || $0.mayBeLeftOut })
            {
                chosen = (operation, set, values)
            }
        }
        guard let chosen else {
            let signatures = overloads.map { operation, _ in
                let names = operation.parameters.dropFirst(operation.isBound ? 1 : 0).map(\.name)
                return "\(name)(\(names.joined(separator: ",")))"
            }
            throw QueryError(
                .unknownName,
                "No overload of \(name) takes these parameters; expected \(signatures.joined(separator: " or ")).",
                offset: name.offset)
        }
        var bound: [String: BoundExpression] = [:]
        for argument in chosen.arguments {
            guard let parameter = chosen.operation.parameters.first(where: { $0.name == argument.name.text }) else {
                continue
            }
            bound[parameter.name] = try value(argument, for: parameter)
        }
        steps.append(.operation(chosen.operation, bound))
        arrive(from: chosen.operation, set: chosen.set)
        if let following {
            guard case .entities(let shape, let set) = place else {
                throw QueryError(.syntax, "\(name) takes parameters with their names.", offset: name.offset)
            }
            steps.append(.key(try session.key(following, of: shape, at: name.offset)))
            place = .entity(shape, set: set)
        }
    }

    private func implicitArguments(for parameters: ArraySlice<ODataOperation.Parameter>) -> [CommonExpression
        .NamedArgument]
    {
        var values: [CommonExpression.NamedArgument] = []
        for parameter in parameters {
            if aliases[parameter.name] != nil {
                values.append(.init(name: Identifier(parameter.name), value: .alias(Identifier(parameter.name))))
            } else if let option = custom.first(where: { $0.name == parameter.name }),
                let value = try? CommonExpression(parsing: option.value, options: ParsingOptions(dialect: .v2))
            {
                values.append(.init(name: Identifier(parameter.name), value: value))
            }
        }
        return values
    }

    private func value(
        _ argument: CommonExpression.NamedArgument, for parameter: ODataOperation.Parameter
    ) throws(QueryError) -> BoundExpression {
        var empty = Scope(shape: TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: []), source: nil)
        empty.it = nil
        let bound = try session.bind(resolving(argument.value), expecting: parameter.type, in: empty)
        guard let converted = session.adapted(bound, to: parameter.type) else {
            throw session.typeError(
                "The parameter \(parameter.name) is of type \(parameter.type), not \(bound.type).",
                at: argument.value.offset ?? argument.name.offset)
        }
        return converted
    }

    /// Returns the JSON value of an alias, so that it is read with the type of the parameter.
    private func resolving(_ value: CommonExpression) -> CommonExpression {
        guard case .alias(let name) = value, let json = aliases[name.text], case .json = json else {
            return value
        }
        return json
    }

    /// Moves the place to the result of an operation.
    private mutating func arrive(from operation: ODataOperation, set: EntitySet?) {
        navigation = nil
        prefix = []
        source = set?.name
        guard let type = operation.returnType, case .entity(let name?) = type.element, let shape = model.shape(name)
        else {
            place = .result(operation)
            return
        }
        place = type.isCollection ? .entities(shape, set: set) : .entity(shape, set: set)
        // A function that is not composable is addressed as an operation, whatever it returns.
        if !operation.isComposable { place = .result(operation) }
    }

    // MARK: Query

    /// Resolves the query over the addressed rows; `nil` if the target does not consist of rows.
    func query(
        for target: BoundResource.Target, _ options: QueryOptions
    ) throws(QueryError) -> BoundQuery? {
        try refuseID(target)
        switch target {
        case .entities(let shape, let set):
            return try session.query(options, shape: shape, source: source, set: set)
        case .references(_, let shape, let set, isCollection: true):
            try refuse(shaping(options), "references")
            return try session.query(options, shape: shape, source: source, set: set)
        case .count(let shape, let set):
            // A delta link contains the options of its query and may be followed by `/$count` (OData Protocol 4.01,
            // 11.3.2).
            if options.deltaToken == nil {
                try refuse([("$select", !options.select.isEmpty), ("$expand", !options.expand.isEmpty)], "a count")
            }
            return try session.query(options, shape: shape, source: source, set: set)
        case .entity(let shape, let set):
            try refuseCollectionOptions(options, "a single entity")
            return try session.query(options, shape: shape, source: source, set: set)
        case .references(_, let shape, let set, isCollection: false):
            try refuse(shaping(options), "a reference")
            try refuseCollectionOptions(options, "a reference")
            return try session.query(options, shape: shape, source: source, set: set)
        case .property(let property, _):
            if let shape = session.shape(of: property.type.element) {
                if !property.type.isCollection { try refuseCollectionOptions(options, "a single value") }
                return try session.query(options, shape: shape, source: nil, set: nil)
            }
            guard property.type.isCollection else {
                try refuseAllOptions(options, "a single value")
                return nil
            }
            let isAsked =
                options.filter != nil || !options.orderBy.isEmpty || options.top != nil || options.skip != nil
                || options.count == true || options.search != nil || !options.apply.isEmpty || !options.compute.isEmpty
            return isAsked ? try session.query(overMembersOf: property.type.element, options) : nil
        case .operation(let operation):
            guard let type = operation.returnType, let shape = session.shape(of: type.element) else {
                if operation.returnType?.isCollection == false { try refuseAllOptions(options, "a single value") }
                return nil
            }
            if !type.isCollection { try refuseCollectionOptions(options, "a single value") }
            return try session.query(options, shape: shape, source: source, set: source.flatMap { model.entitySet($0) })
        case .entityByID:
            guard case .cast(let shape)? = steps.last else { return nil }
            return try session.query(options, shape: shape, source: nil, set: nil)
        case .crossJoin(_, let shape): return try session.query(options, shape: shape, source: nil, set: nil)
        case .all:
            if case .cast(let shape)? = steps.last {
                // Entities of a single type have known properties, but an order over several sets is not supported.
                try requireSupported(options, by: "$all", except: ["$filter", "$search", "$top", "$skip", "$count"])
                return try session.query(options, shape: shape, source: nil, set: nil)
            }
            try requireSupported(options, by: "$all", except: ["$search", "$top", "$skip", "$count"])
            let shape = TypeShape(dynamic: QualifiedName("Edm", "EntityType"), properties: [])
            return try session.query(options, shape: shape, source: nil, set: nil)
        case .service:
            try refuseAllOptions(options, "the service document")
            return nil
        case .metadata:
            try refuseAllOptions(options, "the metadata")
            return nil
        case .rawValue:
            try refuseAllOptions(options, "a raw value")
            return nil
        case .batch: return nil
        }
    }

    /// Refuses `$id` except after `$entity` and `$ref`, which it belongs to (OData URL Conventions 4.01, 4.14).
    private func refuseID(_ target: BoundResource.Target) throws(QueryError) {
        guard id != nil else { return }
        switch target {
        case .entityByID, .references: return
        default: try refuse([("$id", true)], "this resource")
        }
    }

    private func refuseCollectionOptions(_ options: QueryOptions, _ target: String) throws(QueryError) {
        try refuse(Self.collectionOptions(options), target)
    }

    /// Refuses options that the standard allows but this implementation does not support on a resource.
    ///
    /// - Throws: ``QueryError`` with kind `unsupported`.
    private func requireSupported(
        _ options: QueryOptions, by target: String, except offered: [String]
    ) throws(QueryError) {
        for (name, isGiven) in Self.collectionOptions(options) where isGiven && !offered.contains(name) {
            throw session.unsupported("\(name) on \(target)", at: nil)
        }
    }

    /// Returns the options that apply only to collections, and whether each is given.
    private static func collectionOptions(_ options: QueryOptions) -> [(String, Bool)] {
        [
            ("$filter", options.filter != nil), ("$orderby", !options.orderBy.isEmpty),
            ("$search", options.search != nil), ("$top", options.top != nil), ("$skip", options.skip != nil),
            ("$count", options.count == true), ("$apply", !options.apply.isEmpty),
        ]
    }

    /// Returns the options that select the properties of an entity, and whether each is given. References have no
    /// properties (OData URL Conventions 4.01, 5.1).
    private func shaping(_ options: QueryOptions) -> [(String, Bool)] {
        [
            ("$select", !options.select.isEmpty), ("$expand", !options.expand.isEmpty),
            ("$apply", !options.apply.isEmpty),
        ]
    }

    /// Refuses all options on a resource without properties.
    private func refuseAllOptions(_ options: QueryOptions, _ target: String) throws(QueryError) {
        try refuseCollectionOptions(options, target)
        try refuse(
            [
                ("$select", !options.select.isEmpty), ("$expand", !options.expand.isEmpty),
                ("$compute", !options.compute.isEmpty),
            ], target)
    }

    private func refuse(_ given: [(String, Bool)], _ target: String) throws(QueryError) {
        for (name, isGiven) in given where isGiven {
            throw QueryError(.syntax, "\(name) cannot be applied to \(target).", part: name)
        }
    }
}
