import GRDB
import ODataModel
import ODataQuery

/// The form of a constant in a comparison with the values of a column.
enum ComparisonForm {
    /// The column can contain the value itself.
    case exact(DatabaseValue)
    /// The value lies between two values of the column, of which this is the smaller one.
    case above(DatabaseValue)
    /// The value is less than all values of the column.
    case belowAll
    /// The value is greater than all values of the column.
    case aboveAll
    /// The constant must be compared by functions.
    case none

    /// Returns the form of a constant for a codec.
    static func of(_ constant: ODataValue, in codec: ColumnCodec) -> ComparisonForm {
        switch codec {
        case .integer: return scaled(constant, scale: 0)
        case .scaledDecimal(let scale): return scaled(constant, scale: scale)
        case .unixTime(let units):
            guard let instant = ColumnCodec.instant(constant), let count = ColumnCodec.unixCount(instant, units) else {
                return .none
            }
            return count.isExact ? .exact(count.value.databaseValue) : .above(count.value.databaseValue)
        case .dateTimeText(let form):
            guard let instant = ColumnCodec.instant(constant) else { return .none }
            let (text, isExact) = form.floorText(of: instant)
            guard let text else { return instant.seconds < 0 ? .belowAll : .aboveAll }
            return isExact ? .exact(text.databaseValue) : .above(text.databaseValue)
        case .dateText:
            guard case .date(let date) = constant else { return .none }
            let year = date.components.year
            return year < 0 ? .belowAll : year > 9999 ? .aboveAll : .exact(date.description.databaseValue)
        case .numericDecimal:
            // SQLite compares its numbers exactly, so that a constant with such a form needs no function.
            guard let number = ColumnCodec.decimal(constant) else { return .none }
            let stored = ColumnCodec.numeric(number)
            if case .string = stored.storage { return .none }
            return .exact(stored)
        case .double, .single:
            guard case .double(let number) = constant.fitted(to: .double), !number.isNaN else { return .none }
            return .exact(number.databaseValue)
        default:
            guard let stored = try? codec.encode(constant.fitted(to: codec)) else { return .none }
            return .exact(stored)
        }
    }

    private static func scaled(_ constant: ODataValue, scale: Int) -> ComparisonForm {
        switch constant {
        case .integer(let number), .enumeration(let number): return scaled(ODataDecimal(number), scale: scale)
        case .decimal(let number): return scaled(number, scale: scale)
        case .double(let number):
            if number.isNaN { return .none }
            guard number.isFinite, let decimal = ODataDecimal("\(number)") else {
                return number < 0 ? .belowAll : number.isInfinite ? .aboveAll : .none
            }
            return scaled(decimal, scale: scale)
        case .single(let number): return scaled(.double(Double(number)), scale: scale)
        default: return .none
        }
    }

    private static func scaled(_ number: ODataDecimal, scale: Int) -> ComparisonForm {
        if let exact = number.rescaled(to: scale) {
            if let stored = ColumnCodec.int64(exact) { return .exact(stored.databaseValue) }
            return number.isNegative ? .belowAll : .aboveAll
        }
        // The number times 10^scale, rounded down.
        guard
            let shifted = ODataDecimal(
                isNegative: number.isNegative, magnitude: number.magnitude, scale: number.scale - scale),
            let whole = DecimalArithmetic.round(shifted, .down)?.rescaled(to: 0)
        else { return number.isNegative ? .belowAll : .aboveAll }
        guard let stored = ColumnCodec.int64(whole) else { return number.isNegative ? .belowAll : .aboveAll }
        return .above(stored.databaseValue)
    }
}

extension ColumnCodec {
    /// Whether values may violate the declaration of the column, so that error messages contain the column's name.
    var isForeign: Bool {
        switch self {
        case .numericDecimal, .dateText, .timeText, .dateTimeText, .guidText, .unixTime, .json: true
        default: false
        }
    }

    /// Whether equal values always have the same stored form, so that SQL can compare them for equality.
    var isUnambiguous: Bool {
        switch self {
        // The exceptions are instants with two offsets, hexadecimal digits in both cases, and optional seconds.
        case .dateTimeOffset, .guidText, .timeText, .json, .anyText: false
        default: true
        }
    }

    /// Whether values of any storage class are read as strings.
    package var isAnyText: Bool { if case .anyText = self { true } else { false } }

    /// Whether a key, which is never JSON, has several stored forms.
    package var hasSeveralForms: Bool { !isUnambiguous && self != .json }
}

extension ColumnStorage {
    /// Whether SQLite may treat different strings as equal, because of affinity or collation.
    var isComparedAsText: Bool { codec.isAnyText || codec == .string && !comparesBytes }
}
