import Foundation
import GRDB
import Testing

@testable import OfflineOData

@Suite("An upgrade of the engine's tables")
struct EngineUpgradeTests {
    /// Returns a database with the tables of version 7 and three requests in its queue, one of which belongs to
    /// a deleted row.
    private static func earlier() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { database in
            for statement in EngineSchema.tables(of: 7) { try database.execute(sql: statement) }
            let requests: [(depends: String, detail: String?)] = [
                ("", nil),
                (
                    "1",
                    """
                    {"parentRow":3,"conflict":"changed","errors":[{"code":"a","message":"b","target":"c"}],
                    "foundETag":"W/\\"1\\"","sentEntity":"{}","isMergedWithOthers":true}
                    """
                ),
                ("1,2", "{\"navigation\":\"Tags\"}"),
                // The detail of a damaged queue is unreadable.
                ("-1,,9223372036854775808", "["),
            ]
            for (depends, detail) in requests {
                try database.execute(
                    sql: """
                        INSERT INTO outpost_queue(entity_set, row_id, kind, entity_key, changes, depends, created_at, detail)
                        VALUES ('Orders', 1, 'update', x'', x'', ?, '2026-01-01T00:00:00Z', ?)
                        """, arguments: [depends, detail])
            }
            let shelved =
                #"{"id":{"integer":9},"depends":{"text":"1,2"},"detail":{"text":"{\"parentRow\":3,\"conflict\":\"deleted\"}"}}"#
            for content in [shelved, #"{"id":{"integer":10},"detail":{}}"#, "{"] {
                try database.execute(
                    sql: "INSERT INTO outpost_shelf(entity_set, row_id, table_name, content) VALUES ('O', 1, ?, ?)",
                    arguments: ["outpost_queue", Data(content.utf8)])
            }
        }
        return queue
    }

    @Test("moves the dependencies of a request to rows, and its failure to columns")
    func movesRequests() throws {
        let queue = try Self.earlier()
        try queue.write { try EngineSchema.upgrade(from: 7, in: $0) }
        try queue.read { database in
            let needs = try Row.fetchAll(
                database, sql: "SELECT request, needs FROM outpost_dependency ORDER BY request, needs")
            #expect(needs.map { [$0[0] as Int64, $0[1] as Int64] } == [[2, 1], [3, 1], [3, 2]])
            let request = try #require(try Row.fetchOne(database, sql: "SELECT * FROM outpost_queue WHERE id = 2"))
            #expect(request["conflict"] == "changed")
            #expect(request["errors"] == "[{\"code\":\"a\",\"message\":\"b\",\"target\":\"c\"}]")
            #expect(request["found_etag"] == "W/\"1\"")
            #expect(request["sent_entity"] == "{}")
            #expect(request["is_merged"] == true)
            #expect(request["detail"] == "{\"parentRow\":3}")
            let details = try Optional<String>.fetchAll(database, sql: "SELECT detail FROM outpost_queue ORDER BY id")
            #expect(details == [nil, "{\"parentRow\":3}", "{\"navigation\":\"Tags\"}", "["])
            let columns = try database.columns(in: "outpost_queue").map(\.name)
            #expect(!columns.contains("depends"))
            #expect(try EngineSchema.version(in: database) == EngineSchema.version)
        }
    }

    @Test("keeps the requests of deleted rows")
    func keepsShelvedRequests() throws {
        let queue = try Self.earlier()
        try queue.write { try EngineSchema.upgrade(from: 7, in: $0) }
        let contents = try queue.read {
            try Data.fetchAll($0, sql: "SELECT content FROM outpost_shelf ORDER BY id").map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        #expect(contents[0].contains(#""depends":{"text":"1,2"}"#))
        #expect(contents[0].contains(#""conflict":{"text":"deleted"}"#))
        #expect(contents[0].contains(#""detail":{"text":"{\"parentRow\":3}"}"#))
        #expect(contents.dropFirst() == [#"{"id":{"integer":10},"detail":{}}"#, "{"])
    }

    @Test("removes the dependencies of a finished request and keeps those on it")
    func removedRequest() throws {
        let queue = try Self.earlier()
        try queue.write { database in
            try EngineSchema.upgrade(from: 7, in: database)
            try database.execute(sql: "DELETE FROM outpost_queue WHERE id = 2")
            let needs = try Row.fetchAll(
                database, sql: "SELECT request, needs FROM outpost_dependency ORDER BY request, needs")
            #expect(needs.map { [$0[0] as Int64, $0[1] as Int64] } == [[3, 1], [3, 2]])
        }
    }

    @Test("gives every version the tables of a new store", arguments: 1..<EngineSchema.version)
    func sameTables(version: Int) throws {
        func tables(_ make: (Database) throws -> Void) throws -> [String] {
            try DatabaseQueue().write { database in
                try make(database)
                return try String.fetchAll(
                    database,
                    sql: """
                        SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master
                        WHERE name NOT LIKE 'sqlite_%' ORDER BY 1
                        """)
            }
        }
        let new = try tables { for statement in EngineSchema.statements { try $0.execute(sql: statement) } }
        let upgraded = try tables { database in
            for statement in EngineSchema.tables(of: version) { try database.execute(sql: statement) }
            try EngineSchema.upgrade(from: version, in: database)
        }
        #expect(upgraded == new)
    }
}
