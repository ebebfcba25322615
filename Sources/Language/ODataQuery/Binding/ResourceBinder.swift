import ODataModel

/// Resolves a resource path segment by segment (OData URL Conventions 4.01, 4).
struct ResourceBinder {
    let session: BindingSession
    // Only the required options are stored, since a copy of all of them would update two dozen reference counts.
    /// The `$id` option.
    let id: String?
    /// The values of aliases by name without `@`.
    let aliases: [String: CommonExpression]
    /// The custom query options, which can be parameters in V2.
    let custom: [QueryOptions.CustomOption]
    var model: EntityDataModel { session.model }

    /// A resource that the path has reached.
    enum Place {
        case root
        case entities(TypeShape, set: EntitySet?)
        case entity(TypeShape, set: EntitySet?)
        /// A structural property with its declaring shape; `inner` is the shape of complex values.
        case property(Property, of: TypeShape, inner: TypeShape?)
        /// A resource that no segment can follow.
        case end(BoundResource.Target)
        /// The result of an operation other than an entity.
        case result(ODataOperation)
    }

    var place = Place.root
    var steps: [BoundSegment] = []
    /// The name of the entity set or singleton that the last entity belongs to.
    var source: String?
    /// The complex properties and casts after the last entity.
    var prefix: [String] = []
    /// The navigation property that led to the current place, for `$ref`.
    var navigation: NavigationProperty?
    /// The values of a compound key that were read from earlier segments.
    private var pending: [ODataValue] = []

    init(session: BindingSession, options: QueryOptions) {
        self.session = session
        id = options.id
        aliases = options.aliases
        custom = options.custom
    }

    mutating func bind(_ path: ResourcePath) throws(QueryError) -> BoundResource {
        for segment in path.segments { try step(segment) }
        guard pending.isEmpty else { throw incompleteKey(at: nil) }
        if isLinks, case .entity = place { throw misplaced("$links", "a navigation property after it") }
        let target: BoundResource.Target
        switch place {
        case .root: target = .service
        case .entities(let shape, let set): target = .entities(shape, set: set)
        case .entity(let shape, let set): target = .entity(shape, set: set)
        case .property(let property, let shape, _): target = .property(property, of: shape)
        case .end(let end): target = end
        case .result(let operation): target = .operation(operation)
        }
        return BoundResource(steps: steps, target: target)
    }

    // MARK: Segments

    private mutating func step(_ segment: PathSegment) throws(QueryError) {
        guard !isEnded else { throw QueryError(.syntax, "Nothing can follow $query.", part: "path") }
        if !pending.isEmpty {
            guard let (text, offset) = segment.keyText else { throw incompleteKey(at: nil) }
            return try keySegment(text, at: offset)
        }
        switch segment {
        case .name(let name, let arguments): try step(name, arguments)
        case .key(let key): try apply(key, at: nil)
        case .literal(let text):
            if case .property(let property, _, _) = place, property.type.isCollection, Int(text.text) != nil {
                throw session.unsupported("An index into a collection", at: text.offset)
            }
            try keySegment(text.text, at: text.offset)
        case .metadata: try system(.metadata, "$metadata")
        case .batch: try system(.batch, "$batch")
        case .entity: try entityByID()
        case .all:
            if case .end(.all) = place { throw misplaced("$all", "the service root") }
            try system(.all, "$all")
        case .crossJoin(let names): try crossJoin(names)
        // The options are in the body of the request, and the reader of the request adds them to the URL.
        case .query: isEnded = true
        case .count: try count()
        case .value: try value()
        case .reference: try reference()
        case .links:
            guard case .entity = place else { throw misplaced("$links", "one entity") }
            isLinks = true
        case .each:
            guard case .entities = place else { throw misplaced("$each", "a collection of entities") }
            steps.append(.each)
        case .filter(let condition): try filter(condition)
        }
    }

    /// Whether `$query` came before.
    private var isEnded = false

    /// Resolves `$crossjoin(…)` (4.15), whose rows have one entity of each set.
    private mutating func crossJoin(_ names: [Identifier]) throws(QueryError) {
        guard case .root = place else { throw misplaced("$crossjoin", "the service root") }
        var sets: [EntitySet] = []
        var navigation: [NavigationProperty] = []
        for name in names {
            guard let set = model.entitySet(name.text) else {
                throw QueryError(
                    .unknownName, "The service has no entity set \(name).", offset: name.offset,
                    suggestions: nearest(to: name.text, among: model.container.entitySets.map(\.name)))
            }
            guard !sets.contains(where: { $0.name == set.name }) else {
                throw QueryError(.syntax, "\(name) is joined twice.", offset: name.offset)
            }
            sets.append(set)
            navigation.append(
                NavigationProperty(name: set.name, target: set.type, isCollection: false, isNullable: false))
        }
        let shape = TypeShape(
            dynamic: QualifiedName("Edm", "ComplexType"), properties: [], navigationProperties: navigation)
        place = .end(.crossJoin(sets, shape))
    }

    /// Whether `$links` of V2 and V3 came before. The navigation property after it is addressed by reference.
    private var isLinks = false

    private mutating func system(_ target: BoundResource.Target, _ name: String) throws(QueryError) {
        guard case .root = place, steps.isEmpty else { throw misplaced(name, "the service root") }
        place = .end(target)
    }

    private mutating func entityByID() throws(QueryError) {
        guard case .root = place else { throw misplaced("$entity", "the service root") }
        guard id != nil else {
            throw QueryError(.syntax, "$entity needs the query option $id.", part: "path")
        }
        place = .end(.entityByID)
    }

    func misplaced(_ segment: String, _ wanted: String) -> QueryError {
        QueryError(.syntax, "\(segment) is for \(wanted), not for \(current).", part: "path")
    }

    /// The place in words, for messages.
    var current: String {
        switch place {
        case .root: "the service root"
        case .entities(let shape, _): "a collection of \(shape.name)"
        case .entity(let shape, _): "one \(shape.name)"
        case .property(let property, let shape, _): "the property \(property.name) of \(shape.name)"
        case .end: "the end of a path"
        case .result(let operation): "the result of \(operation.name)"
        }
    }

    private mutating func step(_ name: Identifier, _ arguments: PathArguments) throws(QueryError) {
        switch place {
        case .root: try root(name, arguments)
        case .entities(let shape, let set):
            if try castOrCall(name, arguments, shape: shape, set: set, isCollection: true) { return }
            // A name without parentheses may be a key, as in Customers/ALFKI.
            guard case .none = arguments, !name.text.contains("."), !shape.key.isEmpty else {
                throw QueryError(
                    .unknownName,
                    "\(name) is no type derived from \(shape.name) and no operation bound to a collection of it.",
                    offset: name.offset)
            }
            try keySegment(name.text, at: name.offset)
        case .entity(let shape, let set): try member(name, arguments, of: shape, set: set)
        case .property(let property, _, let inner?) where !property.type.isCollection:
            try member(name, arguments, of: inner, set: nil)
        case .property(let property, _, let inner):
            if let inner,
                try castOrCall(name, arguments, shape: inner, set: nil, isCollection: property.type.isCollection)
            {
                return
            }
            throw QueryError(.unknownName, "Nothing named \(name) can follow \(current).", offset: name.offset)
        case .end(.all):
            guard let shape = session.shape(named: name.text), shape.kind == .entity else {
                throw QueryError(.unknownName, "The model has no entity type \(name).", offset: name.offset)
            }
            steps.append(.cast(shape))
        case .end(.entityByID):
            guard let shape = session.shape(named: name.text), shape.kind == .entity else {
                throw QueryError(.unknownName, "The model has no entity type \(name).", offset: name.offset)
            }
            steps.append(.cast(shape))
        case .result(let operation):
            guard operation.isComposable, let type = operation.returnType, !type.isCollection,
                let inner = session.shape(of: type)
            else { throw QueryError(.unknownName, "Nothing can follow \(current).", offset: name.offset) }
            try member(name, arguments, of: inner, set: nil)
        case .end:
            throw QueryError(.unknownName, "Nothing can follow \(current).", offset: name.offset)
        }
    }

    // MARK: Root

    private mutating func root(_ name: Identifier, _ arguments: PathArguments) throws(QueryError) {
        if let set = model.entitySet(name.text), let shape = model.shape(set.type) {
            steps.append(.entitySet(set, shape))
            place = .entities(shape, set: set)
            source = set.name
            return try key(in: arguments, at: name.offset)
        }
        if let singleton = model.singleton(name.text), let shape = model.shape(singleton.type) {
            guard case .none = arguments else {
                throw QueryError(.syntax, "The singleton \(name) has no key.", offset: name.offset)
            }
            steps.append(.singleton(singleton, shape))
            place = .entity(shape, set: nil)
            source = singleton.name
            return
        }
        let imports = model.operationImports(name.text)
        guard !imports.isEmpty else {
            if name.text.hasPrefix("$") {
                throw session.unsupported("The reference \(name) outside of a batch", at: name.offset)
            }
            let container = model.container
            let names =
                container.entitySets.map(\.name) + container.singletons.map(\.name)
                + container.operationImports.map(\.name)
            throw QueryError(
                .unknownName, "The service has no entity set, singleton or operation \(name).", offset: name.offset,
                suggestions: nearest(to: name.text, among: names))
        }
        var overloads: [(ODataOperation, EntitySet?)] = []
        for next in imports {
            let set = next.entitySet.flatMap { model.entitySet($0) }
            for operation in model.operations(next.operation) where !operation.isBound && operation.kind == next.kind {
                overloads.append((operation, set))
            }
        }
        try call(name, arguments, among: overloads)
    }

    // MARK: Members

    private mutating func member(
        _ name: Identifier, _ arguments: PathArguments, of shape: TypeShape, set: EntitySet?
    ) throws(QueryError) {
        if let ordinal = shape.ordinal(of: name.text) {
            guard case .none = arguments else {
                throw QueryError(.syntax, "The property \(name) takes nothing in parentheses.", offset: name.offset)
            }
            let property = shape.properties[ordinal]
            steps.append(.property(property, ordinal: ordinal, of: shape))
            place = .property(property, of: shape, inner: session.shape(of: property.type.element))
            prefix.append(name.text)
            return
        }
        if let next = shape.navigationProperty(name.text) {
            guard let target = session.shape(next.target) else {
                throw QueryError(.unknownName, "The model has no type \(next.target).", offset: name.offset)
            }
            let leadsTo =
                next.isContainment
                ? nil : source.flatMap { session.targetSet(of: next, source: $0, prefix: prefix) }
            steps.append(.navigation(next, set: leadsTo, target))
            navigation = next
            source = leadsTo?.name
            prefix = []
            place = next.isCollection ? .entities(target, set: leadsTo) : .entity(target, set: leadsTo)
            try key(in: arguments, at: name.offset)
            if isLinks { try reference() }
            return
        }
        if try castOrCall(name, arguments, shape: shape, set: set, isCollection: false) { return }
        guard !shape.isOpen else {
            throw session.unsupported("The dynamic property \(name) by itself", at: name.offset)
        }
        throw session.unknownProperty(name, of: shape)
    }

    /// Resolves a cast or a bound operation; returns `false` if the name is neither.
    private mutating func castOrCall(
        _ name: Identifier, _ arguments: PathArguments, shape: TypeShape, set: EntitySet?, isCollection: Bool
    ) throws(QueryError) -> Bool {
        if let target = try session.cast(from: shape, to: name) {
            steps.append(.cast(target))
            prefix.append(target.name.description)
            switch place {
            case .entities: place = .entities(target, set: set)
            case .entity: place = .entity(target, set: set)
            case .property(let property, let owner, _): place = .property(property, of: owner, inner: target)
            default: break
            }
            try key(in: arguments, at: name.offset)
            return true
        }
        var overloads: [(ODataOperation, EntitySet?)] = []
        for candidate in session.qualified(name.text) {
            for operation in model.operations(candidate) where operation.isBound {
                guard let binding = operation.parameters.first?.type, binding.isCollection == isCollection,
                    let type = session.shape(of: binding.element), model.isType(shape.name, type.name)
                else { continue }
                overloads.append((operation, resultSet(of: operation, set: set)))
            }
        }
        guard !overloads.isEmpty else {
            // An operation bound to one member could be applied to each (OData Protocol 4.01, 11.5.2).
            guard steps.last == .each, isBound(name, to: shape) else { return false }
            throw session.unsupported("An operation on each member of a collection", at: name.offset)
        }
        try call(name, arguments, among: overloads)
        return true
    }

    /// Returns whether an operation with a name is bound to one entity of a type.
    private func isBound(_ name: Identifier, to shape: TypeShape) -> Bool {
        session.qualified(name.text).flatMap { model.operations($0) }.contains { operation in
            guard operation.isBound, case .entity(let type?)? = operation.parameters.first?.type else { return false }
            return model.isType(shape.name, type)
        }
    }

    /// Returns the entity set of a bound operation's result, by its entity set path.
    private func resultSet(of operation: ODataOperation, set: EntitySet?) -> EntitySet? {
        guard let path = operation.entitySetPath, let set else { return nil }
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count > 1 else { return set }
        guard let target = session.shape(of: operation.returnType?.element ?? .untyped(""))?.name else { return nil }
        return model.targetSet(of: set.name, path: parts.dropFirst().joined(separator: "/"), target: target)
    }

    // MARK: System segments

    private mutating func count() throws(QueryError) {
        switch place {
        case .entities(let shape, let set): place = .end(.count(shape, set: set))
        case .property(let property, _, let inner) where property.type.isCollection:
            let none = TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
            place = .end(.count(inner ?? none, set: nil))
        case .result(let operation) where operation.isComposable && operation.returnType?.isCollection == true:
            let none = TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
            place = .end(.count(operation.returnType.flatMap { session.shape(of: $0.element) } ?? none, set: nil))
        default: throw misplaced("$count", "a collection")
        }
    }

    private mutating func value() throws(QueryError) {
        switch place {
        case .property(let property, _, nil) where !property.type.isCollection:
            place = .end(.rawValue(property))
        case .entity(let shape, _) where shape.hasStream: place = .end(.rawValue(nil))
        case .result(let operation):
            // The result of a function has a raw value like a property (URL Conventions 4.01, 4.7).
            guard operation.isComposable, let type = operation.returnType, !type.isCollection,
                session.shape(of: type) == nil
            else { throw misplaced("$value", "a primitive property or a media entity") }
            place = .end(.rawValue(Property(name: operation.name.name, type: type)))
        default: throw misplaced("$value", "a primitive property or a media entity")
        }
    }

    private mutating func reference() throws(QueryError) {
        switch place {
        case .entities(let shape, let set):
            place = .end(.references(navigation, shape, set: set, isCollection: true))
        case .entity(let shape, let set):
            place = .end(.references(navigation, shape, set: set, isCollection: false))
        default: throw misplaced("$ref", "entities")
        }
    }

    private mutating func filter(_ condition: CommonExpression) throws(QueryError) {
        guard case .entities(let shape, _) = place else { throw misplaced("$filter", "a collection of entities") }
        let scope = Scope(shape: shape, source: source)
        let bound: BoundExpression
        do throws(QueryError) {
            bound = try session.condition(condition, in: scope)
        } catch {
            guard error.kind == .unknownName else { throw error }
            // The resource exists, but its condition is wrong.
            throw QueryError(.type, error.message, offset: error.offset, suggestions: error.suggestions)
        }
        steps.append(.filter(bound, scope.current))
    }

    // MARK: Keys

    private mutating func key(in arguments: PathArguments, at offset: Int?) throws(QueryError) {
        switch arguments {
        case .none: return
        case .empty: throw QueryError(.syntax, "Expected a key within the parentheses.", offset: offset)
        case .key(let key): try apply(key, at: offset)
        case .named(let parts): try apply(.compound(parts), at: offset)
        }
    }

    private mutating func apply(_ key: KeyPredicate, at offset: Int?) throws(QueryError) {
        guard case .entities(let shape, let set) = place else {
            throw QueryError(.syntax, "A key is for a collection of entities, not for \(current).", offset: offset)
        }
        let key = completed(key, of: shape)
        if let alternate = try session.alternateKey(key, of: shape, set: set, at: offset) {
            steps.append(.alternateKey(alternate.key, alternate.condition, alternate.variable))
        } else {
            steps.append(.key(try session.key(key, of: shape, at: offset)))
        }
        place = .entity(shape, set: set)
    }

    /// Completes a key with values that a referential constraint takes from the key of the preceding entity (OData
    /// URL Conventions 4.01, 4.3.4).
    private func completed(_ key: KeyPredicate, of shape: TypeShape) -> KeyPredicate {
        let given = impliedKey(of: shape).map {
            CommonExpression.NamedArgument(name: Identifier($0.name), value: .literal(Literal($0.value)))
        }
        guard !given.isEmpty else { return key }
        switch key {
        case .compound(let parts):
            let missing = given.filter { argument in !parts.contains { $0.name.text == argument.name.text } }
            return .compound(parts + missing)
        case .single(let value):
            let rest = shape.key.filter { part in !given.contains { $0.name.text == part.name } }
            guard shape.key.count > 1, rest.count == 1 else { return key }
            return .compound([.init(name: Identifier(rest[0].name), value: value)] + given)
        }
    }

    /// Returns the key values that a referential constraint takes from the key of the preceding entity.
    private func impliedKey(of shape: TypeShape) -> [EntityKey.Part] {
        guard case .navigation(let navigation, _, _)? = steps.last, steps.count > 1,
            case .key(let owner) = steps[steps.count - 2], let partner = navigation.partner,
            let constraints = shape.navigationProperty(partner)?.constraints
        else { return [] }
        return constraints.compactMap { constraint in
            guard let part = shape.key.first(where: { $0.path == constraint.property }),
                let value = owner[constraint.referencedProperty]
            else { return nil }
            return EntityKey.Part(name: part.name, value: value)
        }
    }

    /// Resolves a key value in a path segment (4.3.6 *Key-as-Segment*). A compound key needs one segment for each
    /// part that no referential constraint implies.
    private mutating func keySegment(_ text: String, at offset: Int?) throws(QueryError) {
        guard case .entities(let shape, let set) = place, !shape.key.isEmpty else {
            throw QueryError(
                .syntax, "\u{201C}\(text)\u{201D} cannot follow \(current).", offset: offset,
                suggestions: text.hasPrefix("$") ? nearest(to: text, among: PathSegment.systemNames) : [])
        }
        var implied = impliedKey(of: shape)
        // At least one part must be in the path.
        if implied.count == shape.key.count { implied = [] }
        let asked = shape.key.filter { part in !implied.contains { $0.name == part.name } }
        pending.append(try session.keyValue(text, for: asked[pending.count], of: shape, at: offset))
        guard pending.count == asked.count else { return }
        let given = zip(asked, pending).map { EntityKey.Part(name: $0.name, value: $1) } + implied
        pending = []
        steps.append(.key(EntityKey(shape.key.compactMap { part in given.first { $0.name == part.name } })))
        place = .entity(shape, set: set)
    }

    private func incompleteKey(at offset: Int?) -> QueryError {
        guard case .entities(let shape, _) = place else {
            return session.typeError("The key is incomplete.", at: offset)
        }
        return session.typeError("The key is incomplete: expected \(session.describeKey(of: shape)).", at: offset)
    }
}

extension PathSegment {
    /// The text of a segment that may be a key value.
    fileprivate var keyText: (String, Int?)? {
        switch self {
        case .name(let name, .none): (name.text, name.offset)
        case .literal(let text): (text.text, text.offset)
        default: nil
        }
    }
}
