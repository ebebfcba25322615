import ODataModel

/// Calls of actions and functions in a path, and the query over what a path addresses.
extension ResourceBinder {
    /// Takes a call of one of several overloads, told apart by the names of the parameters given
    /// (OData Protocol 4.01, 11.5.4.1).
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
            // Without parentheses the parameters are options of the URL, with @ in 4.01 and without in V2.
            let values = given ?? implicitArguments(for: parameters)
            let names = Set(values.map(\.name.text))
            if names == Set(parameters.map(\.name)) {
                // Of the overloads that options of the URL would do for, the one that they all belong to.
                if given == nil, let chosen, chosen.arguments.count >= values.count { continue }
                chosen = (operation, set, values)
                if given == nil { continue }
                break
            }
            // One that takes exactly these parameters goes before one that could take more (11.5.4.1.1).
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

    /// The value that an alias stands for, so that JSON is read with the parameter's type.
    private func resolving(_ value: CommonExpression) -> CommonExpression {
        guard case .alias(let name) = value, let json = aliases[name.text], case .json = json else {
            return value
        }
        return json
    }

    /// Sets the place to what an operation returns.
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
        // What cannot be composed is addressed as an operation, whatever it returns.
        if !operation.isComposable { place = .result(operation) }
    }

    // MARK: Query

    /// The query over what the path addresses; `nil` where that is not made of rows.
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
            // A delta link has the options of its query, and may get `/$count` (OData Protocol 4.01, 11.3.2).
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
                // Entities of one type have properties; an order over several sets is not offered.
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

    /// `$id` says which entity `$entity` or a reference is about, and nothing elsewhere (OData URL Conventions 4.01, 4.14).
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

    /// Refuses options that are allowed on a resource and are not offered there.
    ///
    /// - Throws: ``QueryError`` with kind `unsupported`.
    private func requireSupported(
        _ options: QueryOptions, by target: String, except offered: [String]
    ) throws(QueryError) {
        for (name, isGiven) in Self.collectionOptions(options) where isGiven && !offered.contains(name) {
            throw session.unsupported("\(name) on \(target)", at: nil)
        }
    }

    /// The options that are for collections, and whether they are given.
    private static func collectionOptions(_ options: QueryOptions) -> [(String, Bool)] {
        [
            ("$filter", options.filter != nil), ("$orderby", !options.orderBy.isEmpty),
            ("$search", options.search != nil), ("$top", options.top != nil), ("$skip", options.skip != nil),
            ("$count", options.count == true), ("$apply", !options.apply.isEmpty),
        ]
    }

    /// The options that decide which properties an entity has, and whether they are given: a reference has none
    /// (OData URL Conventions 4.01, 5.1).
    private func shaping(_ options: QueryOptions) -> [(String, Bool)] {
        [
            ("$select", !options.select.isEmpty), ("$expand", !options.expand.isEmpty),
            ("$apply", !options.apply.isEmpty),
        ]
    }

    /// Nothing can be selected, expanded or computed where there are no properties.
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
