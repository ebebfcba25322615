import Foundation
import GRDB
import ODataModel

extension ColumnStorage {
    /// Decodes a stored value.
    ///
    /// - Parameters:
    ///   - stored: the content of the column.
    ///   - model: the model with the complex types of JSON columns.
    /// - Throws: ``StoredValueError`` with the name of the column if the content does not match the codec and type;
    ///   the caller adds the row.
    public func decode(_ stored: DatabaseValue, in model: EntityDataModel?) throws(StoredValueError) -> ODataValue {
        do {
            return try codec.decode(stored, as: type, in: model)
        } catch {
            throw error.at(column: name)
        }
    }
}

extension ColumnCodec {
    /// The maximum number of days before and after 1970; years of more than six digits have no text form.
    static let maxDays: UInt64 = 365_000_000

    /// Decodes a stored value. NULL is null for every codec.
    ///
    /// - Parameters:
    ///   - stored: the content of the column.
    ///   - type: the type of the value, which distinguishes integers from enumerations.
    ///   - model: the model with the complex types of JSON; without a model, complex values are refused.
    /// - Throws: ``StoredValueError`` if the content does not match the codec and type.
    public func decode(
        _ stored: DatabaseValue, as type: TypeReference, in model: EntityDataModel?
    ) throws(StoredValueError) -> ODataValue {
        switch stored.storage {
        case .null: return .null
        case _ where isAnyText: if let text = AnyText.text(of: stored) { return .string(text) }
        case .int64(let number): if let value = decode(number, as: type) { return value }
        case .double(let number): if let value = decode(number) { return value }
        case .string(let text):
            if self == .json { return try StoredJSON.decode(text, as: type, in: model) }
            if let value = decode(text, as: type) { return value }
        case .blob(let data): if let value = decode(data) { return value }
        }
        throw StoredValueError(found: Self.describe(stored), expected: expectation)
    }

    private func decode(_ number: Int64, as type: TypeReference) -> ODataValue? {
        switch self {
        case .integer:
            if case .enumeration = type { return .enumeration(number) }
            return .integer(number)
        case .boolean: return number == 0 ? .boolean(false) : number == 1 ? .boolean(true) : nil
        case .double: return .double(Double(number))
        case .single: return .single(Float(number))
        // A text column of an existing database may have numeric affinity.
        case .string: return .string(String(number))
        case .date:
            return number.magnitude < Self.maxDays ? .date(ODataDate(daysSinceEpoch: number)) : nil
        case .timeOfDay: return ODataTimeOfDay(picoseconds: number).map { .timeOfDay($0) }
        case .scaledDecimal(let scale):
            return ODataDecimal(isNegative: number < 0, magnitude: UInt128(number.magnitude), scale: scale)
                .map { .decimal($0.normalized) }
        case .numericDecimal: return .decimal(ODataDecimal(number))
        case .unixTime(let units):
            guard units > 0, 1_000_000_000_000 % units == 0 else { return nil }
            let unit = Int64(units)
            let rest = number % unit
            let seconds = number / unit - (rest < 0 ? 1 : 0)
            guard seconds.magnitude < InstantKey.maxSeconds else { return nil }
            let picoseconds = (rest < 0 ? rest + unit : rest) * (1_000_000_000_000 / unit)
            return Self.instant(ODataDateTime(seconds: seconds, picoseconds: picoseconds), as: type)
        default: return nil
        }
    }

    private func decode(_ number: Double) -> ODataValue? {
        switch self {
        case .double: .double(number)
        case .single: .single(Float(number))
        case .string: .string("\(number)")
        // The shortest text that reads back as the same number is the decimal that was stored.
        case .numericDecimal: number.isFinite ? ODataDecimal("\(number)").map { .decimal($0) } : nil
        case .integer: Int64(exactly: number).map { .integer($0) }
        default: nil
        }
    }

    private func decode(_ text: String, as type: TypeReference) -> ODataValue? {
        switch self {
        case .string: return .string(text)
        case .guidText: return ODataGuid(text).map { .guid($0) }
        case .dateText: return ODataDate(text).map { .date($0) }
        case .timeText: return ODataTimeOfDay(text).map { .timeOfDay($0) }
        case .numericDecimal: return ODataDecimal(text).map { .decimal($0) }
        case .dateTimeText(let form):
            // Only texts in the declared form sort by time, so that all others are refused.
            guard let instant = ODataDateTimeOffset(form.suffix == "Z" ? text : text + "Z"),
                let utc = Self.instant(.dateTimeOffset(instant)), form.text(of: utc) == text
            else { return nil }
            return Self.instant(utc, as: type)
        default: return nil
        }
    }

    private func decode(_ data: Data) -> ODataValue? {
        switch self {
        case .binary: .binary(Array(data))
        case .guid: ODataGuid(bytes: data).map { .guid($0) }
        case .double: data.elementsEqual("nan".utf8) ? .double(.nan) : nil
        case .single: data.elementsEqual("nan".utf8) ? .single(.nan) : nil
        case .dateTime:
            key(data, below: InstantKey.maxSeconds)
                .map { .dateTime(ODataDateTime(seconds: $0.seconds, picoseconds: $0.picoseconds)) }
        case .dateTimeOffset: InstantKey.decodeOffset(data).map { .dateTimeOffset($0) }
        // The smallest 64-bit integer has no positive counterpart.
        case .duration:
            key(data, below: 1 << 63)
                .map { .duration(ODataDuration(seconds: $0.seconds, picoseconds: $0.picoseconds)) }
        case .decimalBytes: DecimalKey.decode(data).map { .decimal($0) }
        case .string: String(validating: data, as: UTF8.self).map { .string($0) }
        default: nil
        }
    }

    private func key(_ data: Data, below limit: UInt64) -> (seconds: Int64, picoseconds: Int64)? {
        guard data.count == 16, let key = InstantKey.decode(data), key.seconds.magnitude < limit else { return nil }
        return key
    }

    /// Returns an instant of an existing database in the declared type of its property.
    static func instant(_ value: ODataDateTime, as type: TypeReference) -> ODataValue {
        type.primitive == .dateTime
            ? .dateTime(value)
            : .dateTimeOffset(ODataDateTimeOffset(seconds: value.seconds, picoseconds: value.picoseconds))
    }

    package static func describe(_ stored: DatabaseValue) -> String {
        switch stored.storage {
        case .null: "NULL"
        case .int64(let number): "the integer \(number)"
        case .double(let number): "the number \(number)"
        case .string(let text): "the text \"\(brief(text))\""
        case .blob(let data): "\(data.count) bytes"
        }
    }
}
