import ODataModel

/// Evaluation of the canonical functions (OData URL Conventions 4.01, 5.1.1.5 to 5.1.1.11). The result is null if
/// an argument is null.
extension Evaluator {
    /// 0001-01-01T00:00:00Z.
    private static let leastInstant = ODataDateTimeOffset(seconds: -62_135_596_800)
    /// 9999-12-31T23:59:59.999999999999Z.
    private static let greatestInstant = ODataDateTimeOffset(
        seconds: 253_402_300_799, picoseconds: 999_999_999_999)

    func call(_ function: CanonicalFunction, _ arguments: [ODataValue]) throws -> ODataValue {
        if arguments.contains(where: \.isNull) { return .null }
        switch function {
        case .now: return .dateTimeOffset(now)
        case .mindatetime: return .dateTimeOffset(Self.leastInstant)
        case .maxdatetime: return .dateTimeOffset(Self.greatestInstant)
        case .round, .floor, .ceiling: return try Self.rounded(function, arguments[0])
        case .geoDistance, .geoIntersects, .geoLength: return try Self.geo(function, arguments)
        case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .date, .time, .totaloffsetminutes,
            .totalseconds, .years, .months, .days, .hours, .minutes, .seconds:
            return try Self.part(function, arguments[0])
        case .hassubset, .hassubsequence: return try Self.collection(function, arguments)
        case .case: return .null
        default:
            if case .collection = arguments[0] { return try Self.collection(function, arguments) }
            return try Self.text(function, arguments)
        }
    }

    private static func mismatch(_ function: CanonicalFunction, _ expected: String) -> EvaluationError {
        .type("An argument of \(function.rawValue)", expected: expected)
    }

    // MARK: Strings

    private static func text(_ function: CanonicalFunction, _ arguments: [ODataValue]) throws -> ODataValue {
        func string(_ index: Int) throws -> String {
            guard index < arguments.count, let text = arguments[index].text else {
                throw mismatch(function, "a string")
            }
            return text
        }
        func number(_ index: Int) throws -> Int64 {
            guard case .integer(let number) = arguments[index] else { throw mismatch(function, "a whole number") }
            return number
        }
        let text = try string(0)
        switch function {
        case .contains: return .boolean(TextOperations.index(of: try string(1), in: text) >= 0)
        case .substringof: return .boolean(TextOperations.index(of: text, in: try string(1)) >= 0)
        case .startswith: return .boolean(text.utf8.starts(with: try string(1).utf8))
        case .endswith: return .boolean(TextOperations.hasSuffix(text, try string(1)))
        case .indexof: return .integer(Int64(TextOperations.index(of: try string(1), in: text)))
        case .length: return .integer(Int64(TextOperations.length(text)))
        case .substring:
            let length = arguments.count > 2 ? try number(2) : nil
            return .string(TextOperations.substring(text, from: try number(1), length: length))
        case .concat: return .string(try TextOperations.concatenated(text, try string(1)))
        case .tolower: return .string(TextOperations.lowered(text))
        case .toupper: return .string(TextOperations.uppered(text))
        case .trim: return .string(TextOperations.trimmed(text))
        case .replace:
            return .string(try TextOperations.replacing(try string(1), with: try string(2), in: text))
        case .matchesPattern: return .boolean(try PatternMatching.matches(text, pattern: try string(1)))
        default: throw EvaluationError.unsupported(function.rawValue)
        }
    }

    // MARK: Collections

    private static func collection(_ function: CanonicalFunction, _ arguments: [ODataValue]) throws -> ODataValue {
        guard case .collection(let members) = arguments[0] else { throw mismatch(function, "a collection") }
        if function == .length { return .integer(Int64(members.count)) }
        if function == .substring { return .collection(try slice(members, arguments)) }
        guard arguments.count > 1, case .collection(let others) = arguments[1] else {
            throw mismatch(function, "a collection")
        }
        func matches(at start: Int) -> Bool {
            zip(members[start...], others).allSatisfy { ValueOrder.isEqual($0, $1) }
        }
        switch function {
        case .concat:
            guard members.count + others.count <= maxJoinedRows else {
                throw EvaluationError.limit("maxJoinedRows")
            }
            return .collection(members + others)
        case .startswith: return .boolean(others.count <= members.count && matches(at: 0))
        case .endswith: return .boolean(others.count <= members.count && matches(at: members.count - others.count))
        case .contains, .indexof:
            let last = members.count - others.count
            let index = last < 0 ? nil : (0...last).first(where: matches)
            return function == .contains ? .boolean(index != nil) : .integer(Int64(index ?? -1))
        case .hassubsequence:
            var rest = others[...]
            for member in members {
                guard let next = rest.first else { break }
                if ValueOrder.isEqual(member, next) { rest = rest.dropFirst() }
            }
            return .boolean(rest.isEmpty)
        case .hassubset:
            // The first collection must contain a member at least as often as the second.
            var counts: [GroupKey: Int] = [:]
            for member in members { counts[GroupKey([member]), default: 0] += 1 }
            for other in others { counts[GroupKey([other]), default: 0] -= 1 }
            return .boolean(counts.values.allSatisfy { $0 >= 0 })
        default: throw EvaluationError.unsupported("\(function.rawValue) of collections")
        }
    }

    private static func slice(_ members: [ODataValue], _ arguments: [ODataValue]) throws -> [ODataValue] {
        guard case .integer(let start) = arguments[1] else { throw mismatch(.substring, "a whole number") }
        let count = Int64(members.count)
        let first = start < 0 ? max(0, count + max(start, -count)) : min(start, count)
        var taken = count - first
        if arguments.count > 2 {
            guard case .integer(let length) = arguments[2] else { throw mismatch(.substring, "a whole number") }
            taken = min(max(length, 0), taken)
        }
        return Array(members.dropFirst(Int(first)).prefix(Int(taken)))
    }

    // MARK: Dates

    /// Returns a part of a date or time, in the time zone in which the value was written.
    private static func part(_ function: CanonicalFunction, _ value: ODataValue) throws -> ODataValue {
        let local: ODataDateTime?
        switch value {
        case .dateTimeOffset(let instant):
            if function == .totaloffsetminutes { return .integer(Int64(instant.offsetMinutes)) }
            local = instant.local
        case .dateTime(let instant): local = instant
        default: local = nil
        }
        var date = local?.date
        var time = local?.timeOfDay.picoseconds
        if case .date(let given) = value { date = given }
        if case .timeOfDay(let given) = value { time = given.picoseconds }
        // The V2 type Edm.Time is represented as a duration.
        if case .duration = value {
            if function == .totalseconds {
                return DateArithmetic.seconds(of: value.picoseconds ?? 0).map { .decimal($0) } ?? .null
            }
            time = value.picoseconds.flatMap { Int64(exactly: $0) }
        }
        let second = DateArithmetic.picosecondsPerSecond
        switch function {
        case .date: if let local { return .date(local.date) }
        case .time: if let local { return .timeOfDay(local.timeOfDay) }
        case .year, .years: if let date { return .integer(Int64(date.components.year)) }
        case .month, .months: if let date { return .integer(Int64(date.components.month)) }
        case .day, .days: if let date { return .integer(Int64(date.components.day)) }
        case .hour, .hours: if let time { return .integer(time / second / 3600) }
        case .minute, .minutes: if let time { return .integer(time / second / 60 % 60) }
        case .second, .seconds: if let time { return .integer(time / second % 60) }
        case .fractionalseconds:
            if let time { return DateArithmetic.seconds(of: Int128(time % second)).map { .decimal($0) } ?? .null }
        default: break
        }
        throw mismatch(function, "a date or time that has this part")
    }

    // MARK: Numbers and shapes

    private static func rounded(_ function: CanonicalFunction, _ value: ODataValue) throws -> ODataValue {
        let (decimal, double): (DecimalArithmetic.Rounding, FloatingPointRoundingRule) =
            switch function {
            case .floor: (.down, .down)
            case .ceiling: (.up, .up)
            default: (.halfAwayFromZero, .toNearestOrAwayFromZero)
            }
        switch value {
        case .integer: return value
        case .decimal(let number):
            guard let result = DecimalArithmetic.round(number, decimal) else {
                throw EvaluationError.overflow(function.rawValue)
            }
            return .decimal(result)
        case .double(let number): return .double(number.rounded(double))
        case .single(let number): return .single(number.rounded(double))
        default: throw mismatch(function, "a number")
        }
    }

    private static func geo(_ function: CanonicalFunction, _ arguments: [ODataValue]) throws -> ODataValue {
        let shapes = try arguments.map { argument throws(EvaluationError) in
            guard case .geo(let value) = argument else { throw mismatch(function, "a geo value") }
            return GeoShape(value)
        }
        switch function {
        case .geoLength: return shapes[0].length.map { .double($0) } ?? .null
        case .geoDistance: return shapes[0].distance(to: shapes[1]).map { .double($0) } ?? .null
        default: return .boolean(shapes[0].intersects(shapes[1]))
        }
    }
}
