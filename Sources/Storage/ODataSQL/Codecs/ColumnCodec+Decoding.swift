import Foundation
import GRDB
import ODataModel

extension ColumnStorage {
    /// The value that a stored value stands for.
    ///
    /// - Parameters:
    ///   - stored: the column's content.
    ///   - model: where the shapes of complex members of JSON columns are found.
    /// - Throws: ``StoredValueError`` with the column's name when the content is not what the codec and type
    ///   say; the caller adds the row.
    public func decode(_ stored: DatabaseValue, in model: EntityDataModel?) throws(StoredValueError) -> ODataValue {
        do {
            return try codec.decode(stored, as: type, in: model)
        } catch {
            throw error.at(column: name)
        }
    }
}

extension ColumnCodec {
    /// Days before and after 1970 that are dates: years beyond six digits have no text form.
    static let maxDays: UInt64 = 365_000_000

    /// The value that a stored value stands for; NULL is null whatever the codec.
    ///
    /// - Parameters:
    ///   - stored: what the column holds.
    ///   - type: the type of the value, which tells integers from enumerations.
    ///   - model: where the shapes of complex members of JSON are found; without it these are refused.
    /// - Throws: ``StoredValueError`` when the content does not parse as declared.
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
        // A text column may have a numeric affinity when it is not ours.
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
        // The shortest text that reads back as the number is the decimal that was stored.
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
            // Only the declared form sorts as its instants do, so no other is taken.
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
        // The least number of 64 bits has no opposite.
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

    /// A foreign instant in the type that its property declares.
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
