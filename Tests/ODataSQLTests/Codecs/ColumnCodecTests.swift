import Foundation
import GRDB
import ODataModel
import TestCorpus
import Testing

@testable import ODataSQL

@Suite("Column codecs")
struct ColumnCodecTests {
    let model: EntityDataModel

    init() throws { model = try EntityDataModel(schemas: []) }

    private func roundTrip(_ value: ODataValue, _ codec: ColumnCodec, _ type: PrimitiveType) throws -> ODataValue {
        try codec.decode(codec.encode(value), as: .primitive(type), in: model)
    }

    @Test("Every codec reads back the stored value")
    func roundTrips() throws {
        let instant = try #require(ODataDateTimeOffset("2024-02-29T23:59:59.123456789012+05:30"))
        let utc = try #require(ODataDateTimeOffset("2024-02-29T23:59:59.123Z"))
        let cases: [(ODataValue, ColumnCodec, PrimitiveType)] = [
            (.integer(.min), .integer, .int64), (.boolean(true), .boolean, .boolean),
            (.double(.infinity), .double, .double), (.single(1.5), .single, .single),
            (.string("ä\u{0}b"), .string, .string),
            (.binary([0, 255]), .binary, .binary), (.guid(ODataGuid(high: 1, low: .max)), .guid, .guid),
            (.guid(ODataGuid(high: 1, low: .max)), .guidText, .guid),
            (.date(ODataDate(daysSinceEpoch: -1)), .date, .date),
            (.date(ODataDate(daysSinceEpoch: -1)), .dateText, .date),
            (.dateTimeOffset(instant), .dateTimeOffset, .dateTimeOffset),
            (.dateTime(ODataDateTime(seconds: -5, picoseconds: 7)), .dateTime, .dateTime),
            (.duration(ODataDuration(seconds: -5, picoseconds: 7)), .duration, .duration),
            (.dateTimeOffset(utc), .unixTime(unitsPerSecond: 1000), .dateTimeOffset),
            (
                .dateTimeOffset(utc),
                .dateTimeText(.init(separator: " ", fractionDigits: 3, suffix: "")), .dateTimeOffset
            ),
            (.decimal(try #require(ODataDecimal("-12.34"))), .scaledDecimal(scale: 4), .decimal),
            (.decimal(try #require(ODataDecimal("-12.34"))), .decimalBytes, .decimal),
            (.decimal(try #require(ODataDecimal("-12.34"))), .numericDecimal, .decimal),
            (.decimal(try #require(ODataDecimal("12345678901234567890.123456789"))), .numericDecimal, .decimal),
        ]
        for (value, codec, type) in cases { #expect(try roundTrip(value, codec, type) == value, "\(codec)") }
        #expect(try roundTrip(.null, .guid, .guid) == .null)
    }

    @Test("NaN is stored and read back")
    func nan() throws {
        let queue = try DatabaseQueue()
        let stored = try queue.read { database in
            try DatabaseValue.fetchOne(
                database, sql: "SELECT ?", arguments: [ColumnCodec.double.encode(.double(.nan))])
        }
        let value = try ColumnCodec.double.decode(try #require(stored), as: .primitive(.double), in: model)
        guard case .double(let number) = value else {
            Issue.record("not a double: \(value)")
            return
        }
        #expect(number.isNaN)
    }

    @Test("The stored keys of decimals sort like the decimals", arguments: [1, 2, 3] as [UInt64])
    func decimalOrder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var numbers: [ODataDecimal] = [0, 1, -1].map { ODataDecimal($0) }
        for _ in 0..<400 {
            let digits = Int.random(in: 1...38, using: &generator)
            let text = (0..<digits).map { _ in String(Int.random(in: 0...9, using: &generator)) }.joined()
            let magnitude = UInt128(text) ?? 0
            let scale = Int.random(in: -3...40, using: &generator)
            numbers.append(
                try #require(
                    ODataDecimal(
                        isNegative: Bool.random(using: &generator), magnitude: magnitude % 10_000 == 7 ? 12 : magnitude,
                        scale: scale)))
        }
        for (left, right) in zip(numbers, numbers.shuffled(using: &generator)) {
            let (leftKey, rightKey) = (DecimalKey.encode(left), DecimalKey.encode(right))
            #expect(leftKey.lexicographicallyPrecedes(rightKey) == (left < right), "\(left) and \(right)")
            #expect((leftKey == rightKey) == (left == right))
            #expect(DecimalKey.decode(leftKey) == left)
        }
        let close = ["1", "1.2", "1.23", "1.234", "1.3", "-1", "-1.2", "-1.23", "-1.3"].compactMap { ODataDecimal($0) }
        for left in close {
            for right in close {
                #expect(
                    DecimalKey.encode(left).lexicographicallyPrecedes(DecimalKey.encode(right)) == (left < right))
            }
        }
    }

    @Test(
        "The stored keys of decimals have the bytes of existing stores",
        arguments: [
            ("0", "80"), ("1", "81 8001 0B 00"), ("1.50", "81 8001 10 00"), ("12.34", "81 8002 0D 23 00"),
            ("1234567", "81 8007 0D 23 39 47 00"), ("-0.05", "7F 8000 CC FF"), ("100", "81 8003 0B 00"),
            ("99999999999999999999999999999999999999", "81 8026 \(String(repeating: "64", count: 19)) 00"),
        ])
    func decimalKeys(text: String, key: String) throws {
        let bytes = DecimalKey.encode(try #require(ODataDecimal(text)))
        #expect(bytes.map { String(format: "%02X", $0) }.joined() == key.replacing(" ", with: ""), "\(text)")
        #expect(bytes.count <= DecimalKey.maxLength)
    }

    @Test("The stored keys of instants and durations sort like their values", arguments: [1, 2] as [UInt64])
    func instantOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let instants = (0..<300).map { _ in
            ODataDateTimeOffset(
                seconds: Int64.random(in: -3...3, using: &generator) << Int64.random(in: 0...40, using: &generator),
                picoseconds: Int64.random(in: 0...2, using: &generator),
                offsetMinutes: Int.random(in: -2...2, using: &generator))
        }
        for (left, right) in zip(instants, instants.shuffled(using: &generator)) {
            #expect(
                InstantKey.encode(left).lexicographicallyPrecedes(InstantKey.encode(right)) == (left < right),
                "\(left) and \(right)")
        }
    }

    @Test("The error for an invalid foreign value names row and column")
    func foreignValue() throws {
        let column = ColumnStorage(name: "ShippedDate", type: .primitive(.date), codec: .dateText)
        let error = #expect(throws: StoredValueError.self) {
            try column.decode("12.3.2024".databaseValue, in: model)
        }
        #expect(
            error?.at(table: "Orders", row: "7").description
                == "Column Orders.ShippedDate of row 7 holds the text \"12.3.2024\" where a date as YYYY-MM-DD was expected."
        )
    }

    @Test("A number that does not fit its column is refused and not rounded")
    func refusesRounding() throws {
        let codec = ColumnCodec.scaledDecimal(scale: 2)
        #expect(throws: StoredValueError.self) { try codec.encode(.decimal(try #require(ODataDecimal("1.005")))) }
        #expect(throws: StoredValueError.self) {
            try codec.encode(.decimal(try #require(ODataDecimal("92233720368547758.08"))))
        }
        #expect(
            try codec.encode(.decimal(try #require(ODataDecimal("-92233720368547758.08")))) == Int64.min.databaseValue)
    }
}

@Suite("Stored values beyond all dates")
struct ExtremeValueTests {
    @Test("are typed errors or nulls, without a crash", arguments: [Int64.min, Int64.min + 1, Int64.max])
    func extremes(number: Int64) throws {
        let model = try EntityDataModel(schemas: [])
        let bytes = InstantKey.encode(seconds: number, picoseconds: 5)
        let stored: [(ColumnCodec, PrimitiveType, DatabaseValue)] = [
            (.date, .date, number.databaseValue), (.timeOfDay, .timeOfDay, number.databaseValue),
            (.unixTime(unitsPerSecond: 1), .dateTimeOffset, number.databaseValue),
            (.unixTime(unitsPerSecond: 1000), .dateTimeOffset, number.databaseValue),
            (.dateTime, .dateTime, ColumnCodec.blob(bytes)), (.duration, .duration, ColumnCodec.blob(bytes)),
            (.dateTimeOffset, .dateTimeOffset, ColumnCodec.blob(bytes + [0, 0])),
            (.scaledDecimal(scale: 2), .decimal, number.databaseValue), (.boolean, .boolean, number.databaseValue),
        ]
        for (codec, type, value) in stored {
            // Every decoded value must have a text.
            if let read = try? codec.decode(value, as: .primitive(type), in: model) {
                #expect(read.lexicalText?.isEmpty == false)
            }
        }
        let queue = try DatabaseQueue()
        try queue.read { database in
            StoreFunctions.register(in: database)
            for function in [
                "year", "hour", "date", "time", "totalseconds", "date_text", "instant_text", "duration_text",
                "duration_neg",
            ] {
                for argument in [number.databaseValue, ColumnCodec.blob(bytes), ColumnCodec.blob(bytes + [3, 72])] {
                    _ = try? DatabaseValue.fetchOne(
                        database, sql: "SELECT outpost_\(function)(?)", arguments: [argument])
                }
            }
        }
    }
}
