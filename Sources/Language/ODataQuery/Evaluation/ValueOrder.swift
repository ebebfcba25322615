import ODataModel

/// Equality and order of values for comparison operators, `$orderby` and `groupby`.
enum ValueOrder {
    /// Compares two values that are not null; returns `nil` if they are not comparable, such as NaN.
    static func compare(_ left: ODataValue, _ right: ODataValue) -> Comparison? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)), (.enumeration(let a), .enumeration(let b)): return order(a, b)
        case (.double, _), (_, .double), (.single, _), (_, .single):
            guard let a = left.double, let b = right.double, !a.isNaN, !b.isNaN else { return nil }
            return order(a, b)
        case (.decimal, _), (_, .decimal):
            guard let a = left.decimal, let b = right.decimal else { return nil }
            return order(a, b)
        // UTF-8 preserves the order of code points; the order of Swift strings normalises.
        case (.string(let a), .string(let b)): return order(a.utf8, b.utf8)
        case (.boolean(let a), .boolean(let b)): return order(a ? 1 : 0, b ? 1 : 0)
        case (.guid(let a), .guid(let b)): return order(a.bytes, b.bytes)
        case (.binary(let a), .binary(let b)): return order(a, b)
        case (.date(let a), .date(let b)): return order(a, b)
        case (.timeOfDay(let a), .timeOfDay(let b)): return order(a, b)
        case (.duration, .duration), (.dateTime, _), (.dateTimeOffset, _):
            guard let a = left.picoseconds, let b = right.picoseconds else { return nil }
            return order(a, b)
        default: return nil
        }
    }

    enum Comparison { case less, equal, greater }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Comparison {
        left == right ? .equal : left < right ? .less : .greater
    }

    private static func order(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Comparison {
        left.elementsEqual(right) ? .equal : left.lexicographicallyPrecedes(right) ? .less : .greater
    }

    /// Returns whether two values are equal (`eq`). Null equals only null; instances and collections are compared
    /// by content.
    static func isEqual(_ left: ODataValue, _ right: ODataValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.collection(let a), .collection(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { isEqual($0, $1) }
        case (.complex(let a), .complex(let b)):
            let names = Set(a.shape.properties.map(\.name) + b.shape.properties.map(\.name))
                .union(a.dynamicProperties.keys).union(b.dynamicProperties.keys)
            return names.allSatisfy { isEqual(a[$0] ?? .null, b[$0] ?? .null) }
        case (.geo(let a), .geo(let b)): return a == b
        default: return compare(left, right) == .equal
        }
    }

    /// Returns whether a value precedes another in ascending `$orderby`: null before everything, NaN after all
    /// numbers.
    static func precedes(_ left: ODataValue, _ right: ODataValue) -> Bool {
        switch (left.isNull, right.isNull) {
        case (true, let other): return !other
        case (false, true): return false
        default: break
        }
        if let comparison = compare(left, right) { return comparison == .less }
        return left.double?.isNaN == false && right.double?.isNaN == true
    }
}

extension ODataValue {
    /// The number as a double; `nil` for other values.
    var double: Double? {
        switch self {
        case .integer(let value), .enumeration(let value): Double(value)
        case .single(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): value.doubleValue
        default: nil
        }
    }

    /// The number as a decimal; `nil` for other values and non-finite numbers.
    var decimal: ODataDecimal? {
        switch self {
        case .integer(let value): ODataDecimal(value)
        case .decimal(let value): value
        case .double(let value): value.isFinite ? ODataDecimal("\(value)") : nil
        case .single(let value): value.isFinite ? ODataDecimal("\(value)") : nil
        default: nil
        }
    }

    /// The picoseconds of a duration, or of an instant since 1970.
    var picoseconds: Int128? {
        switch self {
        case .duration(let value): DateArithmetic.total(seconds: value.seconds, picoseconds: value.picoseconds)
        case .dateTime(let value): DateArithmetic.total(seconds: value.seconds, picoseconds: value.picoseconds)
        case .dateTimeOffset(let value): DateArithmetic.total(seconds: value.seconds, picoseconds: value.picoseconds)
        default: nil
        }
    }

    /// The text of a string; `nil` for other values.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
