import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import PostgresClient

@Suite("Faults of PostgreSQL and of the way to it", .enabled(if: PostgresServer.isWanted))
struct FaultTests {
    @Test("A connection that is killed in mid-pipeline ends all its statements, and the next ones work (trap 3)")
    func killedInPipeline() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.pointConnections = 1 }) { client async throws in
            let pid = try #require(
                try number(try await client.read(PostgresStatement("select pg_backend_pid()::bigint as n"))))
            try await client.write(PostgresStatement("create table t (k bigint)"))
            async let outcomes = withTaskGroup(of: PostgresError?.self) { group in
                for index in 0..<10 {
                    group.addTask {
                        let text = index == 5 ? "select pg_sleep(1)" : "insert into t values (\(index))"
                        do throws(PostgresError) {
                            try await client.write(PostgresStatement(text))
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try await Task.sleep(for: .milliseconds(300))
            try await withClient(server.url()) { other in
                try await other.write(PostgresStatement("select pg_terminate_backend($1::integer)", [.integer(pid)]))
            }
            let errors = await outcomes.compactMap(\.self)
            #expect(errors.count >= 1)
            for error in errors { #expect(error.reaction == .unknownOutcome, "\(error)") }
            let count = try number(try await client.read(PostgresStatement("select count(*) as n from t"))) ?? 0
            #expect(Int(count) >= 10 - errors.count && count <= 9)
        }
    }

    @Test("A cut at any byte of the answer to a commit is an unknown outcome, and is not repeated")
    func cutInCommit() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.stop() }
        try await withClient(server.url()) { direct async throws in
            try await direct.write(PostgresStatement("create table t (k bigint)"))
            for bytes in [0, 1, 5, 11, 16] {
                try await withClient(server.tcpURL(port: proxy.port)) { client async throws in
                    var hasFailed = false
                    do {
                        try await client.transaction { transaction in
                            try await transaction.execute(
                                PostgresStatement("insert into t values ($1)", [.integer(Int64(bytes))]))
                            proxy.cut(after: bytes, .toClient)
                        }
                    } catch let error as PostgresError {
                        hasFailed = true
                        #expect(error.reaction == .unknownOutcome, "\(bytes): \(error)")
                    }
                    #expect(hasFailed, "\(bytes)")
                    // The server has committed once; the client did not repeat.
                    let count = try await direct.read(
                        PostgresStatement("select count(*) as n from t where k = $1", [.integer(Int64(bytes))]))
                    #expect(try number(count) == 1, "\(bytes)")
                    proxy.cut()
                }
            }
        }
    }

    @Test("A read is repeated on another connection")
    func repeatedRead() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.stop() }
        try await withClient(server.tcpURL(port: proxy.port)) { client async throws in
            _ = try await client.read(PostgresStatement("select 1::bigint as n"))
            for bytes in [0, 3, 40] {
                proxy.cut(after: bytes, .toClient)
                #expect(try number(try await client.read(PostgresStatement("select 5::bigint as n"))) == 5)
            }
        }
    }

    @Test("A network that holds all bytes costs the time limit, and no more")
    func held() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.stop() }
        let adapt: (inout PostgresConfiguration) -> Void = {
            $0.pointTimeout = .milliseconds(500)
            $0.waitTimeout = .seconds(2)
            $0.connectTimeout = .seconds(1)
        }
        try await withClient(server.tcpURL(port: proxy.port), adapt) { client async throws in
            _ = try await client.read(PostgresStatement("select 1::bigint as n"))
            proxy.hold(true)
            let start = ContinuousClock.now
            await #expect(throws: PostgresError.self) { try await client.write(PostgresStatement("select 1")) }
            await #expect(throws: PostgresError.self) { try await client.write(PostgresStatement("select 1")) }
            #expect(ContinuousClock.now - start < .seconds(6))
            proxy.hold(false)
            proxy.cut()
            #expect(try number(try await client.read(PostgresStatement("select 5::bigint as n"))) == 5)
        }
    }

    @Test("COPY that is cut leaves no row, and COPY that ends leaves all")
    func copies() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.stop() }
        let rows = (0..<20_000).map { [PostgresValue.integer($0), .bytes([UInt8](repeating: 7, count: 100)), .null] }
        try await withClient(server.url()) { direct async throws in
            try await direct.write(PostgresStatement("create table t (k bigint, b bytea, n text)"))
            try await withClient(server.tcpURL(port: proxy.port)) { client async throws in
                for bytes in [0, 10_000, 1_500_000] {
                    await #expect(throws: PostgresError.self, "\(bytes)") {
                        try await client.transaction { transaction in
                            try await transaction.execute(PostgresStatement("select 1"))
                            proxy.cut(after: bytes, .toServer)
                            try await transaction.copy(into: "t (k, b, n)", rows)
                        }
                    }
                }
                #expect(try number(try await direct.read(PostgresStatement("select count(*) as n from t"))) == 0)
                let count = try await client.transaction { transaction in
                    try await transaction.copy(into: "t (k, b, n)", rows)
                }
                #expect(count == rows.count)
                #expect(
                    try number(try await direct.read(PostgresStatement("select count(*) as n from t where n is null")))
                        == 20_000)
                // An error in the middle leaves the connection usable.
                await #expect(throws: PostgresError.self) {
                    try await client.transaction { try await $0.copy(into: "absent (k)", [[.integer(1)]]) }
                }
                #expect(try await client.transaction { try await $0.copy(into: "t (k)", [[.integer(1)]]) } == 1)
            }
        }
    }

    @Test("A server that is restarted at once is used again without an error for reads (trap 9)")
    func restart() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.waitTimeout = .seconds(30) }) { client async throws in
            _ = try await client.read(PostgresStatement("select 1"))
            try await server.stop(.immediate)
            let waiting = Task { try await client.read(PostgresStatement("select 5::bigint as n")) }
            try await server.start()
            #expect(try number(try await waiting.value) == 5)
            try await server.stop(.kill)
            try await server.start()
            #expect(try number(try await client.read(PostgresStatement("select 6::bigint as n"))) == 6)
        }
    }

    @Test("After a failover the client finds the new primary server, and refuses the standby for writes")
    func failover() async throws {
        let primary = try await PostgresServer.start()
        defer { primary.remove() }
        let standby = try await primary.makeStandby()
        defer { standby.remove() }
        let url =
            "postgres://postgres@127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)/postgres?sslmode=disable"
        try await withClient(url, { $0.waitTimeout = .seconds(30) }) { client async throws in
            let port = PostgresStatement("select current_setting('port')::bigint as n")
            #expect(try number(try await client.read(port)) == Int64(primary.port))
            try await primary.stop(.immediate)
            try await standby.promote()
            #expect(try number(try await client.read(port)) == Int64(standby.port))
            try await client.write(PostgresStatement("create table t (k bigint)"))
        }
    }

    @Test("A read-only answer ends the connection, and the next one is another")
    func readOnly() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.pointConnections = 1 }) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint)"))
            try await client.write(PostgresStatement("set default_transaction_read_only = on"))
            let error = await #expect(throws: PostgresError.self) {
                try await client.write(PostgresStatement("insert into t values (1)"))
            }
            #expect(error?.reaction == .reconnect)
            try await client.write(PostgresStatement("insert into t values (1)"))
            #expect(client.connectionCount == 2)
        }
    }

    @Test("Too many connections make the pool smaller, and transactions go on")
    func tooMany() async throws {
        let server = try await PostgresServer.start([
            "max_connections = 8", "superuser_reserved_connections = 0", "max_wal_senders = 0",
        ])
        defer { server.remove() }
        try await withClient(server.url(), { $0.waitTimeout = .seconds(20) }) { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await client.transaction {
                            _ = try await $0.execute(PostgresStatement("select pg_sleep(0.02)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
