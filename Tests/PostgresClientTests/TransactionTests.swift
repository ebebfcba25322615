import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import PostgresClient

/// Counts from several tasks.
private final class Counter: Sendable {
    private let count = Mutex(0)
    var number: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

@Suite("Transactions, notices and poolers of PostgreSQL", .enabled(if: PostgresServer.isWanted))
struct TransactionTests {
    @Test("A transaction commits at the end of its closure, and an error rolls it back")
    func outcome() async throws {
        struct Stop: Error {}
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.workConnections = 1 }) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint primary key)"))
            let insert = PostgresStatement("insert into t values (1)")
            await #expect(throws: Stop.self) {
                try await client.transaction { transaction in
                    try await transaction.execute(insert)
                    throw Stop()
                }
            }
            await #expect(throws: PostgresError.self) {
                try await client.transaction { try await $0.execute([insert, insert]) }
            }
            #expect(try number(try await client.read(PostgresStatement("select count(*) as n from t"))) == 0)
            // An error that the closure hides must not look like a commit.
            let hidden = await #expect(throws: PostgresError.self) {
                try await client.transaction { transaction in
                    try await transaction.execute(insert)
                    _ = try? await transaction.execute(PostgresStatement("select 1 / 0"))
                }
            }
            #expect(hidden?.isRefusal("25P02") == true)
            try await client.transaction { _ = try await $0.execute(insert) }
            #expect(try number(try await client.read(PostgresStatement("select count(*) as n from t"))) == 1)
        }
    }

    @Test("A cancelled caller's transaction is rolled back, and its lock is free")
    func cancelled() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.workConnections = 2 }) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint)"))
            try await client.write(PostgresStatement("insert into t values (1)"))
            let task = Task {
                try await client.transaction { transaction in
                    try await transaction.execute(PostgresStatement("update t set k = 2"))
                    try await transaction.execute(PostgresStatement("select pg_sleep(30)"))
                }
            }
            try await Task.sleep(for: .milliseconds(500))
            task.cancel()
            await #expect(throws: PostgresError.self) { try await task.value }
            let start = ContinuousClock.now
            try await client.transaction { _ = try await $0.execute(PostgresStatement("update t set k = 3")) }
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }

    @Test("A deadlock is repeated, and both transactions end")
    func deadlock() async throws {
        let server = try await PostgresServer.start(["deadlock_timeout = 100ms"])
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint primary key, v bigint)"))
            try await client.write(PostgresStatement("insert into t values (1, 0), (2, 0)"))
            let tries = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for keys: [Int64] in [[1, 2], [2, 1]] {
                    group.addTask {
                        try await client.transaction { transaction in
                            tries.add()
                            for key in keys {
                                try await transaction.execute(
                                    PostgresStatement("update t set v = v + 1 where k = $1", [.integer(key)]))
                                try await Task.sleep(for: .milliseconds(300))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(tries.number > 2)
            #expect(try number(try await client.read(PostgresStatement("select sum(v)::bigint as n from t"))) == 4)
        }
    }

    @Test("A lock that is held for too long is an error after two seconds, which gives the work back")
    func locked() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.lockTimeout = .milliseconds(300) }) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint)"))
            try await client.write(PostgresStatement("insert into t values (1)"))
            try await client.transaction { transaction in
                try await transaction.execute(PostgresStatement("select k from t for update"))
                let error = await #expect(throws: PostgresError.self) {
                    try await client.transaction { _ = try await $0.execute(PostgresStatement("update t set k = 2")) }
                }
                #expect(error?.reaction == .giveBack)
            }
        }
    }

    @Test("A snapshot does not see later commits")
    func snapshot() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url()) { client async throws in
            try await client.write(PostgresStatement("create table t (k bigint)"))
            let count = PostgresStatement("select count(*) as n from t")
            let seen = try await client.transaction(.snapshot) { transaction in
                let before = try number(try await transaction.execute(count))
                try await client.write(PostgresStatement("insert into t values (1)"))
                return (before, try number(try await transaction.execute(count)))
            }
            #expect(seen == (0, 0))
        }
    }

    @Test("Notices reach the listener, and a new connection tells that some may be lost")
    func notices() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        try await withClient(server.url(), { $0.waitTimeout = .seconds(30) }) { client async throws in
            var stream = client.noticeStream().makeAsyncIterator()
            client.listen(to: "outpost")
            #expect(await stream.next() == .connected)
            // LISTEN is in flight: the first message may come before it.
            let sender = Task {
                while !Task.isCancelled {
                    _ = try? await client.write(PostgresStatement("select pg_notify('outpost', 'hello')"))
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            #expect(await stream.next() == .message(channel: "outpost", payload: "hello"))
            try await server.stop(.immediate)
            try await server.start()
            var next = await stream.next()
            while next != .connected { next = await stream.next() }
            next = await stream.next()
            #expect(next == .message(channel: "outpost", payload: "hello"))
            sender.cancel()
        }
    }

    @Test("A pooler in transaction mode is found by all four probes, and a server by none (trap 7)")
    func pooler() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        #expect(try await PostgresClient.probe(PostgresConfiguration(url: server.tcpURL())) == [])
        guard let pooler = try await Pooler.start(to: server) else {
            // Continuous integration installs pgbouncer; elsewhere it may be missing.
            #expect(ProcessInfo.processInfo.environment["OUTPOST_CI"] == nil, "pgbouncer is missing")
            return
        }
        defer { pooler.stop() }
        let faults = try await PostgresClient.probe(PostgresConfiguration(url: server.tcpURL(port: pooler.port)))
        #expect(faults == PoolerFault.allCases)
    }
}
