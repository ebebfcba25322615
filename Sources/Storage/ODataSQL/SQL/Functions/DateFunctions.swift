import Foundation
import GRDB
import ODataModel
import ODataQuery

/// Functions and arithmetic for dates and times in their stored forms.
///
/// The length of a date-time determines its form: sixteen bytes without an offset, eighteen bytes with one. Its
/// parts are those of the local time at the offset. An integer is a date (days) for functions of days, months and
/// years, and otherwise a time of day (picoseconds).
enum DateFunctions {
    private static let picosecondsPerSecond = DateArithmetic.picosecondsPerSecond

    static let all: [DatabaseFunction] = [
        part("year") { Int64($0.components.year) }, part("month") { Int64($0.components.month) },
        part("day") { Int64($0.components.day) },
        clock("hour") { $0 / picosecondsPerSecond / 3600 }, clock("minute") { $0 / picosecondsPerSecond / 60 % 60 },
        clock("second") { $0 / picosecondsPerSecond % 60 },
        StoreFunctions.function("fractionalseconds", 1) {
            fraction(seconds: 0, picoseconds: try timeOfDay($0[0]) % picosecondsPerSecond)
        },
        StoreFunctions.function("date", 1) { try local($0[0]).date.daysSinceEpoch },
        StoreFunctions.function("time", 1) { try local($0[0]).timeOfDay.picoseconds },
        StoreFunctions.function("totaloffsetminutes", 1) {
            guard case .blob(let data) = $0[0].storage, let value = InstantKey.decodeOffset(data) else {
                return 0
            }
            return value.offsetMinutes
        },
        StoreFunctions.function("totalseconds", 1) {
            let (seconds, picoseconds) = try instant($0[0])
            return fraction(seconds: seconds, picoseconds: picoseconds)
        },
        // The sum of an instant and a duration; the offset is unchanged.
        StoreFunctions.function("instant_add", 2) { try shift($0[0], by: $0[1], sign: 1) },
        StoreFunctions.function("instant_sub", 2) { try shift($0[0], by: $0[1], sign: -1) },
        StoreFunctions.function("instant_diff", 2) { try difference($0[0], $0[1]) },
        StoreFunctions.function("date_add", 2) { try days($0, sign: 1) },
        StoreFunctions.function("date_sub", 2) { try days($0, sign: -1) },
        StoreFunctions.function("date_diff", 2) {
            let (days, overflow) = try $0.integer(0).subtractingReportingOverflow($0.integer(1))
            let (seconds, overflow2) = days.multipliedReportingOverflow(by: 86_400)
            if overflow || overflow2 { throw FunctionError.overflow("sub") }
            return Data(InstantKey.encode(seconds: seconds, picoseconds: 0))
        },
        StoreFunctions.function("duration_neg", 1) { try difference(zero, $0[0]) },
        StoreFunctions.function("duration_mul", 2) { try scale($0[0], $0[1], operation: DecimalArithmetic.multiply) },
        StoreFunctions.function("duration_div", 2) { try scale($0[0], $0[1], operation: DecimalArithmetic.divide) },
        StoreFunctions.function("utc", 1) {
            guard case .blob(let data) = $0[0].storage, let key = InstantKey.decode(data) else {
                throw FunctionError.argument("a date and time")
            }
            return Data(
                InstantKey.encode(ODataDateTimeOffset(seconds: key.seconds, picoseconds: key.picoseconds)))
        },
        StoreFunctions.function("offset_of_local", 1) {
            let value = try local($0[0])
            return Data(
                InstantKey.encode(ODataDateTimeOffset(seconds: value.seconds, picoseconds: value.picoseconds)))
        },
        text("instant_text") { data in
            if data.count == 18 { return InstantKey.decodeOffset(data)?.description }
            guard let key = InstantKey.decode(data), key.seconds.magnitude < InstantKey.maxSeconds else { return nil }
            return "\(ODataDateTime(seconds: key.seconds, picoseconds: key.picoseconds))"
        },
        text("duration_text") { data in
            // The smallest number of seconds has no positive counterpart, which the text of a negative duration
            // needs.
            guard let key = InstantKey.decode(data), key.seconds != .min else { return nil }
            return "\(ODataDuration(seconds: key.seconds, picoseconds: key.picoseconds))"
        },
        text("guid_text") { ODataGuid(bytes: $0)?.description },
        StoreFunctions.function("date_text", 1) {
            let days = try $0.integer(0)
            return days.magnitude < 365_000_000 ? ODataDate(daysSinceEpoch: days).description : nil
        },
        StoreFunctions.function("time_text", 1) { ODataTimeOfDay(picoseconds: try $0.integer(0))?.description },
    ]

    private static let zero = Data(InstantKey.encode(seconds: 0, picoseconds: 0)).databaseValue

    private static func text(_ name: String, _ body: @escaping @Sendable (Data) -> String?) -> DatabaseFunction {
        StoreFunctions.function(name, 1) {
            guard case .blob(let data) = $0[0].storage else { throw FunctionError.argument("stored bytes") }
            return body(data)
        }
    }

    private static func part(_ name: String, _ body: @escaping @Sendable (ODataDate) -> Int64) -> DatabaseFunction {
        StoreFunctions.function(name, 1) {
            if case .int64(let days) = $0[0].storage {
                guard days.magnitude < 365_000_000 else { return nil }
                return body(ODataDate(daysSinceEpoch: days))
            }
            return body(try local($0[0]).date)
        }
    }

    private static func clock(_ name: String, _ body: @escaping @Sendable (Int64) -> Int64) -> DatabaseFunction {
        StoreFunctions.function(name, 1) { body(try timeOfDay($0[0])) }
    }

    private static func timeOfDay(_ value: DatabaseValue) throws -> Int64 {
        if case .int64(let picoseconds) = value.storage { return picoseconds }
        return try local(value).timeOfDay.picoseconds
    }

    private static func instant(_ value: DatabaseValue) throws -> (seconds: Int64, picoseconds: Int64) {
        guard case .blob(let data) = value.storage, let instant = InstantKey.decode(data) else {
            throw FunctionError.argument("a date and time")
        }
        return instant
    }

    /// Returns the local date and time of a value. Years of more than six digits are an error, because calendar
    /// arithmetic does not support them.
    private static func local(_ value: DatabaseValue) throws -> ODataDateTime {
        guard case .blob(let data) = value.storage, let instant = InstantKey.decode(data),
            instant.seconds.magnitude < InstantKey.maxSeconds
        else { throw FunctionError.argument("a date and time") }
        if let value = InstantKey.decodeOffset(data) { return value.local }
        return ODataDateTime(seconds: instant.seconds, picoseconds: instant.picoseconds)
    }

    /// Returns seconds with their fraction as a decimal key.
    private static func fraction(seconds: Int64, picoseconds: Int64) -> Data? {
        DateArithmetic.seconds(of: DateArithmetic.total(seconds: seconds, picoseconds: picoseconds))
            .map { Data(DecimalKey.encode($0)) }
    }

    private static func key(_ total: Int128) throws -> Data {
        let (seconds, picoseconds) = try DateArithmetic.parts(of: total)
        return Data(InstantKey.encode(seconds: seconds, picoseconds: picoseconds))
    }

    private static func total(_ value: DatabaseValue) throws -> Int128 {
        let (seconds, picoseconds) = try instant(value)
        return DateArithmetic.total(seconds: seconds, picoseconds: picoseconds)
    }

    private static func shift(_ value: DatabaseValue, by duration: DatabaseValue, sign: Int128) throws -> Data {
        let moved = try key(try total(value) + sign * (try total(duration)))
        // A value without an offset may be a duration, which has no calendar range.
        guard case .blob(let data) = value.storage, data.count > 16 else { return moved }
        let result = moved + data.dropFirst(16)
        guard InstantKey.decodeOffset(result) != nil else { throw FunctionError.overflow("date arithmetic") }
        return result
    }

    private static func difference(_ left: DatabaseValue, _ right: DatabaseValue) throws -> Data {
        try key(try total(left) - (try total(right)))
    }

    private static func days(_ arguments: [DatabaseValue], sign: Int128) throws -> Int64 {
        let days = try DateArithmetic.days(try arguments.integer(0), plus: sign * (try total(arguments[1])))
        guard days.magnitude < ColumnCodec.maxDays else { throw FunctionError.overflow("date arithmetic") }
        return days
    }

    /// Returns a duration multiplied or divided by a decimal; NULL for division by zero.
    private static func scale(
        _ duration: DatabaseValue, _ factor: DatabaseValue,
        operation: (ODataDecimal, ODataDecimal) -> ODataDecimal?
    ) throws -> Data? {
        let factor = try [factor].decimal(0)
        return try DateArithmetic.scale(try total(duration), by: factor, operation).map { try key($0) }
    }
}
