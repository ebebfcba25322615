import GRDB
import ODataModel
import ODataService
import Testing

@testable import ODataSQL

@Suite("$search")
struct SearchTests {
    let traders: Traders

    init() throws { traders = try Traders() }

    static let searches: [(String, [String])] = [
        ("Customers?$search=bär", ["B"]), ("Customers?$search=BÄR", ["B"]), ("Customers?$search=ba", []),
        ("Customers?$search=\"bär söhne\"", ["B"]), ("Customers?$search=\"söhne bär\"", []),
        ("Customers?$search=germany", ["A", "B"]), ("Customers?$search=germany AND berlin", ["A"]),
        ("Customers?$search=berlin OR usa", ["A", "D"]), ("Customers?$search=NOT germany", ["C", "D"]),
        ("Customers?$search=NOT bär AND (big OR nothing)", ["A", "D"]),
        // The members of a collection are separate texts.
        ("Customers?$search=big", ["A", "D"]), ("Customers?$search=\"new big\"", []),
        ("Customers?$apply=search(älpler)", ["A"]), ("Customers?$search=\"--\"", []),
    ]

    @Test("5.1.7 Words and phrases are found without an index", arguments: searches)
    func scan(url: String, expected: [String]) async throws {
        #expect(try await traders.keys(url) == expected)
    }

    @Test("A full-text index is used and changes no result", arguments: searches)
    func indexed(url: String, expected: [String]) async throws {
        try await traders.queue.write {
            _ = try PropertyIndexes(mapping: traders.mapping).createSearch(on: "Customers", in: $0)
        }
        #expect(try await traders.keys(url) == expected)
        let bound = try traders.bind(url)
        let explanation = try await traders.reader().explain(bound, in: traders.queue)
        if !expected.isEmpty { #expect(explanation.statements[0].sql.contains("MATCH")) }
    }

    @Test("The full-text index follows every change of its rows")
    func maintained() async throws {
        let indexes = PropertyIndexes(mapping: traders.mapping)
        try await traders.queue.write { database in
            try indexes.createSearch(on: "Customers", in: database)
            try database.execute(
                sql: """
                    UPDATE customer SET name = 'Neuer Name' WHERE id = 'B';
                    DELETE FROM customer WHERE id = 'D';
                    INSERT INTO customer(id, name) VALUES ('E', 'Name nine');
                    """)
        }
        #expect(try await traders.keys("Customers?$search=bär") == [])
        #expect(try await traders.keys("Customers?$search=name") == ["B", "E"])
        #expect(try await traders.keys("Customers?$search=o AND neil") == [])
        try await traders.queue.write { database in
            for index in try indexes.list(in: database) { try indexes.drop(index, in: database) }
            #expect(try indexes.list(in: database) == [])
        }
        #expect(try await traders.keys("Customers?$search=name") == ["B", "E"])
    }

    /// Words with combining marks, letters of recent Unicode versions, and letters with unusual case folding.
    static let writings: [(String, [String])] = [
        ("हिन्दी", ["A"]), ("हिन्दीवाला", ["B"]), ("\"हा ना\"", ["C"]), ("नमस्ते AND ſa", ["D"]), ("sa", []),
        ("𞤢𞤣", ["E"]),
    ]

    @Test("A full-text index splits words of all scripts like a scan", arguments: writings)
    func scripts(search: String, expected: [String]) async throws {
        try await traders.queue.write { database in
            try database.execute(
                sql: """
                    UPDATE customer SET name = 'हिन्दी' WHERE id = 'A'; UPDATE customer SET name = 'हिन्दीवाला' WHERE id = 'B';
                    UPDATE customer SET name = 'हा ना दा' WHERE id = 'C'; UPDATE customer SET name = 'नमस्ते ſa' WHERE id = 'D';
                    INSERT INTO customer(id, name) VALUES ('E', '𞤢𞤣');
                    """)
        }
        #expect(try await traders.keys("Customers?$search=\(search)") == expected)
        try await traders.queue.write {
            _ = try PropertyIndexes(mapping: traders.mapping).createSearch(on: "Customers", in: $0)
        }
        #expect(try await traders.keys("Customers?$search=\(search)") == expected)
    }

    @Test("A full-text index of an earlier version changes no result and is rebuilt on request")
    func outdated() async throws {
        let indexes = PropertyIndexes(mapping: traders.mapping)
        try await traders.queue.write { database in
            try database.execute(sql: "UPDATE customer SET name = 'हिन्दी' WHERE id = 'A'")
            try database.execute(sql: "UPDATE customer SET name = 'हिन्दीवाला' WHERE id = 'B'")
            try indexes.createSearch(on: "Customers", in: database)
            // Recreate the index in the form of an earlier version.
            let columns = "c0, c1, c2, c3, c4, c5"
            let texts = ["id", "name", "country", "city", "zip", "tags"].map { "outpost_words(\($0))" }
            try database.execute(
                sql: """
                    DROP TABLE "search$customer";
                    CREATE VIRTUAL TABLE "search$customer" USING fts5(\(columns), content='', \
                    tokenize='unicode61 remove_diacritics 0');
                    INSERT INTO "search$customer"(rowid, \(columns)) \
                    SELECT _id, \(texts.joined(separator: ", ")) FROM customer;
                    """)
        }
        #expect(try await traders.keys("Customers?$search=हिन्दी") == ["A"])
        try await traders.queue.write { database in
            // The outdated index still exists and is updated by triggers.
            #expect(try indexes.list(in: database).count == 1)
            try database.execute(sql: "UPDATE customer SET name = 'हिन्दी भाषा' WHERE id = 'D'")
            try indexes.createSearch(on: "Customers", in: database)
            try database.execute(sql: "UPDATE customer SET name = 'Bär' WHERE id = 'A'")
        }
        #expect(try await traders.keys("Customers?$search=हिन्दी") == ["D"])
        let explanation = try await traders.reader().explain(
            try traders.bind("Customers?$search=हिन्दी"), in: traders.queue)
        #expect(explanation.statements[0].sql.contains("MATCH"))
    }
}
