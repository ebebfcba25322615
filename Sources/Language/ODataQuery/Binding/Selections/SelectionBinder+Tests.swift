import ODataModel

/// Resolution of tests.
extension SelectionBinder {
    private static let boolean = TypeReference.primitive(.boolean)
    private static let isTrue = BoundExpression.constant(.boolean(true), boolean)

    /// Resolves a test as a condition. It may be null instead of false; ``denied(_:)`` regards that.
    func bind(_ test: QueryTest, in scope: SelectionScope, at place: String) throws(SelectionError) -> BoundExpression {
        try enter(at: place)
        defer { leave() }
        switch test {
        case .test(let left, let symbol, let right): return try bind(left, symbol, with: right, in: scope, at: place)
        case .all(let tests): return try combined(tests, .and, in: scope, at: place.member("all"))
        case .any(let tests): return try combined(tests, .or, in: scope, at: place.member("any"))
        case .not(let test): return Self.denied(try bind(test, in: scope, at: place.member("not")))
        case .state(let name, let alias): return try state(name, of: alias, in: scope, at: place)
        }
    }

    private func combined(
        _ tests: [QueryTest], _ symbol: BinaryOperator, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> BoundExpression {
        var bound: [BoundExpression] = []
        for (index, test) in tests.enumerated() { bound.append(try bind(test, in: scope, at: place.member(index))) }
        return Self.tree(bound[...], symbol) ?? .constant(.boolean(symbol == .and), Self.boolean)
    }

    /// Combines conditions in a tree of the least depth; `nil` if there are none.
    private static func tree(_ conditions: ArraySlice<BoundExpression>, _ symbol: BinaryOperator) -> BoundExpression? {
        guard conditions.count > 1 else { return conditions.first }
        let middle = conditions.startIndex + conditions.count / 2
        guard let left = tree(conditions[..<middle], symbol), let right = tree(conditions[middle...], symbol) else {
            return nil
        }
        return .binary(symbol, left, right, boolean)
    }

    /// Returns the condition that another one is false or null.
    private static func denied(_ condition: BoundExpression) -> BoundExpression {
        .binary(.notEqual, condition, isTrue, boolean)
    }

    // MARK: States

    private func state(
        _ name: String, of alias: String?, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> BoundExpression {
        guard let function = session.functions.scalar["outpost.\(name)"]?.first(where: { $0.parameters.isEmpty }),
            function.returnType == Self.boolean
        else {
            let names = session.functions.scalar.keys.filter { $0.hasPrefix("outpost.") }.map {
                String($0.dropFirst(8))
            }
            throw SelectionError(.noSuchState(name), at: place, suggestions: nearest(to: name, among: names))
        }
        var current: SelectionScope? = scope
        while let scope = current {
            let found = alias.map { scope.source($0) } ?? (scope.sources.count == 1 ? scope.sources[0] : nil)
            if let found {
                guard found.set != nil else {
                    throw SelectionError(
                        .misplaced("Only an entity has a state, and \(found.alias) is a query."), at: place)
                }
                guard scope.group == nil else { throw SelectionError(.notGrouped(found.alias), at: place) }
                let row = BoundPath(variable: found.variable, steps: [], type: found.variable.type)
                return .custom(function, [.path(row)])
            }
            if alias == nil { break }
            current = scope.outer
        }
        guard let alias else {
            throw SelectionError(.misplaced("Several sources have states. Name one by its alias."), at: place)
        }
        throw SelectionError(.noSuchAlias(alias), at: place)
    }

    // MARK: Operators

    private func bind(
        _ left: QueryOperand?, _ symbol: QueryOperator, with right: QueryOperand?, in scope: SelectionScope,
        at place: String
    ) throws(SelectionError) -> BoundExpression {
        switch symbol {
        case .exists, .notExists:
            guard left == nil, case .selection(let selection)? = right else {
                throw SelectionError(.misplaced("\(symbol.rawValue) takes a query alone."), at: place)
            }
            let test = BoundExpression.subquery(
                .exists(try bind(selection, outer: scope, at: place.member("value.query"))))
            return symbol == .exists ? test : .unary(.not, test, Self.boolean)
        case .isNull, .notNull:
            guard let left, right == nil else {
                throw SelectionError(.misplaced("\(symbol.rawValue) takes one value."), at: place)
            }
            let value = try bind(left, in: scope, at: place)
            let null = BoundExpression.constant(.null, value.type)
            return .binary(symbol == .isNull ? .equal : .notEqual, value, null, Self.boolean)
        default: break
        }
        guard let left, let right else {
            throw SelectionError(.misplaced("\(symbol.rawValue) takes two values."), at: place)
        }
        if let comparison = symbol.comparison {
            return try compare(comparison, left, with: right, in: scope, at: place)
        }
        switch symbol {
        case .in: return try membership(left, right, in: scope, at: place)
        case .notIn: return Self.denied(try membership(left, right, in: scope, at: place))
        case .like: return try like(left, right, in: scope, at: place)
        case .notLike: return Self.denied(try like(left, right, in: scope, at: place))
        default:
            guard let (function, isDenied) = symbol.function else {
                throw SelectionError(.misplaced("\(symbol.rawValue) has no meaning here."), at: place)
            }
            let text = try self.text(left, in: scope, at: place)
            let part = try self.text(right, in: scope, at: place.member("value"))
            let test = found(function, of: part, in: text)
            return isDenied ? Self.denied(test) : test
        }
    }

    private func compare(
        _ symbol: BinaryOperator, _ left: QueryOperand, with right: QueryOperand, in scope: SelectionScope,
        at place: String
    ) throws(SelectionError) -> BoundExpression {
        var first = try bind(left, in: scope, at: place)
        var second = try bind(right, in: scope, at: place.member("value"))
        second = try read(second, as: first.type, at: place.member("value"))
        first = try read(first, as: second.type, at: place)
        return try compare(symbol, first, with: second, at: place)
    }

    /// Compares two values after converting them to one type.
    private func compare(
        _ symbol: BinaryOperator, _ left: BoundExpression, with right: BoundExpression, at place: String
    ) throws(SelectionError) -> BoundExpression {
        do throws(QueryError) {
            return try session.compare(symbol, left: left, right: right, at: nil)
        } catch {
            throw SelectionError(.wrongType(error.message), at: place)
        }
    }

    /// Reads a constant text as a value of another type; other expressions are unchanged.
    private func read(_ value: BoundExpression, as type: TypeReference, at place: String) throws(SelectionError)
        -> BoundExpression
    {
        guard case .constant(.string(let text), _) = value, type.primitive != .string else { return value }
        if case .untyped = type { return value }
        if let adapted = session.adapted(value, to: type) { return adapted }
        guard let primitive = type.primitive, let read = try? ODataValue(lexical: text, type: primitive) else {
            throw SelectionError(.invalidType(text, expected: "\(type)"), at: place)
        }
        return .constant(read, type)
    }

    // MARK: in

    private func membership(
        _ left: QueryOperand, _ right: QueryOperand, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> BoundExpression {
        let value = try bind(left, in: scope, at: place)
        switch right {
        case .selection(let selection):
            let bound = try column(selection, in: scope, at: place.member("value"))
            let equal = try compare(.equal, value, with: bound.column(0), at: place)
            guard case .binary(_, let own, let other, _) = equal else { return equal }
            return .subquery(.contains(own, equals: other, in: bound))
        case .list(let values):
            guard values.count <= SelectionLimits.maxListed else {
                throw SelectionError(.limit("maxListed"), at: place.member("value"))
            }
            var members: [BoundExpression] = []
            for (index, constant) in values.enumerated() {
                let place = place.member("value", index)
                let member = try read(try bind(.value(constant), in: scope, at: place), as: value.type, at: place)
                members.append(member)
            }
            return try membership(value, members, at: place)
        default: throw SelectionError(.misplaced("in takes a list or a query."), at: place.member("value"))
        }
    }

    private func membership(
        _ value: BoundExpression, _ members: [BoundExpression], at place: String
    ) throws(SelectionError) -> BoundExpression {
        var bound: [BoundExpression] = []
        var common = value.type
        for (index, member) in members.enumerated() {
            if let adapted = session.adapted(member, to: common) {
                bound.append(adapted)
                continue
            }
            guard let wider = session.commonType(common, member.type) else {
                throw SelectionError(
                    .wrongType("A value of type \(member.type) is never one of \(value.type)."),
                    at: place.member("value", index))
            }
            common = wider
            bound.append(member)
        }
        let type = common
        return .membership(
            session.comparable(session.converted(value, to: type)),
            in: bound.map { session.comparable(session.converted($0, to: type)) })
    }

    // MARK: Texts

    private func text(_ operand: QueryOperand, in scope: SelectionScope, at place: String) throws(SelectionError)
        -> BoundExpression
    {
        let value = try bind(operand, in: scope, at: place)
        if case .constant(.null, _) = value { return .constant(.null, .primitive(.string)) }
        guard value.type.primitive == .string else {
            throw SelectionError(.wrongType("The operator takes texts, not values of type \(value.type)."), at: place)
        }
        return value
    }

    private func found(_ function: CanonicalFunction, of part: BoundExpression, in text: BoundExpression)
        -> BoundExpression
    {
        .function(function, [session.searchable(text), session.searchable(part)], Self.boolean)
    }

    private func like(
        _ left: QueryOperand, _ right: QueryOperand, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> BoundExpression {
        let text = try text(left, in: scope, at: place)
        guard case .value(.string(let written)) = right else {
            throw SelectionError(.misplaced("like takes a constant pattern."), at: place.member("value"))
        }
        func constant(_ text: String) -> BoundExpression { .constant(.string(text), .primitive(.string)) }
        let pattern = LikePattern(written)
        switch pattern.form {
        case .equal(let whole):
            return .binary(.equal, session.searchable(text), session.searchable(constant(whole)), Self.boolean)
        case .starts(let start): return found(.startswith, of: constant(start), in: text)
        case .ends(let end): return found(.endswith, of: constant(end), in: text)
        case .contains(let part): return found(.contains, of: constant(part), in: text)
        case .other(let prefix):
            guard written.unicodeScalars.count <= LikePattern.maxLength else {
                throw SelectionError(.limit("maxPattern"), at: place.member("value"))
            }
            let expression = pattern.expression { part in
                guard let form = session.functions.textForms?.searched,
                    case .string(let formed)? = try? form([.string(part)])
                else { return part }
                return formed
            }
            let matches = BoundExpression.function(
                .matchesPattern, [session.searchable(text), constant(expression)], Self.boolean)
            // The range of the prefix can use an index.
            return prefix.isEmpty
                ? matches : .binary(.and, found(.startswith, of: constant(prefix), in: text), matches, Self.boolean)
        }
    }
}

/// A pattern of `like`: `%` stands for any characters, `_` for one character.
struct LikePattern {
    /// The maximum length of a pattern with a wildcard inside, in code points.
    static let maxLength = 500

    /// The forms that have a simpler test than a regular expression.
    enum Form: Hashable {
        case equal(String)
        case starts(String)
        case ends(String)
        case contains(String)
        /// Any other pattern, with the characters before its first wildcard.
        case other(prefix: String)
    }

    private let pattern: String

    init(_ pattern: String) { self.pattern = pattern }

    var form: Form {
        let scalars = pattern.unicodeScalars
        let prefix = String(String.UnicodeScalarView(scalars.prefix { $0 != "%" && $0 != "_" }))
        if scalars.contains("_") { return .other(prefix: prefix) }
        let start = scalars.prefix { $0 == "%" }.count
        guard start < scalars.count else { return start == 0 ? .equal("") : .contains("") }
        let end = scalars.reversed().prefix { $0 == "%" }.count
        let middle = scalars.dropFirst(start).dropLast(end)
        if middle.contains("%") { return .other(prefix: prefix) }
        let text = String(String.UnicodeScalarView(middle))
        switch (start > 0, end > 0) {
        case (false, false): return .equal(text)
        case (false, true): return .starts(text)
        case (true, false): return .ends(text)
        case (true, true): return .contains(text)
        }
    }

    /// Returns the regular expression of the whole pattern.
    ///
    /// - Parameter formed: returns the form in which texts are searched.
    func expression(_ formed: (String) -> String) -> String {
        var result = "^"
        var part = String.UnicodeScalarView()
        func flush() {
            result += Self.escaped(formed(String(part)))
            part = String.UnicodeScalarView()
        }
        for scalar in pattern.unicodeScalars {
            guard scalar == "%" || scalar == "_" else {
                part.append(scalar)
                continue
            }
            flush()
            result += scalar == "%" ? #"[\s\S]*"# : #"[\s\S]"#
        }
        flush()
        return result + "$"
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if #"\^$.*+?()[]{}|/"#.unicodeScalars.contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
    }
}

extension QueryOperator {
    /// The comparison of OData; `nil` for other operators.
    fileprivate var comparison: BinaryOperator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .lessThan: .less
        case .lessEqual: .lessOrEqual
        case .greaterThan: .greater
        case .greaterEqual: .greaterOrEqual
        default: nil
        }
    }

    /// The function on texts, and whether its result is denied; `nil` for other operators.
    fileprivate var function: (CanonicalFunction, isDenied: Bool)? {
        switch self {
        case .contains: (.contains, false)
        case .startsWith: (.startswith, false)
        case .endsWith: (.endswith, false)
        case .notContains: (.contains, true)
        case .notStartsWith: (.startswith, true)
        case .notEndsWith: (.endswith, true)
        default: nil
        }
    }
}
