import ODataModel

/// Resolves expressions. One is made for each place that expressions stand in: it knows the current instance
/// and the lambda variables in scope.
struct ExpressionBinder {
    let model: EntityDataModel
    let aliases: [String: Expression]
    /// The current instance, `$it`.
    let instance: RangeVariable
    /// The entity set of each variable's members, by the variable's number.
    private var sets: [Int: String] = [:]
    /// Lambda variables in scope, innermost last.
    private var variables: [RangeVariable] = []
    private var lastVariable = 0
    /// Aliases that are being resolved, to find circles.
    private var openAliases: Set<String> = []
    /// What `$compute` has named so far.
    var computed: [String: TypeReference] = [:]

    init(model: EntityDataModel, aliases: [String: Expression], shape: Shape, set: String?) {
        self.model = model
        self.aliases = aliases
        instance = RangeVariable(
            name: "$it", identifier: 0, shape: shape,
            type: shape.kind == .entity ? .entity(shape.name) : .complex(shape.name))
        if let set { sets[0] = set }
    }

    /// Resolves a condition: its type must be boolean.
    mutating func bindCondition(_ expression: Expression) throws(QueryError) -> BoundExpression {
        let bound = try bind(expression)
        return try Promotion.boolean(bound, offset: expression.offset)
    }

    mutating func bind(_ expression: Expression) throws(QueryError) -> BoundExpression {
        switch expression {
        case .literal(let literal): return try bind(literal)
        case .path(let steps): return try bind(path: steps)
        case .alias(let name): return try bind(alias: name)
        case .unary(let op, let operand): return try bind(op, operand)
        case .binary(let op, let left, let right): return try bind(op, left, right)
        case .membership(let operand, let list): return try bind(operand, in: list)
        case .call(let name, let arguments): return try bind(call: name, arguments)
        case .typeTest(.cast, let operand, let type): return try bindCast(operand, type)
        case .typeTest(.isOf, let operand, let type): return try bindIsOf(operand, type)
        case .namedCall(let name, _): throw unsupported("the function \(name)", name.offset)
        case .list: throw unsupported("a list outside of 'in'", expression.offset)
        case .json: throw unsupported("a JSON object in an expression", nil)
        }
    }

    func unsupported(_ feature: String, _ offset: Int?) -> QueryError {
        QueryError(.unsupported(feature: feature), "\(feature) is not supported.", offset: offset)
    }

    // MARK: Literals and aliases

    private func bind(_ literal: Literal) throws(QueryError) -> BoundExpression {
        if let text = literal.enumeration, !text.type.isEmpty {
            guard let name = QualifiedName(text.type), let type = model.enumType(name) else {
                throw QueryError(
                    .unknownName, "There is no enumeration type \(text.type).", offset: literal.offset)
            }
            return .constant(
                .enumeration(try Promotion.enumerationValue(text.members, type, offset: literal.offset)),
                .enumeration(name))
        }
        if let type = literal.type { return .constant(literal.value, .primitive(type)) }
        return .constant(literal.value, Promotion.type(of: literal.value))
    }

    private mutating func bind(alias: Identifier) throws(QueryError) -> BoundExpression {
        guard let value = aliases[alias.text] else {
            // An alias without a value is null (URL Conventions 4.01, 5.3).
            return .constant(.null, .untyped("Edm.Untyped"))
        }
        guard openAliases.insert(alias.text).inserted else {
            throw QueryError(.type, "The alias @\(alias) refers to itself.", offset: alias.offset)
        }
        defer { openAliases.remove(alias.text) }
        return try bind(value)
    }

    // MARK: Operators

    private mutating func bind(_ op: UnaryOperator, _ operand: Expression) throws(QueryError) -> BoundExpression {
        let bound = try bind(operand)
        switch op {
        case .not:
            return .unary(.not, try Promotion.boolean(bound, offset: operand.offset), .primitive(.boolean))
        case .negate:
            if case .constant(let value, let type) = bound, let negated = Promotion.negated(value) {
                return .constant(negated, type)
            }
            guard let type = bound.type.primitive, type.isNumeric || type == .duration else {
                throw QueryError(.type, "\(bound.type) cannot be negated.", offset: operand.offset)
            }
            return .unary(.negate, bound, bound.type)
        }
    }

    private mutating func bind(
        _ op: BinaryOperator, _ left: Expression, _ right: Expression
    ) throws(QueryError) -> BoundExpression {
        let (a, b) = (try bind(left), try bind(right))
        let offset = left.offset
        switch op {
        case .and, .or:
            return .binary(
                op, try Promotion.boolean(a, offset: offset), try Promotion.boolean(b, offset: right.offset),
                .primitive(.boolean))
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let (x, y) = try Promotion.comparable(a, b, op, model: model, offset: offset)
            return .binary(op, x, y, .primitive(.boolean))
        case .has:
            let y = try Promotion.convert(b, to: a.type, model: model, offset: right.offset)
            guard case .enumeration = a.type else {
                throw QueryError(.type, "'has' takes an enumeration, not \(a.type).", offset: offset)
            }
            return .binary(.has, a, y, .primitive(.boolean))
        case .add, .subtract, .multiply, .divide, .divideBy, .modulo:
            return try Promotion.arithmetic(op, a, b, offset: offset)
        }
    }

    private mutating func bind(_ operand: Expression, in list: Expression) throws(QueryError) -> BoundExpression {
        let value = try bind(operand)
        if case .list(let items) = list {
            var bound: [BoundExpression] = []
            for item in items {
                let (_, y) = try Promotion.comparable(value, try bind(item), .equal, model: model, offset: item.offset)
                bound.append(y)
            }
            return .membership(value, in: bound)
        }
        // `x in Collection` is `Collection/any(m:m eq x)`.
        guard case .path(let path) = try bind(list), path.type.isCollection else {
            throw QueryError(.type, "'in' takes a list or a collection on its right.", offset: list.offset)
        }
        let member = makeVariable("member", type: path.type.element)
        let (x, y) = try Promotion.comparable(
            .path(BoundPath(variable: member, steps: [], type: member.type)), value, .equal, model: model,
            offset: list.offset)
        return .any(path, variable: member, .binary(.equal, x, y, .primitive(.boolean)))
    }

    private mutating func bindCast(
        _ operand: Expression?, _ type: Identifier
    ) throws(QueryError) -> BoundExpression {
        guard let primitive = PrimitiveType(rawValue: type.text) else {
            throw unsupported("cast to \(type)", type.offset)
        }
        guard let operand else { throw unsupported("cast of the current instance", type.offset) }
        let value = try bind(operand)
        guard value.type.primitive != nil || value.isNull else {
            throw QueryError(.type, "\(value.type) cannot be cast to \(type).", offset: type.offset)
        }
        return .cast(value, .primitive(primitive))
    }

    private mutating func bindIsOf(
        _ operand: Expression?, _ type: Identifier
    ) throws(QueryError) -> BoundExpression {
        guard let name = QualifiedName(type.text), model.shape(name) != nil else {
            throw unsupported("isof with \(type)", type.offset)
        }
        guard let operand else {
            return .isOf(BoundPath(variable: instance, steps: [], type: instance.type), name)
        }
        guard case .path(let path) = try bind(operand) else {
            throw QueryError(.type, "isof takes a path.", offset: operand.offset)
        }
        return .isOf(path, name)
    }

    // MARK: Paths

    private mutating func makeVariable(_ name: String, type: TypeReference) -> RangeVariable {
        lastVariable += 1
        let shape: Shape?
        switch type {
        case .entity(let name?), .complex(let name?): shape = model.shape(name)
        default: shape = nil
        }
        return RangeVariable(name: name, identifier: lastVariable, shape: shape, type: type)
    }

    /// Where a path stands while it is resolved.
    private struct Position {
        var path: BoundPath
        var shape: Shape?
        var set: String?
    }

    private mutating func bind(path steps: [PathStep]) throws(QueryError) -> BoundExpression {
        var (position, rest) = try start(steps)
        while let step = rest.first {
            rest = rest.dropFirst()
            switch step {
            case .name(let name): try advance(&position, over: name)
            case .variable(let name): throw unsupported("\(name) within a path", name.offset)
            case .count(let filter, let search):
                if search != nil { throw unsupported("$search within $count", nil) }
                guard position.path.type.isCollection else { throw notACollection(position, "$count") }
                let member = makeVariable("$it", type: position.path.type.element)
                sets[member.identifier] = position.set
                var condition: BoundExpression?
                if let filter { condition = try nested(member, isInstance: true) { (b) throws(QueryError) in try b.bindCondition(filter) } }
                try requireEnd(rest)
                return .count(position.path, variable: member, filter: condition)
            case .any(let name, let predicate):
                guard position.path.type.isCollection else { throw notACollection(position, "any") }
                let member = makeVariable(name?.text ?? "$it", type: position.path.type.element)
                sets[member.identifier] = position.set
                var condition: BoundExpression?
                if let predicate { condition = try nested(member) { (b) throws(QueryError) in try b.bindCondition(predicate) } }
                try requireEnd(rest)
                return .any(position.path, variable: member, condition)
            case .all(let name, let predicate):
                guard position.path.type.isCollection else { throw notACollection(position, "all") }
                let member = makeVariable(name.text, type: position.path.type.element)
                sets[member.identifier] = position.set
                let condition = try nested(member) { (b) throws(QueryError) in try b.bindCondition(predicate) }
                try requireEnd(rest)
                return .all(position.path, variable: member, condition)
            case .key: throw unsupported("a key within an expression", nil)
            case .call(let name, _): throw unsupported("the function \(name)", name.offset)
            case .filter: throw unsupported("$filter within a path", nil)
            default: throw unsupported("aggregate within a path", nil)
            }
        }
        return .path(position.path)
    }

    private func requireEnd(_ rest: ArraySlice<PathStep>) throws(QueryError) {
        if !rest.isEmpty { throw QueryError(.type, "Nothing can follow any, all or $count.", offset: nil) }
    }

    private func notACollection(_ position: Position, _ what: String) -> QueryError {
        QueryError(.type, "\(what) takes a collection, not \(position.path.type).", offset: nil)
    }

    /// Binds within a lambda.
    private mutating func nested(
        _ variable: RangeVariable, isInstance: Bool = false,
        _ body: (inout ExpressionBinder) throws(QueryError) -> BoundExpression
    ) throws(QueryError) -> BoundExpression {
        variables.append(variable)
        if isInstance { innerInstances.append(variable) }
        defer {
            variables.removeLast()
            if isInstance { innerInstances.removeLast() }
        }
        return try body(&self)
    }

    /// Instances of `$count($filter=…)`, whose properties are named without a variable.
    private var innerInstances: [RangeVariable] = []

    private func start(_ steps: [PathStep]) throws(QueryError) -> (Position, ArraySlice<PathStep>) {
        let current = innerInstances.last ?? instance
        func at(_ variable: RangeVariable) -> Position {
            Position(
                path: BoundPath(variable: variable, steps: [], type: variable.type), shape: variable.shape,
                set: sets[variable.identifier])
        }
        guard let first = steps.first else { return (at(current), []) }
        switch first {
        case .variable(let name):
            switch name.text {
            case "$it": return (at(instance), steps.dropFirst())
            case "$this": return (at(current), steps.dropFirst())
            default: throw unsupported(name.text, name.offset)
            }
        case .name(let name):
            if let variable = variables.last(where: { $0.name == name.text }) {
                return (at(variable), steps.dropFirst())
            }
            var position = at(current)
            if let taken = compoundName(steps, &position) { return (position, steps.dropFirst(taken)) }
            if let type = computed[name.text] {
                position.path.steps.append(.computed(name.text, type))
                position.path.type = type
                position.shape = nil
                return (position, steps.dropFirst())
            }
            return (position, steps[...])
        default: return (at(current), steps[...])
        }
    }

    /// Rows of `$apply` have properties named by whole paths, such as `Customer/Country`.
    private func compoundName(_ steps: [PathStep], _ position: inout Position) -> Int? {
        guard let shape = position.shape else { return nil }
        var names: [String] = []
        for step in steps {
            guard case .name(let name) = step else { break }
            names.append(name.text)
        }
        while names.count > 1 {
            if let ordinal = shape.ordinal(of: names.joined(separator: "/")) {
                let property = shape.properties[ordinal]
                position.path.steps.append(.property(property, ordinal: ordinal, of: shape))
                position.path.type = property.type
                position.shape = nil
                return names.count
            }
            names.removeLast()
        }
        return nil
    }

    private func advance(_ position: inout Position, over name: Identifier) throws(QueryError) {
        guard !position.path.type.isCollection else {
            if let cast = try cast(position, to: name) {
                position.path.steps.append(.cast(cast))
                position.path.type = .collection(.entity(cast.name))
                position.shape = cast
                return
            }
            throw QueryError(
                .type, "A collection has no property \(name); use any, all or $count.", offset: name.offset)
        }
        guard let shape = position.shape else {
            throw QueryError(.type, "\(position.path.type) has no property \(name).", offset: name.offset)
        }
        if let cast = try cast(position, to: name) {
            position.path.steps.append(.cast(cast))
            position.path.type = cast.kind == .entity ? .entity(cast.name) : .complex(cast.name)
            position.shape = cast
        } else if let ordinal = shape.ordinal(of: name.text) {
            let property = shape.properties[ordinal]
            position.path.steps.append(.property(property, ordinal: ordinal, of: shape))
            position.path.type = property.type
            if case .complex(let type?) = property.type.element {
                position.shape = model.shape(type)
            } else {
                position.shape = nil
            }
        } else if let navigation = shape.navigationProperty(name.text) {
            let set = position.set.flatMap {
                model.targetSet(of: $0, path: navigationPath(position, name.text), target: navigation.target)
            }
            position.path.steps.append(.navigation(navigation, of: shape, set: set))
            position.path.type =
                navigation.isCollection ? .collection(.entity(navigation.target)) : .entity(navigation.target)
            position.shape = model.shape(navigation.target)
            position.set = set?.name
        } else if shape.isOpen {
            position.path.steps.append(.dynamic(name.text))
            position.path.type = .untyped("Edm.Untyped")
            position.shape = nil
        } else {
            throw unknownProperty(name, shape)
        }
    }

    private func navigationPath(_ position: Position, _ name: String) -> String {
        var names: [String] = []
        for step in position.path.steps {
            switch step {
            case .navigation: names = []
            case .property(let property, _, _): names.append(property.name)
            case .cast(let shape): names.append(shape.name.description)
            case .dynamic, .computed: break
            }
        }
        return (names + [name]).joined(separator: "/")
    }

    private func cast(_ position: Position, to name: Identifier) throws(QueryError) -> Shape? {
        guard name.text.contains("."), let qualified = QualifiedName(name.text) else { return nil }
        guard let shape = model.shape(qualified) else {
            throw QueryError(.unknownName, "There is no type \(name).", offset: name.offset)
        }
        if let base = position.shape, !model.isType(qualified, base.name) {
            throw QueryError(.type, "\(name) does not derive from \(base.name).", offset: name.offset)
        }
        return shape
    }

    func unknownProperty(_ name: Identifier, _ shape: Shape) -> QueryError {
        let names = shape.properties.map(\.name) + shape.navigationProperties.map(\.name) + computed.keys.sorted()
        return QueryError(
            .unknownName, "\(shape.name.name) has no property \(name).", offset: name.offset,
            suggestions: nearest(to: name.text, among: names))
    }
}

extension BoundExpression {
    /// Whether this is the literal null.
    var isNull: Bool {
        if case .constant(.null, _) = self { true } else { false }
    }
}

extension Expression {
    /// Where the expression starts in the text, as far as its parts know.
    var offset: Int? {
        switch self {
        case .literal(let literal): literal.offset
        case .path(let steps):
            switch steps.first {
            case .name(let name)?, .variable(let name)?: name.offset
            default: nil
            }
        case .alias(let name), .call(let name, _), .namedCall(let name, _): name.offset
        case .unary(_, let operand), .binary(_, let operand, _), .membership(let operand, _): operand.offset
        case .typeTest(_, let operand, let type): operand?.offset ?? type.offset
        case .list(let items): items.first?.offset
        case .json: nil
        }
    }
}
