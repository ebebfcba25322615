import GRDB
import ODataModel
import ODataService
import TestCorpus
import Testing

@testable import ODataSQL

@Suite("Texts and names in SQL")
struct SQLTextTests {
    @Test("The successor of a prefix ends its range, also at the gaps of Unicode")
    func successor() {
        #expect(ExpressionCompiler.successor(of: "ab") == "ac")
        #expect(ExpressionCompiler.successor(of: "a\r\n") == "a\r\u{B}")
        #expect(ExpressionCompiler.successor(of: "a\u{D7FF}") == "a\u{E000}")
        #expect(ExpressionCompiler.successor(of: "a\u{10FFFF}") == "b")
        #expect(ExpressionCompiler.successor(of: "\u{10FFFF}") == nil && ExpressionCompiler.successor(of: "") == nil)
    }

    @Test("Names with any characters are quoted")
    func names() throws {
        let name = "a\"; DROP TABLE x; --"
        let fragment: SQLFragment = "SELECT 1 AS \(name: name)"
        let found = try DatabaseQueue().read { try Row.fetchOne($0, sql: fragment.sql)?.columnNames.first }
        #expect(found == name)
    }
}

@Suite("Paging tokens")
struct PageTokenTests {
    @Test("Every stored value is read back unchanged")
    func roundTrip() throws {
        let values: [DatabaseValue] = [
            .null, 0.databaseValue, Int64.min.databaseValue, 0.1.databaseValue, (-0.0).databaseValue,
            Double.infinity.databaseValue, "".databaseValue, "tü\"\u{1}".databaseValue, ColumnCodec.blob([0, 255]),
        ]
        let token = PageToken(
            digest: "abc", now: ODataDateTimeOffset(seconds: 1, picoseconds: 5), remaining: 7, values: values)
        #expect(try PageToken(token.text) == token)
    }

    @Test("The bits of a number are written as hexadecimal digits")
    func signedBits() throws {
        let token = PageToken(
            digest: "abc", now: ODataDateTimeOffset(seconds: 0), remaining: nil, values: [(1.5).databaseValue])
        let text = String(decoding: try #require(Base64URL.decode(token.text)), as: UTF8.self)
        let signed = text.replacing("\"d", with: "\"d+")
        #expect(signed != text)
        #expect(throws: ODataError.self) { try PageToken(Base64URL.encode(Array(signed.utf8))) }
    }

    @Test("An invalid token is refused without a crash", arguments: 1...300 as ClosedRange<UInt64>)
    func garbage(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let token = PageToken(
            digest: "d", now: ODataDateTimeOffset(seconds: 0), remaining: nil,
            values: [1.databaseValue, "x".databaseValue])
        var bytes = Array(token.text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            if Bool.random(using: &generator) {
                bytes[index] = UInt8.random(in: 33...126, using: &generator)
            } else {
                bytes.remove(at: index)
            }
        }
        do {
            _ = try PageToken(String(decoding: bytes, as: UTF8.self))
        } catch {
            #expect(error.status == 400 && error.target == "$skiptoken")
        }
    }
}
