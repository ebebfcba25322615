import Foundation
import PostgresServers
import Secrets
import Synchronization
import Testing

@testable import PostgresClient

/// Makes a client of a server for a test.
@discardableResult
func withClient<Value: Sendable>(
    _ url: String, _ adapt: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresClient) async throws -> Value
) async throws -> Value {
    var configuration = try PostgresConfiguration(url: url)
    adapt(&configuration)
    let client = try PostgresClient(configuration)
    do {
        let value = try await body(client)
        await client.close()
        return value
    } catch {
        await client.close()
        throw error
    }
}

/// Returns the integer of a row with one column `n`.
func number(_ rows: PostgresRows) throws -> Int64? { try rows.first?.integer("n") }

@Suite("Statements on PostgreSQL", .enabled(if: PostgresServer.isWanted))
struct ClientTests {
    @Test("Values of every type go and come back, null and empty ones, too")
    func values() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            let rows = try await client.read(
                PostgresStatement(
                    """
                    select $1::bigint as i, $2::text as t, $3::bytea as b, $4::boolean as f, $5::text as none,
                    $6::bytea as empty, cardinality($7::bigint[])::bigint as c, ($8::text[])[2] as second,
                    ($9::bytea[])[1] as first, 7::integer as four, 8::smallint as two
                    """,
                    [
                        .integer(.min), .text("Ærø 🚢"), .bytes([0, 255]), .flag(true), .null, .bytes([]),
                        .integers([1, nil, 3]), .texts(["a", nil]), .byteLists([[9], []]),
                    ]))
            let row = try #require(rows.first)
            #expect(try row.integer("i") == .min)
            #expect(try row.text("t") == "Ærø 🚢")
            #expect(try row.bytes("b") == [0, 255])
            #expect(try row.flag("f"))
            #expect(try row.textOrNil("none") == nil)
            #expect(try row.bytes("empty") == [])
            #expect(try row.integer("c") == 3)
            #expect(try row.textOrNil("second") == nil)
            #expect(try row.bytes("first") == [9])
            #expect(try row.integer("four") == 7 && row.integer("two") == 8)
            #expect(throws: PostgresError.self) { try row.integer("t") }
            #expect(throws: PostgresError.self) { try row.text("none") }
            #expect(throws: PostgresError.self) { try row.text("absent") }
        }
    }

    @Test("Statements of many callers share connections, and one failure touches no neighbour (trap 4)")
    func neighbours() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint primary key)"))
            let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        do {
                            // Every tenth one is there already.
                            try await client.write(
                                PostgresStatement(
                                    "insert into t values ($1)", [.integer(Int64(index / 10 * 10 == index ? 0 : index))]
                                ))
                            return false
                        } catch let error as PostgresError {
                            #expect(error.isRefusal("23505"))
                            return true
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(refused == 19)
            #expect(try number(try await client.read(PostgresStatement("select count(*) as n from t"))) == 181)
            #expect(client.connectionCount <= 2)
        }
    }

    @Test("Statements that go together are one transaction")
    func together() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint primary key)"))
            let insert = PostgresStatement("insert into t values ($1)", [.integer(1)])
            await #expect(throws: PostgresError.self) { try await client.write([insert, insert]) }
            #expect(try number(try await client.read(PostgresStatement("select count(*) as n from t"))) == 0)
        }
    }

    @Test("COPY and several statements in one text are refused, and later statements work (trap 5)")
    func guards() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            for text in ["copy pg_class to stdout", "  COPY pg_class TO STDOUT", "select 1; select 2"] {
                await #expect(throws: PostgresError.self, "\(text)") {
                    try await client.write(PostgresStatement(text))
                }
            }
            // A COPY that the guard does not see ends its connection, and no caller waits for ever.
            await #expect(throws: PostgresError.self) {
                try await client.write(PostgresStatement("/* hidden */ copy pg_class to stdout"))
            }
            #expect(try number(try await client.read(PostgresStatement("select 5::bigint as n"))) == 5)
        }
    }

    @Test("A prepared statement that is gone or stale is prepared again")
    func prepared() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.pointConnections = 1 }) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint)"))
            let select = PostgresStatement("select * from t where k = $1", [.integer(1)])
            _ = try await client.write(select)
            try await client.write(PostgresStatement("deallocate all"))
            _ = try await client.write(select)
            // A migration of another node adds a column.
            try await client.write(PostgresStatement("alter table t add column v text default 'x'"))
            try await client.write(PostgresStatement("insert into t values (1)"))
            #expect(try await client.write(select).first?.text("v") == "x")
            #expect(client.connectionCount == 1, "the connection stays")
        }
    }

    @Test("A caller that is cancelled returns at once, and its neighbours are answered")
    func cancellation() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            let task = Task { try await client.write(PostgresStatement("select pg_sleep(1)")) }
            try await Task.sleep(for: .milliseconds(200))
            task.cancel()
            let start = ContinuousClock.now
            await #expect(throws: PostgresError.cancelled) { try await task.value }
            #expect(ContinuousClock.now - start < .milliseconds(700))
            #expect(try number(try await client.read(PostgresStatement("select 5::bigint as n"))) == 5)
        }
    }

    @Test("A statement that takes too long is ended by the server, with a typed error")
    func slow() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.pointTimeout = .milliseconds(300) }) { client async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.write(PostgresStatement("select pg_sleep(5)"))
            }
            #expect(error?.isRefusal("57014") == true)
        }
    }

    @Test("Too many waiting statements are refused, and a server that is not there is named in time")
    func unreachable() async throws {
        let adapt: (inout PostgresConfiguration) -> Void = {
            $0.waitTimeout = .seconds(1)
            $0.waitLimit = 1
        }
        try await withClient("postgres://nobody:hunter2@127.0.0.1:1/none", adapt) { client async throws in
            let first = Task { try await client.read(PostgresStatement("select 1")) }
            try await Task.sleep(for: .milliseconds(100))
            await #expect(throws: PostgresError.busy(limit: 1)) {
                try await client.write(PostgresStatement("select 1"))
            }
            let error = await #expect(throws: PostgresError.self) { try await first.value }
            guard case .unreachable(let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!reason.contains("hunter2"))
        }
    }

    @Test("After the end of a client, statements are refused, and nobody waits")
    func closed() async throws {
        let client = try PostgresClient(try PostgresConfiguration(url: "postgres://127.0.0.1:1/none"))
        let waiting = Task { try await client.write(PostgresStatement("select 1")) }
        try await Task.sleep(for: .milliseconds(100))
        await client.close()
        await #expect(throws: PostgresError.closed) { try await waiting.value }
        await #expect(throws: PostgresError.closed) { try await client.write(PostgresStatement("select 1")) }
    }
}
