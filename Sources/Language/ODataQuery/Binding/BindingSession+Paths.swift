import ODataModel

/// The state of resolving a path.
struct PathState {
    var variable: RangeVariable
    var steps: [BoundStep] = []
    var type: TypeReference
    /// The shape of the current value; `nil` for primitive values.
    var shape: TypeShape?
    /// The entity set or singleton of the last entity on the path; `nil` if it is unknown.
    var source: String?
    /// The complex properties and casts after the last entity, with which the path of a navigation property begins.
    var prefix: [String] = []
    /// The conditions of `$filter(…)` steps on the current collection.
    var filters: [CommonExpression] = []

    var path: BoundPath { BoundPath(variable: variable, steps: steps, type: type) }
    var isCollection: Bool { type.isCollection }
}

/// Binding of paths with properties, casts, lambdas and counts (OData URL Conventions 4.01, 5.1.1.13 and 5.1.1.15).
extension BindingSession {
    /// Resolves a path within an expression.
    func bind(path steps: [PathStep], in scope: Scope) throws(QueryError) -> BoundExpression {
        if let property = ownProperty(steps, in: scope) { return .path(property) }
        var state: PathState
        var rest = steps[...]
        switch steps.first {
        case .variable(let variable)?:
            rest = rest.dropFirst()
            if variable.isAnnotation { return try bind(aliased: variable, rest, in: scope) }
            state = variable.text == "$root" ? try root(&rest, in: scope) : try start(at: variable, in: scope)
        case .name(let name)?:
            if let (variable, source) = scope.variables[name.text] {
                rest = rest.dropFirst()
                state = PathState(variable: variable, type: variable.type, shape: variable.shape, source: source)
            } else if rest.count == 1, let type = scope.computed[name.text] {
                return .path(
                    BoundPath(variable: scope.current, steps: [.computed(name.text, type)], type: type))
            } else {
                state = Self.current(of: scope)
                try requireNoFunction(name, steps, in: state)
            }
        case .call(let name, let arguments)?:
            if let node = try rollupNode(name, arguments, in: scope) {
                rest = rest.dropFirst()
                state = node
            } else if steps.count == 1, let test = try hierarchyTest(name, arguments, in: scope) {
                return test
            } else {
                state = Self.current(of: scope)
            }
        case .count?, .key?, .filter?, .any?, .all?, .aggregate?, nil: state = Self.current(of: scope)
        }
        while let step = rest.first {
            if let (joined, count) = joinedName(rest, in: state) {
                try append(joined, to: &state, in: scope)
                rest = rest.dropFirst(count)
                continue
            }
            rest = rest.dropFirst()
            if let end = try take(step, isLast: rest.isEmpty, &state, in: scope) { return end }
        }
        try flushFilters(&state, in: scope)
        return annotated(state.path) ?? .path(state.path)
    }

    /// Refuses a call of an unknown function with a single argument, which the grammar cannot tell from a key.
    private func requireNoFunction(_ name: Identifier, _ steps: [PathStep], in state: PathState) throws(QueryError) {
        guard steps.count > 1, case .key = steps[1], let shape = state.shape, !shape.isOpen, !state.isCollection,
            !name.text.contains("."), shape.ordinal(of: name.text) == nil, shape.navigationProperty(name.text) == nil
        else { return }
        throw unknownFunction(name)
    }

    /// Resolves a path that is the name of a property of the current instance, the most frequent case, without a
    /// state.
    private func ownProperty(_ steps: [PathStep], in scope: Scope) -> BoundPath? {
        guard steps.count == 1, case .name(let name) = steps[0], !name.isAnnotation, let shape = scope.current.shape,
            scope.variables[name.text] == nil, scope.computed[name.text] == nil, !scope.current.type.isCollection,
            let ordinal = shape.ordinal(of: name.text)
        else { return nil }
        let property = shape.properties[ordinal]
        return BoundPath(
            variable: scope.current, steps: [.property(property, ordinal: ordinal, of: shape)], type: property.type)
    }

    /// Turns pending `$filter(…)` conditions into steps, if no lambda or count consumes them.
    private func flushFilters(_ state: inout PathState, in scope: Scope) throws(QueryError) {
        guard !state.filters.isEmpty else { return }
        let (variable, inner) = memberScope(state, named: nil, in: scope)
        for filter in state.filters { state.steps.append(.filter(try condition(filter, in: inner), variable)) }
        state.filters = []
    }

    /// Returns the value of an annotation that the model declares with a constant or a path; `nil` if the value
    /// depends on the instance.
    private func annotated(_ path: BoundPath) -> BoundExpression? {
        guard case .annotation(let term)? = path.steps.last,
            case .property(let property, _, let owner)? = path.steps.dropLast().last
        else { return nil }
        switch property.annotations.first(where: { $0.written == term })?.value {
        case .constant(let kind, let text)?:
            guard let type = PrimitiveType(annotationKind: kind),
                let value = try? ODataValue(lexical: text, type: type)
            else { return nil }
            return .constant(value, .primitive(type))
        case .path(_, let text)?:
            guard let ordinal = owner.ordinal(of: text) else { return nil }
            var result = path
            result.steps.removeLast(2)
            result.steps.append(.property(owner.properties[ordinal], ordinal: ordinal, of: owner))
            result.type = owner.properties[ordinal].type
            return .path(result)
        default: return nil
        }
    }

    static func current(of scope: Scope) -> PathState {
        PathState(
            variable: scope.current, type: scope.current.type, shape: scope.current.shape, source: scope.source)
    }

    /// Starts a path at an entity set or singleton after `$root`, and removes its name from the rest (5.1.1.14.1).
    private func root(_ rest: inout ArraySlice<PathStep>, in scope: Scope) throws(QueryError) -> PathState {
        let name: Identifier
        var key: KeyPredicate?
        switch rest.popFirst() {
        case .name(let set)?: name = set
        case .call(let set, let parts)?: (name, key) = (set, .compound(parts))
        default: throw typeError("Expected an entity set or a singleton after $root/.", at: nil)
        }
        var state = PathState(variable: scope.current, type: scope.current.type)
        if let set = model.entitySet(name.text), let shape = model.shape(set.type) {
            state.steps = [.entitySet(set, shape)]
            (state.type, state.shape, state.source) = (.collection(.entity(shape.name)), shape, set.name)
            if let key { try append(key, to: &state, at: name.offset) }
            return state
        }
        if let singleton = model.singleton(name.text), let shape = model.shape(singleton.type) {
            state.steps = [.singleton(singleton, shape)]
            (state.type, state.shape, state.source) = (.entity(shape.name), shape, singleton.name)
            return state
        }
        if !model.operationImports(name.text).isEmpty {
            throw unsupported("The operation \(name) after $root", at: name.offset)
        }
        let names = model.container.entitySets.map(\.name) + model.container.singletons.map(\.name)
        throw QueryError(
            .unknownName, "The service has no entity set or singleton \(name).", offset: name.offset,
            suggestions: nearest(to: name.text, among: names))
    }

    /// Appends a key, which selects a member of a collection of entities.
    private func append(_ key: KeyPredicate, to state: inout PathState, at offset: Int?) throws(QueryError) {
        guard state.isCollection, let shape = state.shape, shape.kind == .entity else {
            throw typeError("A key is for a collection of entities, not for a value of type \(state.type).", at: offset)
        }
        state.steps.append(.key(try self.key(key, of: shape, at: offset)))
        state.type = .entity(shape.name)
    }

    private func start(at variable: Identifier, in scope: Scope) throws(QueryError) -> PathState {
        switch variable.text {
        case "$it":
            guard let it = scope.it else { throw unsupported("$it where there are no rows", at: variable.offset) }
            if it.identifier == RangeVariable.outermost { outermostUses += 1 }
            return PathState(variable: it, type: it.type, shape: it.shape, source: scope.itSource)
        case "$this": return Self.current(of: scope)
        case "$these":
            let type = TypeReference.collection(scope.current.type)
            let these = RangeVariable(
                name: "$these", identifier: RangeVariable.these, shape: scope.current.shape, type: type)
            return PathState(variable: these, type: type, shape: these.shape, source: scope.source)
        default: throw unsupported("\(variable.text) in an expression", at: variable.offset)
        }
    }

    /// Resolves `@alias/…`: the value of the alias must be a path, which is continued.
    private func bind(
        aliased variable: Identifier, _ rest: ArraySlice<PathStep>, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        let name = Identifier(String(variable.text.dropFirst()), at: variable.offset)
        return try substituting(name) { value throws(QueryError) in
            guard case .path(let steps)? = value else {
                throw self.typeError("@\(name) does not stand for a path.", at: variable.offset)
            }
            return try self.bind(.path(steps + rest), in: scope)
        }
    }

    // MARK: Names

    /// Joins steps that together name one property of an `$apply` result, in which names may be paths.
    private func joinedName(
        _ steps: ArraySlice<PathStep>, in state: PathState
    ) -> (Identifier, count: Int)? {
        guard let shape = state.shape, shape.kind == .complex, steps.count > 1, case .name(let first)? = steps.first
        else {
            return nil
        }
        var text = ""
        var found: (Identifier, Int)?
        for (index, step) in steps.enumerated() {
            guard case .name(let name) = step else { break }
            text += index == 0 ? name.text : "/" + name.text
            if index > 0, shape.ordinal(of: text) != nil || shape.navigationOrdinal(of: text) != nil {
                found = (Identifier(text, at: first.offset), index + 1)
            }
        }
        return found
    }

    /// Appends a property, a navigation property or a cast.
    func append(_ name: Identifier, to state: inout PathState, in scope: Scope) throws(QueryError) {
        if name.isAnnotation {
            state.steps.append(.annotation(annotationName(name.text)))
            state.type = .untyped("Edm.Untyped")
            state.shape = nil
            return
        }
        guard let shape = state.shape else {
            // The model does not declare the content of annotations and undeclared properties.
            if case .untyped = state.type {
                state.steps.append(.dynamic(name.text))
                return
            }
            throw typeError("A value of type \(state.type) has no property \(name.text).", at: name.offset)
        }
        if state.isCollection {
            // Only a cast is allowed between a collection and its lambda.
            if let target = try cast(from: shape, to: name) {
                return castStep(target, &state)
            }
            throw typeError(
                "\(name.text) needs one instance, not a collection; any, all or $count lead into a collection.",
                at: name.offset)
        }
        if let ordinal = shape.ordinal(of: name.text) {
            let property = shape.properties[ordinal]
            state.steps.append(.property(property, ordinal: ordinal, of: shape))
            state.type = property.type
            state.shape = self.shape(of: property.type.element)
            state.prefix.append(name.text)
            return
        }
        if let navigation = shape.navigationProperty(name.text) {
            let set = targetSet(of: navigation, in: state)
            state.steps.append(.navigation(navigation, of: shape, set: set))
            let entity = TypeReference.entity(navigation.target)
            state.type = navigation.isCollection ? .collection(entity) : entity
            state.shape = self.shape(navigation.target)
            state.source = set?.name
            state.prefix = []
            return
        }
        if let target = try cast(from: shape, to: name) { return castStep(target, &state) }
        if state.steps.isEmpty, state.variable == scope.current, let type = scope.computed[name.text] {
            state.steps.append(.computed(name.text, type))
            state.type = type
            state.shape = self.shape(of: type.element)
            return
        }
        guard shape.isOpen else { throw unknownProperty(name, of: shape, also: scope.computed.keys) }
        state.steps.append(.dynamic(name.text))
        state.type = .untyped("Edm.Untyped")
        state.shape = nil
    }

    private func castStep(_ target: TypeShape, _ state: inout PathState) {
        state.steps.append(.cast(target))
        let type: TypeReference = target.kind == .entity ? .entity(target.name) : .complex(target.name)
        state.type = state.isCollection ? .collection(type) : type
        state.shape = target
        state.prefix.append(target.name.description)
    }

    /// Returns the target set of a navigation property; `nil` for contained entities, which belong to no set.
    func targetSet(of navigation: NavigationProperty, in state: PathState) -> EntitySet? {
        guard !navigation.isContainment, let source = state.source else { return nil }
        return targetSet(of: navigation, source: source, prefix: state.prefix)
    }

    func targetSet(of navigation: NavigationProperty, source: String, prefix: [String]) -> EntitySet? {
        if prefix.isEmpty { return model.targetSet(of: source, path: navigation.name, target: navigation.target) }
        let path = (prefix + [navigation.name]).joined(separator: "/")
        // Bindings may omit the casts of the path.
        let plain = (prefix.filter { !$0.contains(".") } + [navigation.name]).joined(separator: "/")
        let bindings = model.entitySet(source)?.bindings ?? model.singleton(source)?.bindings ?? []
        let isBound = bindings.contains { $0.path == path }
        return model.targetSet(of: source, path: isBound ? path : plain, target: navigation.target)
    }

    // MARK: Collections

    /// Appends a step; returns an expression if the step ends the path.
    private func take(
        _ step: PathStep, isLast: Bool, _ state: inout PathState, in scope: Scope
    ) throws(QueryError) -> BoundExpression? {
        switch step {
        case .name(let name):
            try append(name, to: &state, in: scope)
            return nil
        case .variable(let name): throw unsupported("\(name.text) within a path", at: name.offset)
        case .call(let name, let arguments):
            return try take(name, arguments, isLast: isLast, state: &state, in: scope)
        case .key(let key):
            try flushFilters(&state, in: scope)
            try append(key, to: &state, at: step.offset)
            return nil
        case .aggregate(let item):
            guard isLast else { throw unsupported("A path after aggregate", at: step.offset) }
            return try take(item, &state, in: scope)
        case .filter(let condition):
            try requireCollection(state, "$filter", at: condition.offset)
            state.filters.append(condition)
            return nil
        case .count(let filter, let search):
            try requireCollection(state, "$count", at: filter?.offset)
            guard isLast else { throw typeError("Nothing can follow $count.", at: filter?.offset) }
            let (variable, inner) = memberScope(state, named: nil, in: scope)
            var conditions = try (state.filters + (filter.map { [$0] } ?? [])).map { expression throws(QueryError) in
                try condition(expression, in: inner)
            }
            if let search { conditions.append(.search(search, variable)) }
            return .count(state.path, variable: variable, filter: Self.all(conditions))
        case .any(let name, let predicate):
            try requireCollection(state, "any", at: name?.offset)
            guard isLast else { throw typeError("Nothing can follow any.", at: name?.offset) }
            let (variable, filters, bound) = try lambda(name, predicate, state: state, in: scope)
            return .any(state.path, variable: variable, Self.all(filters + (bound.map { [$0] } ?? [])))
        case .all(let name, let predicate):
            try requireCollection(state, "all", at: name.offset)
            guard isLast else { throw typeError("Nothing can follow all.", at: name.offset) }
            let (variable, filters, bound) = try lambda(name, predicate, state: state, in: scope)
            let body = bound ?? .constant(.boolean(true), .primitive(.boolean))
            // Members for which the filter is false or null do not affect the result of `all`.
            guard let filter = Self.all(filters) else { return .all(state.path, variable: variable, body) }
            let isTrue = BoundExpression.constant(.boolean(true), .primitive(.boolean))
            let excluded = BoundExpression.binary(.notEqual, filter, isTrue, .primitive(.boolean))
            return .all(state.path, variable: variable, .binary(.or, excluded, body, .primitive(.boolean)))
        }
    }

    /// Returns an annotation's term with its full namespace and its qualifier.
    private func annotationName(_ text: String) -> String {
        let parts = text.dropFirst().split(separator: "#", maxSplits: 1)
        guard let term = parts.first else { return text }
        let name = qualified(String(term)).first?.description ?? String(term)
        return parts.count > 1 ? "\(name)#\(parts[1])" : name
    }

    /// Appends a key after a navigation property, or a call of a function that is bound to the current value.
    private func take(
        _ name: Identifier, _ arguments: [CommonExpression.NamedArgument], isLast: Bool, state: inout PathState,
        in scope: Scope
    ) throws(QueryError) -> BoundExpression? {
        try flushFilters(&state, in: scope)
        if state.shape?.navigationProperty(name.text) != nil, !arguments.isEmpty {
            try append(name, to: &state, in: scope)
            try append(.compound(arguments), to: &state, at: name.offset)
            return nil
        }
        var call = try custom(name, on: .path(state.path), arguments, in: scope)
        if call == nil { call = try declared(name, on: state, arguments, in: scope) }
        guard let call else {
            throw unsupported("The function \(name) in an expression", at: name.offset)
        }
        guard isLast else { throw unsupported("A path after the function \(name)", at: name.offset) }
        return call
    }

    private func take(
        _ item: AggregateItem, _ state: inout PathState, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        try requireCollection(state, "aggregate", at: item.offset)
        try flushFilters(&state, in: scope)
        let (variable, inner) = memberScope(state, named: nil, in: scope)
        var aggregate = try self.aggregate(item, in: inner, isNamed: false)
        // A collection nested in the members is reached from the variable.
        if aggregate.members == nil { aggregate.members = .init(of: state.path, variable: variable) }
        return .aggregate(state.path, aggregate)
    }

    private func requireCollection(_ state: PathState, _ what: String, at offset: Int?) throws(QueryError) {
        guard state.isCollection else {
            throw typeError("\(what) needs a collection, not a value of type \(state.type).", at: offset)
        }
    }

    private func lambda(
        _ name: Identifier?, _ predicate: CommonExpression?, state: PathState, in scope: Scope
    ) throws(QueryError) -> (RangeVariable, filters: [BoundExpression], body: BoundExpression?) {
        let (variable, filterScope) = memberScope(state, named: name?.text, in: scope)
        let filters = try state.filters.map { expression throws(QueryError) in
            try condition(expression, in: filterScope)
        }
        guard let name, let predicate else { return (variable, filters, nil) }
        var inner = scope
        inner.variables[name.text] = (variable, state.source)
        return (variable, filters, try condition(predicate, in: inner))
    }

    /// Returns the scope of a condition on each member of a collection.
    private func memberScope(
        _ state: PathState, named name: String?, in scope: Scope
    ) -> (RangeVariable, Scope) {
        let variable = makeVariable(name ?? "$this", type: state.type.element)
        var inner = scope
        inner.current = variable
        inner.source = state.source
        inner.computed = [:]
        return (variable, inner)
    }

    /// Combines conditions with `and`; `nil` if there are none.
    static func all(_ conditions: [BoundExpression]) -> BoundExpression? {
        guard let first = conditions.first else { return nil }
        return conditions.dropFirst().reduce(first) { .binary(.and, $0, $1, .primitive(.boolean)) }
    }
}

extension Annotation {
    /// The term and its qualifier, in the notation of ``BoundStep/annotation(_:)``.
    fileprivate var written: String { qualifier.map { "\(term)#\($0)" } ?? term }
}

extension PrimitiveType {
    /// Creates the type of a constant annotation expression from the name of its element.
    fileprivate init?(annotationKind kind: String) {
        switch kind {
        case "String": self = .string
        case "Bool": self = .boolean
        case "Int": self = .int64
        case "Decimal": self = .decimal
        case "Float": self = .double
        case "Date": self = .date
        case "DateTimeOffset": self = .dateTimeOffset
        case "Duration": self = .duration
        case "Guid": self = .guid
        case "TimeOfDay": self = .timeOfDay
        default: return nil
        }
    }
}
