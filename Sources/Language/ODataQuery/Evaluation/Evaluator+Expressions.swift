import ODataModel

/// Evaluation of operators and type tests (OData URL Conventions 4.01, 5.1.1.1, 5.1.1.2 and 5.1.1.10).
extension Evaluator {
    /// Returns the value of an expression; null for an instance.
    func value(_ expression: BoundExpression, in environment: Environment) throws -> ODataValue {
        switch expression {
        case .constant(let value, _): return value
        case .path(let path):
            if case .value(let value) = try operand(path, in: environment) { return value }
            return .null
        case .unary(.not, let inner, _): return Self.not(try value(inner, in: environment))
        case .unary(.negate, let inner, _): return try NumberOperations.negate(value(inner, in: environment))
        case .binary(let symbol, let left, let right, _):
            return try binary(symbol, left: left, right: right, in: environment)
        case .membership(let inner, let list):
            return .boolean(try list.contains { try isEqual(inner, $0, in: environment) })
        case .function(.case, let arguments, _): return try conditional(arguments, in: environment)
        case .function(let function, let arguments, _):
            return try call(function, arguments.map { try value($0, in: environment) })
        case .cast(let inner, let type):
            return ValueCast(model: model).cast(try value(inner, in: environment), from: inner.type, to: type)
        case .isOf(let path, let name): return .boolean(try isOf(path, name, in: environment))
        case .isOfValue(let inner, let type):
            let value = try value(inner, in: environment)
            return .boolean(!value.isNull && Self.isValue(value, of: type, declared: inner.type))
        case .isDefined(let path): return .boolean(try isDefined(path, in: environment))
        case .any(let path, let variable, let predicate):
            return .boolean(
                try members(of: path, in: environment).contains {
                    try predicate.map { [member = $0] in
                        try isTrue($0, in: environment.with(member, as: variable.identifier))
                    } ?? true
                })
        case .all(let path, let variable, let predicate):
            return .boolean(
                try members(of: path, in: environment).allSatisfy {
                    try isTrue(predicate, in: environment.with($0, as: variable.identifier))
                })
        case .count(let path, let variable, let filter):
            let members = try members(of: path, in: environment)
            guard let filter else { return .integer(Int64(members.count)) }
            return .integer(
                Int64(try members.count { try isTrue(filter, in: environment.with($0, as: variable.identifier)) }))
        case .search(let search, let variable): return .boolean(matches(search, variable, in: environment))
        case .list(let items, _): return .collection(try items.map { try value($0, in: environment) })
        case .aggregate(_, let item): return try aggregate(item, over: [environment])
        case .hierarchyTest: return try test(expression, in: environment)
        case .subquery(let subquery): return try value(of: subquery, in: environment)
        case .custom(let function, let arguments): return try function(arguments.map { try value($0, in: environment) })
        }
    }

    private func matches(_ search: SearchExpression, _ variable: RangeVariable, in environment: Environment) -> Bool {
        switch environment.variables[variable.identifier] {
        case .row(let row?):
            guard let shape = variable.shape else { return false }
            return matches(search, row, shape: shape)
        case .value(.string(let text)): return TextSearch.matches(search, in: [text])
        case .value(.complex(let entity)): return matches(search, EvaluatedRow(entity), shape: entity.shape)
        default: return false
        }
    }

    // MARK: Logic and comparison

    private static func not(_ value: ODataValue) -> ODataValue {
        if case .boolean(let isTrue) = value { .boolean(!isTrue) } else { .null }
    }

    private func binary(
        _ symbol: BinaryOperator, left: BoundExpression, right: BoundExpression, in environment: Environment
    ) throws -> ODataValue {
        switch symbol {
        case .and, .or:
            // The second operand is only evaluated if the first does not decide the result.
            let decisive = symbol == .or
            let first = try value(left, in: environment)
            if case .boolean(decisive) = first { return first }
            let second = try value(right, in: environment)
            if case .boolean(decisive) = second { return second }
            if first.isNull || second.isNull { return .null }
            return .boolean(!decisive)
        case .equal: return .boolean(try isEqual(left, right, in: environment))
        case .notEqual: return .boolean(!(try isEqual(left, right, in: environment)))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let (first, second) = (try value(left, in: environment), try value(right, in: environment))
            return .boolean(Self.compare(symbol, left: first, right: second))
        case .has:
            guard case .enumeration(let value) = try value(left, in: environment),
                case .enumeration(let flags) = try self.value(right, in: environment)
            else { return .null }
            return .boolean(value & flags == flags)
        case .add, .subtract, .multiply, .divide, .divideBy, .modulo:
            return try NumberOperations.arithmetic(
                symbol, left: value(left, in: environment), right: value(right, in: environment))
        }
    }

    /// Compares two values. Null is neither less nor greater than any value; `le` and `ge` hold between two nulls.
    private static func compare(_ symbol: BinaryOperator, left: ODataValue, right: ODataValue) -> Bool {
        let includesEqual = symbol == .lessOrEqual || symbol == .greaterOrEqual
        if left.isNull, right.isNull { return includesEqual }
        switch ValueOrder.compare(left, right) {
        case .equal: return includesEqual
        case .less: return symbol == .less || symbol == .lessOrEqual
        case .greater: return symbol == .greater || symbol == .greaterOrEqual
        case nil: return false
        }
    }

    /// Compares with `eq`. Entities are equal if they have the same identity.
    func isEqual(
        _ left: BoundExpression, _ right: BoundExpression, in environment: Environment
    ) throws -> Bool {
        let (first, second) = (try operand(left, in: environment), try operand(right, in: environment))
        switch (first, second) {
        case (.row(let a), .row(let b)):
            guard let a, let b else { return a == nil && b == nil }
            var keys = (GroupKey(), GroupKey())
            keys.0.append(a)
            keys.1.append(b)
            return keys.0 == keys.1
        case (.rows(let a), .rows(let b)):
            return a.count == b.count
                && zip(a, b).allSatisfy { pair in
                    var keys = (GroupKey(), GroupKey())
                    keys.0.append(pair.0)
                    keys.1.append(pair.1)
                    return keys.0 == keys.1
                }
        case (.value(let a), .value(let b)): return ValueOrder.isEqual(a, b)
        case (.row(nil), .value(.null)), (.value(.null), .row(nil)): return true
        default: return false
        }
    }

    private func operand(_ expression: BoundExpression, in environment: Environment) throws -> Operand {
        if case .path(let path) = expression { return try operand(path, in: environment) }
        return .value(try value(expression, in: environment))
    }

    /// Evaluates `case`; null if no condition is true.
    private func conditional(_ arguments: [BoundExpression], in environment: Environment) throws -> ODataValue {
        for index in stride(from: 0, to: arguments.count - 1, by: 2) {
            if try isTrue(arguments[index], in: environment) { return try value(arguments[index + 1], in: environment) }
        }
        return .null
    }

    // MARK: isof

    /// Returns whether a non-null value belongs to a type. A declared type takes precedence over the value.
    private static func isValue(_ value: ODataValue, of type: TypeReference, declared: TypeReference) -> Bool {
        switch declared {
        case .untyped: break
        case .typeDefinition(_, let underlying): return declared == type || type == .primitive(underlying)
        default: return declared == type
        }
        switch (value, type.primitive) {
        case (.integer(let number), let primitive?) where primitive.isInteger:
            return primitive.integerRange?.contains(number) == true
        case (.boolean, .boolean?), (.single, .single?), (.double, .double?), (.decimal, .decimal?),
            (.string, .string?), (.binary, .binary?), (.guid, .guid?), (.date, .date?), (.timeOfDay, .timeOfDay?),
            (.dateTimeOffset, .dateTimeOffset?), (.dateTime, .dateTime?), (.duration, .duration?):
            return true
        default: return false
        }
    }
}
