import ODataModel

/// The canonical functions: how many arguments of which types, and the type of the result
/// (OData URL Conventions 4.01, 5.1.1.4 to 5.1.1.12).
extension ExpressionBinder {
    private static let byName: [String: CanonicalFunction] = Dictionary(
        uniqueKeysWithValues: CanonicalFunction.allCases.map { ($0.rawValue.lowercased(), $0) })

    mutating func bind(call name: Identifier, _ arguments: [Expression]) throws(QueryError) -> BoundExpression {
        guard let function = Self.byName[name.text.lowercased()] else {
            if name.text.contains(".") { throw unsupported("the function \(name)", name.offset) }
            throw QueryError(
                .unknownName, "There is no function \(name).", offset: name.offset,
                suggestions: nearest(to: name.text, among: CanonicalFunction.allCases.map(\.rawValue)))
        }
        var bound: [BoundExpression] = []
        for argument in arguments { bound.append(try bind(argument)) }
        let call = Call(function: function, name: name, arguments: bound, offsets: arguments.map(\.offset))
        return try call.bound()
    }
}

/// One call while its arguments are checked.
private struct Call {
    let function: CanonicalFunction
    let name: Identifier
    var arguments: [BoundExpression]
    let offsets: [Int?]

    func bound() throws(QueryError) -> BoundExpression {
        switch function {
        case .contains, .startswith, .endswith:
            try count(2...2)
            try require(0, isString)
            try require(1, isString)
            return result(.boolean)
        case .substringof:
            try count(2...2)
            try require(0, isString)
            try require(1, isString)
            // The V2 function has its operands the other way round.
            return .function(.contains, [arguments[1], arguments[0]], .primitive(.boolean))
        case .matchesPattern:
            try count(2...2)
            try require(0, isString)
            try require(1, isString)
            return result(.boolean)
        case .concat:
            try count(2...2)
            if arguments.allSatisfy(\.type.isCollection) { return .function(function, arguments, arguments[0].type) }
            try require(0, isString)
            try require(1, isString)
            return result(.string)
        case .indexof:
            try count(2...2)
            try require(0, isString)
            try require(1, isString)
            return result(.int32)
        case .length:
            try count(1...1)
            try require(0, isString)
            return result(.int32)
        case .substring:
            try count(2...3)
            try require(0, isString)
            for index in 1..<arguments.count { try require(index, isInteger) }
            return result(.string)
        case .tolower, .toupper, .trim:
            try count(1...1)
            try require(0, isString)
            return result(.string)
        case .replace:
            try count(3...3)
            for index in 0..<3 { try require(index, isString) }
            return result(.string)
        case .hassubset, .hassubsequence:
            try count(2...2)
            return result(.boolean)
        case .year, .month, .day:
            try count(1...1)
            try require(0, Expected("a date") { [.date, .dateTimeOffset, .dateTime].contains($0) })
            return result(.int32)
        case .hour, .minute, .second:
            try count(1...1)
            try require(0, hasTime)
            return result(.int32)
        case .fractionalseconds:
            try count(1...1)
            try require(0, hasTime)
            return result(.decimal)
        case .date:
            try count(1...1)
            try require(0, Expected("an instant") { [.dateTimeOffset, .dateTime].contains($0) })
            return result(.date)
        case .time:
            try count(1...1)
            try require(0, Expected("an instant") { [.dateTimeOffset, .dateTime].contains($0) })
            return result(.timeOfDay)
        case .now, .maxdatetime, .mindatetime:
            try count(0...0)
            return result(.dateTimeOffset)
        case .totaloffsetminutes:
            try count(1...1)
            try require(0, Expected("an instant") { $0 == .dateTimeOffset })
            return result(.int32)
        case .totalseconds:
            try count(1...1)
            try require(0, Expected("a duration") { $0 == .duration || $0 == .time })
            return result(.decimal)
        case .round, .floor, .ceiling:
            try count(1...1)
            try require(0, Expected("a number") { $0.isNumeric })
            switch arguments[0].type.primitive {
            case .double?, .single?: return result(.double)
            default:
                return .function(
                    function, [try Promotion.cast(arguments[0], to: .decimal, offsets[0])], .primitive(.decimal))
            }
        case .geoDistance, .geoLength:
            try count(function == .geoLength ? 1...1 : 2...2)
            return result(.double)
        case .geoIntersects:
            try count(2...2)
            return result(.boolean)
        case .case: return try boundCase()
        case .years, .minutes: throw unsupported
        }
    }

    /// `case(condition:value,…)`: the values share one type.
    private func boundCase() throws(QueryError) -> BoundExpression {
        guard !arguments.isEmpty, arguments.count.isMultiple(of: 2) else {
            throw QueryError(.type, "case takes pairs of condition and value.", offset: name.offset)
        }
        var checked = arguments
        var type: TypeReference?
        for index in stride(from: 0, to: arguments.count, by: 2) {
            checked[index] = try Promotion.boolean(arguments[index], offset: offsets[index])
            guard !arguments[index + 1].isNull else { continue }
            let own = arguments[index + 1].type
            if let known = type?.primitive, let other = own.primitive, known != other {
                guard known.isNumeric, other.isNumeric else {
                    throw QueryError(
                        .type, "The values of case are of types \(known.rawValue) and \(other.rawValue).",
                        offset: offsets[index + 1])
                }
                type = .primitive(Promotion.numeric(known, other))
            } else {
                type = type ?? own
            }
        }
        return .function(.case, checked, type ?? .untyped("Edm.Untyped"))
    }

    private var unsupported: QueryError {
        QueryError(
            .unsupported(feature: "the function \(name)"), "The function \(name) is not supported.",
            offset: name.offset)
    }

    private func result(_ type: PrimitiveType) -> BoundExpression { .function(function, arguments, .primitive(type)) }

    private func count(_ allowed: ClosedRange<Int>) throws(QueryError) {
        guard !allowed.contains(arguments.count) else { return }
        let wanted = allowed.lowerBound == allowed.upperBound
            ? "\(allowed.lowerBound)" : "\(allowed.lowerBound) to \(allowed.upperBound)"
        throw QueryError(
            .type, "\(function.rawValue) takes \(wanted) arguments, not \(arguments.count).", offset: name.offset)
    }

    /// What an argument must be.
    private struct Expected {
        let name: String
        let accepts: (PrimitiveType) -> Bool

        init(_ name: String, _ accepts: @escaping (PrimitiveType) -> Bool) {
            self.name = name
            self.accepts = accepts
        }
    }

    private var isString: Expected { Expected("a string") { $0 == .string } }
    private var isInteger: Expected { Expected("a whole number") { $0.isInteger } }
    private var hasTime: Expected {
        Expected("a time") { [.timeOfDay, .dateTimeOffset, .dateTime, .duration, .time].contains($0) }
    }

    private func require(_ index: Int, _ expected: Expected) throws(QueryError) {
        let argument = arguments[index]
        if argument.isNull { return }
        if case .untyped = argument.type { return }
        if let type = argument.type.primitive, expected.accepts(type) { return }
        throw QueryError(
            .type, "\(function.rawValue) takes \(expected.name) here, not \(argument.type).", offset: offsets[index])
    }
}
