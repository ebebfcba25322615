import Foundation
import PostgresClient
import PostgresServers
import Secrets
import ServerState
import ServerStateConformance
import Synchronization
import Testing

@testable import ServerStatePostgres

/// One server for a suite, with a database for each test.
actor StateServer {
    static let shared = StateServer()
    private var server: Task<PostgresServer, any Error>?
    private var number = 0

    /// Makes an empty database, and returns its URL.
    func database() async throws -> String {
        if server == nil { server = Task { try await PostgresServer.start(["max_connections = 300"]) } }
        guard let server = try await server?.value else { throw PostgresServer.Failure(description: "no server") }
        number += 1
        let name = "state_\(number)"
        let client = try PostgresClient(try PostgresConfiguration(url: server.url()))
        try await client.write(PostgresStatement("create database \(name)"))
        await client.close()
        return server.url(name)
    }
}

/// Opens a state with its tables.
func openState(
    _ url: String, keys: ServerKeys = .generate(), clock: (@Sendable () -> ServerInstant)? = nil
) async throws -> PostgresServerState {
    var configuration = try PostgresConfiguration(url: url)
    configuration.waitTimeout = .seconds(60)
    configuration.workConnections = 4
    configuration.pointTimeout = .seconds(20)
    configuration.lockTimeout = .seconds(20)
    configuration.connectTimeout = .seconds(10)
    let state = try PostgresServerState.open(configuration, keys: keys, clock: clock)
    do {
        _ = try await state.migrate(dryRun: false)
    } catch {
        await state.close()
        throw error
    }
    return state
}

@Suite("The state of the mobile server in PostgreSQL", .serialized, .enabled(if: PostgresServer.isWanted))
struct PostgresStateTests {
    @Test("Every promise holds", arguments: ServerStateConformance.cases)
    func promises(conformanceCase: ServerStateConformance.Case) async throws {
        let url = try await StateServer.shared.database()
        try await conformanceCase.run { clock in try await openState(url) { clock.now } }
    }

    @Test("The clock of the database counts, without a clock of the test")
    func clock() async throws {
        let state = try await openState(try await StateServer.shared.database())
        let now = try await state.now()
        #expect(abs((now - ServerInstant.current()).components.seconds) < 5)
        try await state.jobs.add(NewJob(kind: .prune, target: "1"))
        let jobs = try await state.jobs.claim([.prune], limit: 1, lease: .seconds(30), owner: "a")
        #expect(jobs.count == 1)
        #expect(try await state.jobs.claim([.prune], limit: 1, lease: .seconds(30), owner: "b") == [])
        await state.close()
    }

    @Test("Several nodes migrate at once, and a dry run writes nothing")
    func migration() async throws {
        let url = try await StateServer.shared.database()
        let keys = ServerKeys.generate()
        let first = try PostgresServerState.open(try PostgresConfiguration(url: url), keys: keys)
        #expect(try await first.migrate(dryRun: true).steps == ["first tables"])
        #expect(try await first.migrate(dryRun: true).from == 0)
        await #expect(throws: ServerStateError.olderSchema(found: 0, known: 1)) {
            try await first.incarnation()
        }
        let states = try (0..<3).map { _ in
            try PostgresServerState.open(try PostgresConfiguration(url: url), keys: keys)
        }
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for state in states { group.addTask { try await state.migrate(dryRun: false).steps.count } }
            return try await group.reduce(0, +)
        }
        #expect(made == 1)
        for state in states + [first] { await state.close() }
    }

    @Test("A node refuses tables of a later build")
    func newer() async throws {
        let state = try await openState(try await StateServer.shared.database())
        try await state.write("insert into schema_version values (9, 0, 'later')")
        await #expect(throws: ServerStateError.newerSchema(found: 9, known: 1)) {
            try await state.migrate(dryRun: false)
        }
        await state.close()
    }

    @Test("A node whose keys are not those of the database is refused")
    func otherKeys() async throws {
        let url = try await StateServer.shared.database()
        let state = try await openState(url)
        await #expect(throws: ServerStateError.sealedValue(table: "cluster", key: "key_check")) {
            try await openState(url)
        }
        await state.close()
    }

    @Test("A node of this build works while a later one adds columns")
    func addedColumns() async throws {
        let url = try await StateServer.shared.database()
        let state = try await openState(url)
        _ = try await state.applications.add(named: "a", title: "A", domain: "default", state: .active)
        _ = try await state.applications.all()
        for table in ["application", "job", "feed", "registration"] {
            try await state.write("alter table \(table) add column later text default 'x'")
        }
        #expect(try await state.applications.all().map(\.name) == ["a"])
        _ = try await state.applications.update("a", ifMatch: nil, ApplicationChange(title: "B"))
        try await state.jobs.add(NewJob(kind: .prune, target: "1"))
        #expect(try await state.jobs.claim([.prune], limit: 1, lease: .seconds(30), owner: "a").count == 1)
        await state.close()
    }

    @Test("A character 0 in a text is refused, and the state goes on")
    func zero() async throws {
        let state = try await openState(try await StateServer.shared.database())
        await #expect(throws: ServerStateError.self) {
            try await state.applications.add(named: "a\u{0}b", title: "", domain: "", state: .active)
        }
        #expect(try await state.applications.all() == [])
        await state.close()
    }

    @Test("No planted secret stands in a dump, and a value that is moved does not open (point 39)")
    func sealed() async throws {
        let state = try await openState(try await StateServer.shared.database())
        let planted = "planted-secret-9471"
        for name in ["a", "b"] {
            try await state.operators.setSecret(Secret(Array((planted + name).utf8)), named: name)
        }
        _ = try await state.operators.add(OperatorRecord(name: "o", password: planted, role: .viewer))
        let found = try await state.all(
            """
            select count(*) as number from (select sealed as b from secret union all select password from operator) v
            where position(convert_to($1, 'UTF8') in v.b) > 0
            """, .text(planted)
        ) { try $0.integer("number") }
        #expect(found == [0])
        try await state.write(
            "update secret set sealed = (select sealed from secret where name = 'b') where name = 'a'")
        await #expect(throws: ServerStateError.sealedValue(table: "secret", key: "a/1")) {
            try await state.operators.secret("a")
        }
        await state.close()
    }

    @Test("An audit entry that is changed or removed in the database is found (point 24)")
    func audit() async throws {
        let url = try await StateServer.shared.database()
        let keys = ServerKeys.generate()
        for text in [
            "update audit set target = 'other' where number = 2", "delete from audit where number = 2",
            "update audit set at = at + 1 where number = 3",
            "insert into audit_edge values (1, 2, decode('00', 'hex'), decode('00', 'hex'))",
        ] {
            let state = try await openState(url, keys: keys)
            try await state.write("delete from audit")
            for index in 1...3 {
                _ = try await state.operators.audit(AuditNote(actor: "a", action: "b", target: "\(index)"))
            }
            try await state.write(text)
            let verdict = try await state.operators.verifyAudit(logged: nil)
            if case .intact = verdict { Issue.record("not found: \(text)") }
            try await state.write("delete from audit_edge")
            await state.close()
        }
    }

    @Test("A large refresh is loaded by COPY, and has the rows of a small one")
    func bulk() async throws {
        let state = try await openState(try await StateServer.shared.database())
        let feed = try #require(
            try await state.feeds.feed(
                [UInt8](repeating: 1, count: 32),
                makingWith: FeedRecord(
                    key: [UInt8](repeating: 1, count: 32), application: 1, destination: "d", query: "q",
                    configuration: 1, visibility: .shared, tracking: "compare")))
        try await state.jobs.add(NewJob(kind: .refresh, target: "\(feed.id)"))
        let job = try #require(
            try await state.jobs.claim([.refresh], limit: 1, lease: .seconds(60), owner: "a").first)
        let claim = try #require(try await state.feeds.begin(feed.id, fence: job.fence))
        func write(_ number: Int, _ digest: UInt8) -> FeedWrite {
            FeedWrite(
                key: Array("k\(number)".utf8), digest: [UInt8](repeating: digest, count: 16),
                body: Array("{\(number)}".utf8))
        }
        // The last write of a key counts.
        let writes = (0..<5000).map { write($0, 1) } + [write(7, 2)]
        let first = try #require(
            try await state.feeds.commit(
                RefreshBatch(feed: feed.id, writes: writes), fence: job.fence, claim: claim))
        #expect(first.changed == 5000 && first.rowCount == 5000)
        let second = try #require(
            try await state.feeds.commit(
                RefreshBatch(feed: feed.id, writes: (0..<5000).map { write($0, $0 % 1000 == 0 ? 3 : 1) }),
                fence: job.fence, claim: claim))
        #expect(second.changed == 6, "five new digests, and the row whose digest was 2")
        var (seen, position): (Set<[UInt8]>, ChangeNumber) = ([], 0)
        while true {
            let page = try #require(
                try await state.feeds.page(
                    FeedPageRequest(feed: feed.id, kind: .full, after: position, to: second.head)))
            for row in page.rows { #expect(seen.insert(row.key).inserted) }
            position = page.position
            guard page.hasMore else { break }
        }
        #expect(seen.count == 5000)
        await state.close()
    }
}
