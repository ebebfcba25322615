import Foundation
import PostgresClient
import PostgresServers
import ServerState
import Synchronization
import Testing

@testable import ServerStatePostgres

@Suite("Several nodes on one state", .enabled(if: PostgresServer.isWanted), .serialized)
struct NodesTests {
    private let keys = ServerKeys.generate()

    private func two(_ url: String) async throws -> (PostgresServerState, PostgresServerState) {
        (try await openState(url, keys: keys), try await openState(url, keys: keys))
    }

    @Test("A notice of one node reaches the other, and each reader of its own node at once")
    func signal() async throws {
        let (first, second) = try await two(try await StateServer.shared.database())
        let topics = second.signal.topics()
        let sender = Task {
            // The first notices may come before the other node listens.
            while !Task.isCancelled {
                await first.signal.send([.feed(7), .scope("shop\u{1F6A2}"), .jobs])
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        var iterator = topics.makeAsyncIterator()
        #expect(await iterator.next() == [.feed(7), .scope("shop\u{1F6A2}"), .jobs])
        sender.cancel()
        await first.close()
        await second.close()
    }

    @Test("Many notices are few messages of limited size (trap 10)")
    func coalesced() {
        let topics = Set((0..<2000).map { SignalTopic.feed(1_000_000 + Int64($0)) })
        let payloads = SignalText.payloads(topics, from: "node")
        #expect(payloads.count < 5 && payloads.allSatisfy { $0.utf8.count <= 7_500 })
        #expect(Set(payloads.compactMap { SignalText.read($0)?.topics }.joined()) == topics)
        #expect(SignalText.read("node\nzlater\nj")?.topics == [.jobs])
    }

    @Test("Every job is claimed once by two nodes at a time, never above the limit (point 20)")
    func claims() async throws {
        let (first, second) = try await two(try await StateServer.shared.database())
        for index in 0..<200 { try await first.jobs.add(NewJob(kind: .refresh, target: "\(index)")) }
        let claimed = try await withThrowingTaskGroup(of: [LeasedJob].self) { group in
            for node in [first, second, first, second] {
                group.addTask {
                    var all: [LeasedJob] = []
                    while true {
                        let jobs = try await node.jobs.claim([.refresh], limit: 7, lease: .seconds(600), owner: "n")
                        guard !jobs.isEmpty else { return all }
                        #expect(jobs.count <= 7)
                        all += jobs
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == 200 && Set(claimed.map(\.target)).count == 200)
        #expect(Set(claimed.map(\.fence)).count == 200, "each lease has a fence of its own")
        await first.close()
        await second.close()
    }

    @Test("A reader that follows the changes of a scope misses none of two nodes (rule 42)")
    func follower() async throws {
        let (first, second) = try await two(try await StateServer.shared.database())
        let application = try await first.applications.add(
            named: "shop", title: "", domain: "default", state: .active)
        let isDone = Atomic<Bool>(false)
        let reader = Task {
            var (seen, last): (Set<String>, ChangeNumber) = ([], 0)
            while true {
                let isLast = isDone.load(ordering: .acquiring)
                let users = try await second.registrations.users(of: application.id, after: 0, changedAfter: last)
                for user in users { seen.insert(user.subject) }
                last = max(last, users.map(\.change).max() ?? 0)
                if isLast { return seen }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, node) in [first, second, first, second].enumerated() {
                group.addTask {
                    for index in 0..<25 {
                        _ = try await node.registrations.user(
                            of: application.id, issuer: "i", subject: "\(number)-\(index)", makingWith: "n")
                    }
                }
            }
            try await group.waitForAll()
        }
        isDone.store(true, ordering: .releasing)
        #expect(try await reader.value.count == 100)
        await first.close()
        await second.close()
    }

    @Test("After a failover that lost commits a new incarnation begins, once for all nodes (points 3, 8, 14)")
    func failover() async throws {
        let primary = try await PostgresServer.start()
        defer { primary.remove() }
        let standby = try await primary.makeStandby()
        defer { standby.remove() }
        let url = "postgres://postgres@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/postgres?sslmode=disable"
        let (first, second) = try await two(url)
        #expect(try await first.enter() == false)
        #expect(try await second.enter() == false)
        _ = try await first.applications.add(named: "kept", title: "", domain: "", state: .active)
        try await first.jobs.add(NewJob(kind: .refresh, target: "1"))
        // The standby has all of this, and then hears no more.
        let direct = try PostgresClient(try PostgresConfiguration(url: primary.url()))
        for _ in 0..<200 {
            let rows = try await direct.read(
                PostgresStatement(
                    "select count(*) as n from pg_stat_replication where replay_lsn = pg_current_wal_lsn()"))
            if try rows.first?.integer("n") == 1 { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        await direct.close()
        try await standby.part()
        let job = try #require(
            try await first.jobs.claim([.refresh], limit: 1, lease: .seconds(600), owner: "a").first)
        let lost = try await first.applications.add(named: "lost", title: "", domain: "", state: .active)
        let before = try await first.incarnation()
        try await primary.stop(.kill)
        try await standby.promote()

        let after = try await first.incarnation()
        #expect(after.number > before.number)
        #expect(try await second.incarnation() == after, "one raise for both nodes")
        #expect(try await second.applications.all().map(\.name) == ["kept"])
        #expect(try await first.jobs.finish(job, .done) == false, "a fence from before writes nothing")
        let new = try await second.applications.add(named: "new", title: "", domain: "", state: .active)
        #expect(new.change > lost.change && new.change >> 32 == after.number)
        #expect(
            try await first.removedRows(of: ChangeNumberScope.server, after: lost.change) == nil,
            "a read model from before reloads")
        await first.close()
        await second.close()
    }

    @Test("A volume that was put back without a new timeline is found by the next sign of life (point 3)")
    func putBack() async throws {
        let url = try await StateServer.shared.database()
        let (first, second) = try await two(url)
        _ = try await first.enter()
        try await first.nodes.beat("a", build: "1", isDraining: false)
        try await second.nodes.beat("b", build: "1", isDraining: false)
        try await first.nodes.beat("a", build: "1", isDraining: false)
        let before = try await first.incarnation()
        try await first.write("create table saved as select * from node where id = 'a'")
        try await first.nodes.beat("a", build: "1", isDraining: false)
        #expect(try await first.incarnation() == before, "without a loss nothing begins")
        // An older copy of the row, as an older volume has it.
        try await first.write("delete from node where id = 'a'")
        try await first.write("insert into node select * from saved")
        try await first.nodes.beat("a", build: "1", isDraining: false)
        #expect(try await first.incarnation().number > before.number)
        await first.close()
        await second.close()
    }

    @Test("Two processes with one name of a node raise no incarnation")
    func sameName() async throws {
        let (first, second) = try await two(try await StateServer.shared.database())
        let before = try await first.incarnation()
        for _ in 0..<3 {
            try await first.nodes.beat("a", build: "1", isDraining: false)
            try await second.nodes.beat("a", build: "1", isDraining: false)
        }
        #expect(try await first.incarnation() == before)
        await first.close()
        await second.close()
    }

    @Test("A database that ends at once is used again, and nothing is written twice")
    func restart() async throws {
        let server = try await PostgresServer.start()
        defer { server.remove() }
        let state = try await openState(server.url())
        _ = try await state.enter()
        let incarnation = try await state.incarnation()
        let application = try await state.applications.add(named: "a", title: "", domain: "", state: .active)
        try await server.stop(.immediate)
        try await server.start()
        #expect(try await state.applications.all() == [application])
        #expect(try await state.incarnation() == incarnation, "a restart is no failover")
        await state.close()
    }

    @Test("Weeks of repeatable requests are made when they are needed, and dropped whole (point 12)")
    func weeks() async throws {
        let now = Mutex(ServerInstant(rawValue: 1_800_000_000_000_000))
        let state = try await openState(try await StateServer.shared.database()) { now.withLock { $0 } }
        _ = try await state.enter()
        func tables() async throws -> Int {
            try await state.all("select count(*) as n from pg_inherits where inhparent = 'replay'::regclass") {
                try $0.number("n")
            }.first ?? 0
        }
        #expect(try await tables() == 11)
        now.withLock { $0 = $0 + .seconds(30 * 86_400) }
        let sent = now.withLock { $0 }
        let request = ReplayRequest(
            key: ReplayKey(owner: [1], requestID: "r", firstSent: sent), hash: [1], firstSent: sent, node: "a",
            lease: .seconds(60))
        guard case .forward = try await state.replays.begin(request) else {
            Issue.record("the week was not made")
            return
        }
        #expect(try await tables() == 12)
        now.withLock { $0 = $0 + .seconds(60 * 86_400) }
        _ = try await state.expire(RetentionAges())
        #expect(try await tables() == 0)
        await state.close()
    }
}
