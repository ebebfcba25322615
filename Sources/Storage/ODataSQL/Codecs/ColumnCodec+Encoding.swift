import Foundation
import GRDB
import ODataModel

extension ColumnCodec {
    /// Encodes a value for its column. Null is stored as NULL by every codec.
    ///
    /// - Throws: ``StoredValueError`` if the value is of another type, or if the column cannot hold it exactly. The
    ///   fraction may be too fine, or the number too large.
    public func encode(_ value: ODataValue) throws(StoredValueError) -> DatabaseValue {
        if value.isNull { return .null }
        guard let stored = stored(value) else {
            throw StoredValueError(found: "the value \(Self.brief(value))", expected: expectation)
        }
        return stored
    }

    /// Returns the stored form; `nil` if the value does not fit the codec.
    private func stored(_ value: ODataValue) -> DatabaseValue? {
        switch (self, value) {
        case (.integer, .integer(let number)), (.integer, .enumeration(let number)): return number.databaseValue
        case (.boolean, .boolean(let flag)): return (flag ? 1 : 0).databaseValue
        case (.double, .double(let number)): return Self.real(number)
        case (.double, .single(let number)), (.single, .single(let number)): return Self.real(Double(number))
        case (.single, .double(let number)):
            return number.isNaN || Double(Float(number)) == number ? Self.real(number) : nil
        case (.double, .integer(let number)), (.single, .integer(let number)):
            return Int64(exactly: Double(number)) == number ? Double(number).databaseValue : nil
        case (.string, .string(let text)): return text.databaseValue
        case (.anyText(let affinity), .string(let text)): return AnyText.stored(text, in: affinity)
        case (.binary, .binary(let bytes)): return Data(bytes).databaseValue
        case (.guid, .guid(let guid)): return Data(guid.bytes).databaseValue
        case (.guidText, .guid(let guid)): return guid.description.databaseValue
        case (.date, .date(let date)): return date.daysSinceEpoch.databaseValue
        case (.dateText, .date(let date)): return date.description.databaseValue
        case (.timeOfDay, .timeOfDay(let time)): return time.picoseconds.databaseValue
        case (.timeText, .timeOfDay(let time)): return time.description.databaseValue
        case (.dateTime, .dateTime(let instant)):
            return Self.blob(InstantKey.encode(seconds: instant.seconds, picoseconds: instant.picoseconds))
        case (.dateTimeOffset, .dateTimeOffset(let instant)): return Self.blob(InstantKey.encode(instant))
        case (.duration, .duration(let duration)):
            return Self.blob(InstantKey.encode(seconds: duration.seconds, picoseconds: duration.picoseconds))
        case (.scaledDecimal(let scale), _):
            guard let number = Self.decimal(value)?.rescaled(to: scale), let scaled = Self.int64(number) else {
                return nil
            }
            return scaled.databaseValue
        case (.decimalBytes, _): return Self.decimal(value).map { Self.blob(DecimalKey.encode($0)) }
        case (.numericDecimal, _): return Self.decimal(value).map(Self.numeric)
        case (.dateTimeText(let form), _):
            guard let instant = Self.instant(value), let text = form.text(of: instant) else { return nil }
            return text.databaseValue
        case (.unixTime(let units), _):
            guard let instant = Self.instant(value), let count = Self.unixCount(instant, units),
                count.isExact
            else { return nil }
            return count.value.databaseValue
        case (.json, _): return StoredJSON.encode(value)?.databaseValue
        default: return nil
        }
    }

    /// Returns the stored form of a floating-point number. NaN is stored as bytes, because SQLite converts it to
    /// NULL in a REAL column.
    static func real(_ number: Double) -> DatabaseValue {
        number.isNaN ? blob(Array("nan".utf8)) : number.databaseValue
    }

    static func blob(_ bytes: [UInt8]) -> DatabaseValue { Data(bytes).databaseValue }

    /// Returns the value as a decimal if it is a decimal or an integer.
    static func decimal(_ value: ODataValue) -> ODataDecimal? {
        switch value {
        case .decimal(let number): number
        case .integer(let number): ODataDecimal(number)
        default: nil
        }
    }

    /// Returns the unscaled digits of a decimal as a signed integer; `nil` if they do not fit into 64 bits.
    static func int64(_ value: ODataDecimal) -> Int64? {
        guard value.magnitude <= UInt128(Int64.max) + (value.isNegative ? 1 : 0) else { return nil }
        return value.isNegative
            ? Int64(truncatingIfNeeded: 0 &- value.magnitude) : Int64(truncatingIfNeeded: value.magnitude)
    }

    /// Returns the form of a decimal in an existing numeric column: a number if it reads back unchanged, otherwise
    /// its digits as text.
    static func numeric(_ value: ODataDecimal) -> DatabaseValue {
        if let whole = value.rescaled(to: 0), let number = int64(whole) { return number.databaseValue }
        let double = value.doubleValue
        if double.isFinite, ODataDecimal("\(double)") == value { return double.databaseValue }
        return value.description.databaseValue
    }

    /// Returns the UTC instant of a date-time with or without an offset.
    static func instant(_ value: ODataValue) -> ODataDateTime? {
        switch value {
        case .dateTimeOffset(let instant): ODataDateTime(seconds: instant.seconds, picoseconds: instant.picoseconds)
        case .dateTime(let instant): instant
        default: nil
        }
    }

    /// Returns the number of whole units since 1970, rounded down; `nil` if the number overflows or the unit does
    /// not divide 10^12.
    static func unixCount(_ instant: ODataDateTime, _ units: Int) -> (value: Int64, isExact: Bool)? {
        guard units > 0, 1_000_000_000_000 % units == 0 else { return nil }
        let (scaled, overflow) = instant.seconds.multipliedReportingOverflow(by: Int64(units))
        let picosecondsPerUnit = 1_000_000_000_000 / Int64(units)
        let (sum, overflow2) = scaled.addingReportingOverflow(instant.picoseconds / picosecondsPerUnit)
        return overflow || overflow2 ? nil : (sum, instant.picoseconds % picosecondsPerUnit == 0)
    }

    /// A description of the accepted values, for error messages.
    var expectation: String {
        switch self {
        case .integer: "a whole number of 64 bits"
        case .boolean: "true or false"
        case .double: "a floating-point number"
        case .single: "a floating-point number of 32 bits"
        case .string: "a string"
        case .anyText(.numeric), .anyText(.real): "a string that is no number, or a number as the column writes it"
        case .anyText: "a string"
        case .binary: "bytes"
        case .guid, .guidText: "a GUID"
        case .date, .dateText: "a date as YYYY-MM-DD"
        case .timeOfDay, .timeText: "a time of day as hh:mm:ss"
        case .dateTime: "a date and time"
        case .dateTimeOffset: "a date and time with offset"
        case .duration: "a duration"
        case .scaledDecimal(let scale): "a decimal of 18 digits, \(scale) of them after the point"
        case .decimalBytes, .numericDecimal: "a decimal number"
        case .json: "JSON"
        case .dateTimeText(let form):
            "a date and time as YYYY-MM-DD\(form.separator)hh:mm:ss"
                + (form.fractionDigits > 0 ? "." + String(repeating: "f", count: form.fractionDigits) : "")
                + form.suffix
        case .unixTime(let units): "a date and time in 1/\(units) seconds since 1970"
        }
    }

    /// Returns a value for error messages, truncated to 80 characters.
    static func brief(_ value: some Any) -> String {
        let text = "\(value)"
        return text.count <= 80 ? text : text.prefix(77) + "..."
    }
}

extension ColumnCodec.DateTimeTextForm {
    /// Returns the text of an instant in UTC; `nil` if it has more fractional digits than the form. Years without
    /// four digits are refused, because their text order would differ from their time order.
    func text(of instant: ODataDateTime) -> String? {
        let (text, isExact) = floorText(of: instant)
        return isExact ? text : nil
    }

    /// Returns the greatest text of the form that is not after the instant, and whether the text is exact.
    func floorText(of instant: ODataDateTime) -> (text: String?, isExact: Bool) {
        guard (0...9999).contains(instant.date.components.year), (0...12).contains(fractionDigits) else {
            return (nil, false)
        }
        let whole = ODataDateTime(seconds: instant.seconds)
        var text = "\(whole.date)\(separator)\(whole.timeOfDay)"
        var divisor: Int64 = 1
        for _ in fractionDigits..<12 { divisor *= 10 }
        if fractionDigits > 0 {
            let digits = String(instant.picoseconds / divisor)
            text += "." + String(repeating: "0", count: fractionDigits - digits.utf8.count) + digits
        }
        return (text + suffix, instant.picoseconds % divisor == 0)
    }
}
