import ODataModel

/// Resolves resource paths (OData URL Conventions 4.01, 4).
struct ResourceBinder {
    let model: EntityDataModel
    let aliases: [String: Expression]
    private var steps: [BoundSegment] = []
    private var state = State.root

    /// What the segments so far lead to.
    private enum State {
        case root
        case entities(Shape, EntitySet?)
        case entity(Shape, EntitySet?)
        case property(Property, of: Shape)
        case done(BoundResource.Target)
    }

    init(model: EntityDataModel, aliases: [String: Expression]) {
        self.model = model
        self.aliases = aliases
    }

    mutating func bind(_ path: ResourcePath) throws(QueryError) -> BoundResource {
        do throws(QueryError) {
            for segment in path.segments { try bind(segment) }
        } catch {
            throw QueryError(
                error.kind, error.message, offset: error.offset, text: error.text, part: "path",
                suggestions: error.suggestions)
        }
        let target: BoundResource.Target
        switch state {
        case .root: target = .service
        case .entities(let shape, let set): target = .entities(shape, set: set)
        case .entity(let shape, let set): target = .entity(shape, set: set)
        case .property(let property, let shape): target = .property(property, of: shape)
        case .done(let done): target = done
        }
        return BoundResource(steps: steps, target: target)
    }

    private func unsupported(_ feature: String, _ offset: Int? = nil) -> QueryError {
        QueryError(.unsupported(feature: feature), "\(feature) is not supported.", offset: offset)
    }

    private func misplaced(_ name: String) -> QueryError {
        QueryError(.syntax, "\(name) cannot stand here.")
    }

    private mutating func bind(_ segment: PathSegment) throws(QueryError) {
        if case .done = state { throw misplaced("A further segment") }
        switch segment {
        case .name(let name, let arguments): try bind(name, arguments)
        case .literal(let text, let offset): try bind(keySegment: text, offset)
        case .key(let predicate): try bind(predicate, offset: nil)
        case .metadata: try bindRoot(.metadata, "$metadata")
        case .batch: try bindRoot(.batch, "$batch")
        case .entity: try bindRoot(.entityByID, "$entity")
        case .all: throw unsupported("$all")
        case .crossJoin: throw unsupported("$crossjoin")
        case .each: throw unsupported("$each")
        case .query: throw unsupported("$query")
        case .links: throw unsupported("$links")
        case .filter(let condition):
            guard case .entities(let shape, let set) = state else { throw misplaced("$filter") }
            var binder = ExpressionBinder(model: model, aliases: aliases, shape: shape, set: set?.name)
            steps.append(.filter(try binder.bindCondition(condition), binder.instance))
        case .count:
            guard case .entities(let shape, let set) = state else {
                if case .property(let property, _) = state, property.type.isCollection {
                    throw unsupported("$count of a collection of values")
                }
                throw misplaced("$count")
            }
            state = .done(.count(shape, set: set))
        case .value:
            switch state {
            case .property(let property, _): state = .done(.rawValue(property))
            case .entity(let shape, _) where shape.hasStream: state = .done(.rawValue(nil))
            default: throw misplaced("$value")
            }
        case .reference:
            var navigation: NavigationProperty?
            if case .navigation(let last, _, _)? = steps.last(where: \.isNavigation) { navigation = last }
            switch state {
            case .entities(let shape, let set):
                state = .done(.references(navigation, shape, set: set, isCollection: true))
            case .entity(let shape, let set):
                state = .done(.references(navigation, shape, set: set, isCollection: false))
            default: throw misplaced("$ref")
            }
        }
    }

    private mutating func bindRoot(_ target: BoundResource.Target, _ name: String) throws(QueryError) {
        guard case .root = state else { throw misplaced(name) }
        state = .done(target)
    }

    private mutating func bind(_ name: Identifier, _ arguments: PathArguments) throws(QueryError) {
        switch state {
        case .root: try bindFirst(name, arguments)
        case .entities(let shape, let set):
            if name.text.contains("."), let cast = try cast(name, from: shape) {
                steps.append(.cast(cast))
                state = .entities(cast, set)
                try bindKey(arguments, name)
            } else if shape.navigationProperty(name.text) == nil, shape.property(name.text) == nil,
                arguments == .none
            {
                // The key-as-segment convention (4.3.6).
                try bind(keySegment: name.text, name.offset)
            } else {
                throw QueryError(
                    .type, "A collection has no property \(name); give the key of an entity first.",
                    offset: name.offset)
            }
        case .entity(let shape, let set):
            try bindMember(name, arguments, shape, set)
        case .property(let property, _):
            guard case .complex(let type?) = property.type, let shape = model.shape(type) else {
                throw QueryError(.type, "\(property.type) has no property \(name).", offset: name.offset)
            }
            try bindMember(name, arguments, shape, nil)
        case .done: throw misplaced(name.text)
        }
    }

    private mutating func bindFirst(_ name: Identifier, _ arguments: PathArguments) throws(QueryError) {
        if let set = model.entitySet(name.text), let shape = model.shape(set.type) {
            steps.append(.entitySet(set, shape))
            state = .entities(shape, set)
            try bindKey(arguments, name)
        } else if let singleton = model.singleton(name.text), let shape = model.shape(singleton.type) {
            guard arguments == .none else { throw misplaced("A key after a singleton") }
            steps.append(.singleton(singleton, shape))
            state = .entity(shape, nil)
        } else if !model.operationImports(name.text).isEmpty {
            try bindImport(name, arguments)
        } else {
            let container = model.container
            let names = container.entitySets.map(\.name) + container.singletons.map(\.name)
                + container.operationImports.map(\.name)
            throw QueryError(
                .unknownName, "There is no entity set \(name).", offset: name.offset,
                suggestions: nearest(to: name.text, among: names))
        }
    }

    private mutating func bindImport(_ name: Identifier, _ arguments: PathArguments) throws(QueryError) {
        var given: [String: BoundExpression] = [:]
        var binder = ExpressionBinder(
            model: model, aliases: aliases, shape: Shape(dynamic: QualifiedName("$", "root"), properties: []), set: nil)
        switch arguments {
        case .none, .empty: break
        case .named(let named):
            for argument in named { given[argument.name.text] = try binder.bind(argument.value) }
        case .key(.compound(let named)):
            for argument in named { given[argument.name.text] = try binder.bind(argument.value) }
        case .key(.single): throw unsupported("parameters without names", name.offset)
        }
        let imports = model.operationImports(name.text)
        let overloads = imports.flatMap { model.operations($0.operation) }.filter { !$0.isBound }
        guard
            let operation = overloads.first(where: { Set($0.parameters.map(\.name)) == Set(given.keys) })
                ?? overloads.first(where: { $0.kind == .action })
        else {
            let wanted = overloads.map { "(" + $0.parameters.map(\.name).joined(separator: ",") + ")" }
            throw QueryError(
                .unknownName, "\(name) takes the parameters \(wanted.joined(separator: " or ")).", offset: name.offset)
        }
        for parameter in operation.parameters {
            guard let value = given[parameter.name] else { continue }
            given[parameter.name] = try Promotion.convert(
                value, to: parameter.type, model: model, offset: name.offset)
        }
        steps.append(.operation(operation, given))
        state = .done(.operation(operation))
    }

    private mutating func bindMember(
        _ name: Identifier, _ arguments: PathArguments, _ shape: Shape, _ set: EntitySet?
    ) throws(QueryError) {
        if name.text.contains(".") {
            if let cast = try cast(name, from: shape) {
                steps.append(.cast(cast))
                state = .entity(cast, set)
                return
            }
            throw unsupported("the operation \(name)", name.offset)
        }
        if let ordinal = shape.ordinal(of: name.text) {
            guard arguments == .none else { throw misplaced("Parentheses after the property \(name)") }
            let property = shape.properties[ordinal]
            steps.append(.property(property, ordinal: ordinal, of: shape))
            state = .property(property, of: shape)
        } else if let navigation = shape.navigationProperty(name.text), let target = model.shape(navigation.target) {
            let targetSet = set.flatMap {
                model.targetSet(of: $0.name, path: name.text, target: navigation.target)
            }
            steps.append(.navigation(navigation, set: targetSet, target))
            if navigation.isCollection {
                state = .entities(target, targetSet)
                try bindKey(arguments, name)
            } else {
                guard arguments == .none else { throw misplaced("A key after \(name)") }
                state = .entity(target, targetSet)
            }
        } else {
            let names = shape.properties.map(\.name) + shape.navigationProperties.map(\.name)
            throw QueryError(
                .unknownName, "\(shape.name.name) has no property \(name).", offset: name.offset,
                suggestions: nearest(to: name.text, among: names))
        }
    }

    private func cast(_ name: Identifier, from shape: Shape) throws(QueryError) -> Shape? {
        guard let qualified = QualifiedName(name.text), let cast = model.shape(qualified) else { return nil }
        guard model.isType(qualified, shape.name) else {
            throw QueryError(.type, "\(name) does not derive from \(shape.name).", offset: name.offset)
        }
        return cast
    }

    // MARK: Keys

    private mutating func bindKey(_ arguments: PathArguments, _ name: Identifier) throws(QueryError) {
        switch arguments {
        case .none: return
        case .empty: throw QueryError(.syntax, "Expected a key between the parentheses.", offset: name.offset)
        case .key(let predicate): try bind(predicate, offset: name.offset)
        case .named(let named): try bind(.compound(named), offset: name.offset)
        }
    }

    private mutating func bind(_ predicate: KeyPredicate, offset: Int?) throws(QueryError) {
        guard case .entities(let shape, let set) = state else { throw misplaced("A key") }
        let names = shape.key.map(\.name)
        let given: [(Identifier?, Expression)]
        switch predicate {
        case .single(let value):
            guard names.count == 1 else { throw wrongKey(shape, offset) }
            given = [(nil, value)]
        case .compound(let named):
            given = named.map { ($0.name, $0.value) }
            guard Set(named.map(\.name.text)) == Set(names), named.count == names.count else {
                throw wrongKey(shape, named.first?.name.offset ?? offset)
            }
        }
        var binder = ExpressionBinder(model: model, aliases: aliases, shape: shape, set: set?.name)
        var parts: [EntityKey.Part] = []
        for key in shape.key {
            guard let (_, expression) = given.first(where: { $0.0 == nil || $0.0?.text == key.name }) else {
                throw wrongKey(shape, offset)
            }
            guard let property = shape.property(key.path) else { throw unsupported("a key path", offset) }
            let value = try Promotion.convert(
                try binder.bind(expression), to: property.type, model: model, offset: expression.offset ?? offset)
            guard case .constant(let constant, _) = value, !constant.isNull else {
                throw QueryError(.type, "A key is made of values.", offset: expression.offset ?? offset)
            }
            parts.append(EntityKey.Part(name: key.name, value: constant))
        }
        steps.append(.key(EntityKey(parts)))
        state = .entity(shape, set)
    }

    private func wrongKey(_ shape: Shape, _ offset: Int?) -> QueryError {
        let wanted = shape.key.map { key in
            "\(key.name) (\(shape.property(key.path)?.type.description ?? "a path"))"
        }
        return QueryError(
            .type, "The key of \(shape.name.name) is \(wanted.joined(separator: ", ")).", offset: offset)
    }

    private mutating func bind(keySegment text: String, _ offset: Int?) throws(QueryError) {
        guard case .entities(let shape, let set) = state else {
            throw QueryError(.syntax, "\u{201C}\(text.prefix(60))\u{201D} cannot stand here.", offset: offset)
        }
        guard shape.key.count == 1, let key = shape.key.first, let property = shape.property(key.path) else {
            throw wrongKey(shape, offset)
        }
        guard let type = property.type.primitive, let value = try? ODataValue(lexical: text, type: type) else {
            throw QueryError(
                .type, "\u{201C}\(text.prefix(60))\u{201D} is no key of \(shape.name.name): expected \(property.type).",
                offset: offset)
        }
        steps.append(.key(EntityKey(key.name, value)))
        state = .entity(shape, set)
    }
}

extension BoundSegment {
    fileprivate var isNavigation: Bool {
        if case .navigation = self { true } else { false }
    }
}
