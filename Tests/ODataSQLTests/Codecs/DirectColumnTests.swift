import Foundation
import GRDB
import ODataModel
import Testing

@testable import ODataSQL

@Suite("Columns read without intermediate values")
struct DirectColumnTests {
    private static func key(_ instant: String) -> [UInt8] {
        ODataDateTimeOffset(instant).map { InstantKey.encode($0) } ?? []
    }

    private static func decimal(_ text: String) -> [UInt8] { ODataDecimal(text).map { DecimalKey.encode($0) } ?? [] }

    /// Valid and damaged contents of columns.
    private static let stored: [any DatabaseValueConvertible & Sendable] = [
        0, 1, -1, 2, 100, -1500, 19_000, 364_999_999, -364_999_999, 365_000_000, 86_400_000_000_000_000, Int64.max,
        Int64.min,
        0.5, -0.0, 1e300, "", "text", "2024-02-30", "0f8fad5b-d9cb-469f-a165-70867728950e",
        Data(), Data(repeating: 0, count: 16), Data(0..<16), Data(0..<17), Data(0..<18),
        Data(repeating: 0xFF, count: 18),
        Data("nan".utf8), Data(key("2024-01-15T08:00:00Z")), Data(key("1969-12-31T23:59:59.999999999999-14:00")),
        Data(key("9999-12-31T23:59:59+14:00")), Data(key("2024-01-15T08:00:00Z").dropLast()),
        Data(decimal("0")), Data(decimal("-12.50")), Data(decimal("99999999999999999999.5")), Data(decimal("1e20")),
        Data(decimal("1.5").dropLast()),
    ]

    private static let codecs: [(ColumnCodec, DirectColumn.Kind, TypeReference)] = [
        (.integer, .integer, .primitive(.int64)), (.boolean, .boolean, .primitive(.boolean)),
        (.double, .double, .primitive(.double)), (.single, .single, .primitive(.single)),
        (.string, .string, .primitive(.string)), (.date, .date, .primitive(.date)),
        (.timeOfDay, .timeOfDay, .primitive(.timeOfDay)), (.dateTimeOffset, .instant, .primitive(.dateTimeOffset)),
        (.guid, .guid, .primitive(.guid)), (.decimalBytes, .decimalBytes, .primitive(.decimal)),
        (.scaledDecimal(scale: 2), .scaledDecimal(2), .primitive(.decimal)),
        (.scaledDecimal(scale: 0), .scaledDecimal(0), .primitive(.decimal)),
        (.scaledDecimal(scale: 19), .scaledDecimal(19), .primitive(.decimal)),
    ]

    @Test("The fast path gives the values of the codec, which handles damaged ones")
    func values() throws {
        try DatabaseQueue().read { database in
            let statement = try database.makeStatement(sql: "SELECT ?")
            for content in Self.stored {
                for (codec, kind, type) in Self.codecs {
                    let expected = try? codec.decode(content.databaseValue, as: type, in: nil)
                    let rows = try Row.fetchCursor(statement, arguments: [content])
                    _ = try rows.next()
                    // The statement keeps its row while the cursor exists.
                    let value = withExtendedLifetime(rows) {
                        StoredColumn(StoredRow(statement: statement.sqliteStatement), 0).value(kind)
                    }
                    guard let found = value else { continue }
                    #expect(found == expected, "\(content) as \(codec)")
                    if case (.decimal(let one), .decimal(let other)?) = (found, expected) {
                        #expect(one.description == other.description)
                    }
                }
            }
        }
    }

    @Test(
        "Valid values use the fast path",
        arguments: [
            (5, DirectColumn.Kind.date), (5, .timeOfDay), (1250, .scaledDecimal(2)), (0.5, .single),
            (Data(key("2024-01-15T08:00:00+02:00")), .instant), (Data(0..<16), .guid),
            (Data(decimal("12.5")), .decimalBytes),
        ] as [(any DatabaseValueConvertible & Sendable, DirectColumn.Kind)])
    func direct(_ content: any DatabaseValueConvertible & Sendable, _ kind: DirectColumn.Kind) throws {
        try DatabaseQueue().read { database in
            let statement = try database.makeStatement(sql: "SELECT ?")
            let rows = try Row.fetchCursor(statement, arguments: [content])
            _ = try rows.next()
            withExtendedLifetime(rows) {
                #expect(StoredColumn(StoredRow(statement: statement.sqliteStatement), 0).value(kind) != nil)
            }
        }
    }
}
