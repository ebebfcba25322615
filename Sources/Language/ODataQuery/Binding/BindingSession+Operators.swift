import ODataModel

/// Binding of operators, with the types of operands and results (OData URL Conventions 4.01, 5.1.1.1 and 5.1.1.2).
extension BindingSession {
    // MARK: Unary

    func bind(_ symbol: UnaryOperator, _ inner: CommonExpression, in scope: Scope) throws(QueryError) -> BoundExpression
    {
        let operand = try bind(inner, in: scope)
        switch symbol {
        case .not: return .unary(.not, try boolean(operand, at: inner.offset), .primitive(.boolean))
        case .negate:
            if case .untyped = operand.type { return .unary(.negate, operand, operand.type) }
            guard let type = operand.type.primitive, type.isNumeric || type == .duration else {
                throw typeError("A value of type \(operand.type) cannot be negated.", at: inner.offset)
            }
            return .unary(.negate, operand, .primitive(type))
        }
    }

    // MARK: Binary

    func bind(
        _ symbol: BinaryOperator, left: CommonExpression, right: CommonExpression, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        if isJSON(left) || isJSON(right) { return try bindJSON(symbol, left: left, right: right, in: scope) }
        let first = try bind(left, in: scope)
        let second = try bind(operand: right, in: scope)
        return try combine(symbol, left: (left, first), right: (right, second))
    }

    /// Resolves an operand. The error for a single unknown word says how a text or null is written.
    func bind(operand: CommonExpression, in scope: Scope) throws(QueryError) -> BoundExpression {
        do throws(QueryError) {
            return try bind(operand, in: scope)
        } catch {
            guard error.kind == .unknownName, error.hint == nil, case .path(let steps) = operand, steps.count == 1,
                case .name(let name) = steps[0], name.offset == error.offset, !name.isAnnotation
            else { throw error }
            var error = error
            error.hint = ForeignSyntax.value(name.text)
            throw error
        }
    }

    /// Resolves an operation with a JSON object, which takes the type of the other operand.
    private func bindJSON(
        _ symbol: BinaryOperator, left: CommonExpression, right: CommonExpression, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        if isJSON(left) {
            let second = try bind(right, in: scope)
            return try combine(
                symbol, left: (left, try bind(left, expecting: second.type, in: scope)), right: (right, second))
        }
        let first = try bind(left, in: scope)
        return try combine(
            symbol, left: (left, first), right: (right, try bind(right, expecting: first.type, in: scope)))
    }

    /// Combines two resolved operands.
    private func combine(
        _ symbol: BinaryOperator, left: (CommonExpression, BoundExpression), right: (CommonExpression, BoundExpression)
    ) throws(QueryError) -> BoundExpression {
        let (left, first) = left
        let (right, second) = right
        switch symbol {
        case .and, .or:
            let condition = try boolean(first, at: left.offset)
            return .binary(symbol, condition, try boolean(second, at: right.offset), .primitive(.boolean))
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return try compare(symbol, left: first, right: second, at: left.offset ?? right.offset)
        case .has:
            guard case .enumeration(let name) = first.type, let flag = adapted(second, to: first.type) else {
                throw typeError(
                    "has needs an enumeration and one of its values, not \(first.type) and \(second.type).",
                    at: left.offset)
            }
            guard model.enumType(name)?.isFlags == true else {
                throw typeError("\(name) has no flags to test.", at: left.offset)
            }
            return .binary(.has, first, flag, .primitive(.boolean))
        case .add, .subtract, .multiply, .divide, .divideBy, .modulo:
            return try arithmetic(symbol, left: first, right: second, at: left.offset ?? right.offset)
        }
    }

    /// Compares two values after converting them to one type.
    func compare(
        _ symbol: BinaryOperator, left: BoundExpression, right: BoundExpression, at offset: @autoclosure () -> Int?
    ) throws(QueryError) -> BoundExpression {
        let isEquality = symbol == .equal || symbol == .notEqual
        // Null can be compared with any value for equality, including entities and complex values.
        if isEquality, case .constant(.null, _) = right {
            return .binary(symbol, left, .constant(.null, left.type), .primitive(.boolean))
        }
        if isEquality, case .constant(.null, _) = left {
            return .binary(symbol, .constant(.null, right.type), right, .primitive(.boolean))
        }
        guard let (first, second) = unify(left, right) else {
            var error = typeError("\(symbol.rawValue) cannot compare \(left.type) with \(right.type).", at: offset())
            error.hint = Self.quotingHint(left, right)
            throw error
        }
        try requireComparable(first.type, isEquality: isEquality, at: offset())
        try requireComparable(second.type, isEquality: isEquality, at: offset())
        if !isEquality, first.type.primitive == .binary {
            throw typeError("Values of type Edm.Binary have no order.", at: offset())
        }
        guard first.type.primitive == second.type.primitive else {
            return .binary(symbol, first, second, .primitive(.boolean))
        }
        return .binary(symbol, comparable(first), comparable(second), .primitive(.boolean))
    }

    /// Returns the advice for a comparison of a text with a value of another type.
    ///
    /// A text in quotes is compared with a value that stands without quotes, or a text with a value that needs them.
    private static func quotingHint(_ left: BoundExpression, _ right: BoundExpression) -> String? {
        for (constant, other) in [(right, left), (left, right)] {
            guard case .constant(let value, _) = constant else { continue }
            if case .string(let text) = value, let type = other.type.primitive {
                switch type {
                case .date, .timeOfDay, .dateTimeOffset, .guid, .boolean, .byte, .sbyte, .int16, .int32, .int64,
                    .single,
                    .double, .decimal:
                    return (try? ODataValue(lexical: text, type: type)) == nil && ODataDate(text) == nil
                        ? nil : "Write it without quotes: \(text)."
                case .duration: return "Write duration'\(text)'."
                default: return nil
                }
            }
            if other.type.primitive == .string, let text = value.lexicalText {
                return "A text stands in single quotes: '\(text)'."
            }
        }
        return nil
    }

    private func requireComparable(
        _ type: TypeReference, isEquality: Bool, at offset: @autoclosure () -> Int?
    ) throws(QueryError) {
        switch type {
        case .collection, .complex, .entity:
            if !isEquality { throw typeError("Values of type \(type) have no order.", at: offset()) }
        case .primitive(.stream): throw typeError("Streams cannot be compared.", at: offset())
        case .primitive(let primitive) where !isEquality && primitive.isGeo:
            throw typeError("Values of type \(type) have no order.", at: offset())
        default: break
        }
    }

    // MARK: One type for two operands

    /// Converts both operands to one type; returns `nil` if there is none.
    ///
    /// Constants take the type of the other operand if possible. Otherwise numbers are promoted.
    func unify(_ left: BoundExpression, _ right: BoundExpression) -> (BoundExpression, BoundExpression)? {
        if left.type == right.type { return (left, right) }
        if case .untyped = left.type { return (adapted(left, to: right.type) ?? left, right) }
        if case .untyped = right.type { return (left, adapted(right, to: left.type) ?? right) }
        if case .constant = right, let constant = adapted(right, to: left.type) { return (left, constant) }
        if case .constant = left, let constant = adapted(left, to: right.type) { return (constant, right) }
        guard let type = commonType(left.type, right.type) else { return nil }
        return (converted(left, to: type), converted(right, to: type))
    }

    /// Returns the type to which two types are promoted; `nil` if there is none.
    func commonType(_ left: TypeReference, _ right: TypeReference) -> TypeReference? {
        if left == right { return left }
        if case .collection(let first) = left, case .collection(let second) = right {
            if case .untyped = first { return right }
            if case .untyped = second { return left }
            return commonType(first, second).map { .collection($0) }
        }
        if let first = shape(of: left), let second = shape(of: right) {
            return model.isType(first.name, second.name)
                ? right : model.isType(second.name, first.name) ? left : nil
        }
        guard let first = left.primitive, let second = right.primitive else { return nil }
        if first == second { return .primitive(first) }
        if first.isNumeric, second.isNumeric { return .primitive(TypePromotion.numeric(first, second)) }
        if first.isGeo, second.isGeo { return .primitive(first) }
        return nil
    }

    /// Converts a constant to another type; returns other expressions only if they have the type.
    func adapted(_ bound: BoundExpression, to type: TypeReference) -> BoundExpression? {
        if bound.type == type { return bound }
        guard case .constant(let value, _) = bound else {
            // Entities and values from transformations keep their type; only their static type is widened.
            if let given = shape(of: bound.type), let wanted = shape(of: type), model.isType(given.name, wanted.name) {
                return bound
            }
            return bound.type.primitive != nil && bound.type.primitive == type.primitive ? bound : nil
        }
        return TypePromotion.adapt(value, to: type, model: model).map { .constant($0, type) }
    }

    /// Converts an expression to a type, with an explicit cast if necessary.
    func converted(_ bound: BoundExpression, to type: TypeReference) -> BoundExpression {
        adapted(bound, to: type) ?? .cast(bound, type)
    }

    // MARK: Arithmetic

    private func arithmetic(
        _ symbol: BinaryOperator, left: BoundExpression, right: BoundExpression, at offset: Int?
    ) throws(QueryError) -> BoundExpression {
        func refused() -> QueryError {
            typeError("\(symbol.rawValue) is not defined for \(left.type) and \(right.type).", at: offset)
        }
        if case .untyped = left.type { return .binary(symbol, left, right, untypedResult(left, right)) }
        if case .untyped = right.type { return .binary(symbol, left, right, untypedResult(left, right)) }
        guard let first = left.type.primitive, let second = right.type.primitive else { throw refused() }
        if first.isNumeric, second.isNumeric { return try numeric(symbol, left: left, right: right, at: offset) }
        // A string may be a duration without its prefix.
        if second == .string, let duration = adapted(right, to: .primitive(.duration)) {
            return try arithmetic(symbol, left: left, right: duration, at: offset)
        }
        let result: PrimitiveType
        switch (symbol, first, second) {
        case (.add, .dateTimeOffset, .duration), (.subtract, .dateTimeOffset, .duration): result = .dateTimeOffset
        case (.add, .dateTime, .duration), (.subtract, .dateTime, .duration): result = .dateTime
        case (.add, .date, .duration), (.subtract, .date, .duration): result = .date
        case (.add, .duration, .duration), (.subtract, .duration, .duration): result = .duration
        case (.add, .duration, .dateTimeOffset), (.add, .duration, .date): result = second
        case (.subtract, .dateTimeOffset, .dateTimeOffset), (.subtract, .date, .date),
            (.subtract, .dateTime, .dateTime), (.subtract, .timeOfDay, .timeOfDay):
            result = .duration
        case (.multiply, .duration, _) where second.isNumeric, (.divide, .duration, _) where second.isNumeric,
            (.divideBy, .duration, _) where second.isNumeric:
            result = .duration
        case (.multiply, _, .duration) where first.isNumeric: result = .duration
        default: throw refused()
        }
        return .binary(symbol, left, right, .primitive(result))
    }

    private func untypedResult(_ left: BoundExpression, _ right: BoundExpression) -> TypeReference {
        if case .untyped = left.type { return right.type.primitive == nil ? left.type : right.type }
        return left.type
    }

    /// Resolves an arithmetic operation. Integers below 32 bits are widened first, and `divby` divides integers as
    /// decimals.
    private func numeric(
        _ symbol: BinaryOperator, left: BoundExpression, right: BoundExpression, at offset: Int?
    ) throws(QueryError) -> BoundExpression {
        guard let (first, second) = unifiedForArithmetic(left, right), let common = first.type.primitive else {
            return .binary(symbol, left, right, left.type)
        }
        // A constant zero as a divisor is an error of the request (5.1.1.2.5, 5.1.1.2.6); a zero in a row gives
        // null.
        let isFloating = common == .double || common == .single
        if symbol == .modulo || symbol == .divide && !isFloating, case .constant(let value, _) = second, value.isZero {
            throw typeError("\(symbol.rawValue) by zero has no result.", at: offset)
        }
        var type = common
        if type.isInteger, type != .int64 { type = .int32 }
        if symbol == .divideBy, type.isInteger { type = .decimal }
        let reference = TypeReference.primitive(type)
        return .binary(symbol, converted(first, to: reference), converted(second, to: reference), reference)
    }

    /// Converts both operands to one type. Decimals are never converted to integers, even without a fraction.
    ///
    /// `7 div 2.0` is therefore 3.5: only operands with integer types are divided as integers (5.1.1.2.5).
    /// Comparisons, in contrast, may treat 2.0 as an integer.
    private func unifiedForArithmetic(
        _ left: BoundExpression, _ right: BoundExpression
    ) -> (BoundExpression, BoundExpression)? {
        let types = [left.type.primitive, right.type.primitive]
        guard types.contains(.decimal), types.contains(where: { $0?.isInteger == true }) else {
            return unify(left, right)
        }
        let decimal = TypeReference.primitive(.decimal)
        return (converted(left, to: decimal), converted(right, to: decimal))
    }

    // MARK: in

    /// Resolves `operand in (…)`. For a collection of the model, the result is whether any member is equal.
    func membership(
        of operand: CommonExpression, in collection: CommonExpression, _ scope: Scope
    ) throws(QueryError) -> BoundExpression {
        let value = try bind(operand, in: scope)
        if case .alias(let name) = collection {
            return try substituting(name) { inner throws(QueryError) in
                try self.membership(of: operand, in: inner ?? .list([]), scope)
            }
        }
        var items: [CommonExpression] = []
        if case .list(let list) = collection { items = list } else { items = [collection] }
        if items.count == 1 {
            let only = try bind(items[0], expecting: value.type, in: scope)
            if case .path(let path) = only, case .collection(let element) = path.type {
                let variable = makeVariable("$member", type: element)
                let member = BoundExpression.path(BoundPath(variable: variable, steps: [], type: element))
                return .any(
                    path, variable: variable, try compare(.equal, left: member, right: value, at: operand.offset))
            }
            guard case .list = collection else {
                throw typeError(
                    "in needs a list or a collection, not a value of type \(only.type).", at: items[0].offset)
            }
        }
        if case .untyped = value.type {
            // The type is undeclared, so each member keeps its own type.
            var members: [BoundExpression] = []
            for item in items { members.append(try bind(item, in: scope)) }
            return .membership(value, in: members)
        }
        var bound: [BoundExpression] = []
        var common = value.type
        for item in items {
            let member =
                if case .path = item {
                    try bind(operand: item, in: scope)
                } else {
                    try bind(item, expecting: value.type, in: scope)
                }
            if let adapted = adapted(member, to: common) {
                bound.append(adapted)
                continue
            }
            guard let wider = commonType(common, member.type) else {
                throw typeError("in cannot compare \(value.type) with \(member.type).", at: item.offset)
            }
            common = wider
            bound.append(member)
        }
        let reference = common
        return .membership(
            comparable(converted(value, to: reference)), in: bound.map { comparable(converted($0, to: reference)) })
    }

    /// Returns whether an expression is a JSON object, or an alias for one. Its type depends on its place.
    private func isJSON(_ expression: CommonExpression) -> Bool {
        switch expression {
        case .json: true
        case .alias(let name): if case .json? = aliases[name.text] { true } else { false }
        default: false
        }
    }
}

extension ODataValue {
    /// Whether the value is a number equal to zero.
    fileprivate var isZero: Bool {
        switch self {
        case .integer(let number): number == 0
        case .decimal(let number): number == ODataDecimal(0)
        case .double(let number): number == 0
        case .single(let number): number == 0
        default: false
        }
    }
}
