import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataDatabases

@Suite("Repeatable requests to a served database", .serialized)
struct RepeatableRequestTests {
    static let sent = "Sat, 21 Nov 2026 10:44:08 GMT"

    private func options() -> ServedDatabase.Options {
        var options = ServedDatabase.Options()
        options.now = { ODataDateTimeOffset(seconds: 1_795_258_000) }
        return options
    }

    private func open(_ fixture: ForeignFixture) async throws -> ServedDatabase {
        try await ServedDatabase.open(path: fixture.path, options: options())
    }

    private func creation(_ database: ServedDatabase, id: String = "r-1") throws -> ODataRequest {
        try database.request(
            .create, "item", try database.entity("item", ["name": "new"]), id: id, firstSent: Self.sent)
    }

    @Test("A repeated id acts once and gets the same response, also after a restart", arguments: [false, true])
    func repeats(wal: Bool) async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql, wal: wal)
        var database = try await open(fixture)
        let first = try await database.execute(try creation(database))
        #expect(first.status == 201 && first.repeatabilityResult == .accepted)
        let second = try await database.execute(try creation(database))
        #expect(second.status == 201 && second.location == first.location && second.etag == first.etag)
        #expect(second.repeatabilityResult == .accepted)
        guard case .entity(let entity) = second.body else {
            Issue.record("no entity")
            return
        }
        #expect(entity["name"] == "new")
        try await database.close()
        database = try await open(fixture)
        let third = try await database.execute(try creation(database))
        #expect(third.location == first.location)
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
        let other = try await database.execute(try creation(database, id: "r-2"))
        #expect(other.location != first.location)
        try await database.close()
    }

    @Test("A repeat is recognised by its id, even with another time of first sending")
    func otherFirstSending() async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql)
        let database = try await open(fixture)
        let first = try await database.execute(try creation(database))
        for sent in ["Sat, 21 Nov 2026 10:44:07 GMT", "Sat, 21 Nov 2026 10:44:09 GMT"] {
            let entity = try database.entity("item", ["name": "new"])
            let again = try await database.execute(
                try database.request(.create, "item", entity, id: "r-1", firstSent: sent))
            #expect(again.location == first.location && again.repeatabilityResult == .accepted)
        }
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
        try await database.close()
    }

    @Test("400 for a malformed or different request, 412 rejected for one that is too old")
    func refusals() async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql)
        let database = try await open(fixture)
        func refusal(id: String, sent: String = Self.sent, url: String = "item") async throws -> ODataError? {
            do {
                let entity = try database.entity("item", ["name": "x"])
                _ = try await database.execute(
                    try database.request(.create, url, entity, id: id, firstSent: sent))
                return nil
            } catch {
                return error as? ODataError
            }
        }
        #expect(try await refusal(id: "two words")?.status == 400)
        #expect(try await refusal(id: "a", sent: "yesterday")?.status == 400)
        #expect(try await refusal(id: "a", sent: "Sat, 31 Nov 2026 10:44:08 GMT")?.status == 400)
        let old = try await refusal(id: "a", sent: "Mon, 21 Sep 2026 10:44:08 GMT")
        #expect(old?.status == 412 && old?.repeatabilityResult == .rejected)
        #expect(try await refusal(id: "b") == nil)
        let entity = try database.entity("item", ["name": "x"])
        await #expect(throws: ODataError.self) {
            try await database.execute(
                try database.request(.update, "item(1)", entity, id: "b", firstSent: Self.sent))
        }
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
        try await database.close()
    }

    @Test("A response to a client with a fast clock is stored as long as its repeats are accepted")
    func fastClock() async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql)
        let day = 86_400
        let clock = Mutex(1_795_258_000)
        var options = ServedDatabase.Options()
        options.now = { ODataDateTimeOffset(seconds: Int64(clock.withLock { $0 })) }
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        // The time of the first transmission is two days ahead of the server's clock.
        func request(_ id: String, _ sent: String) throws -> ODataRequest {
            try database.request(
                .create, "item", try database.entity("item", ["name": "new"]), id: id, firstSent: sent)
        }
        let early = "Mon, 23 Nov 2026 10:44:08 GMT"
        let first = try await database.execute(try request("fast", early))
        clock.withLock { $0 += 51 * day }
        _ = try await database.execute(try request("other", "Mon, 11 Jan 2027 10:44:08 GMT"))
        let repeated = try await database.execute(try request("fast", early))
        #expect(repeated.location == first.location)
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 7)
        clock.withLock { $0 += 2 * day }
        let error = await #expect(throws: ODataError.self) { try await database.execute(try request("fast", early)) }
        #expect(error?.status == 412)
        try await database.close()
    }

    @Test("rule 2: the requests of a change set share one id and are repeated as a unit", arguments: [false, true])
    func changeSets(wal: Bool) async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql, wal: wal)
        let database = try await open(fixture)
        func batch() throws -> ODataRequest {
            var child = try database.entity("child", [:])
            child.related["item_2"] = .references(["$1"])
            let items = [
                BatchItem(id: "1", request: try creation(database), atomicityGroup: "g"),
                BatchItem(
                    id: "2", request: try database.request(.create, "child", child, id: "r-1", firstSent: Self.sent),
                    atomicityGroup: "g"),
            ]
            return ODataRequest(.create, try ODataURL(parsing: "$batch"), body: .batch(items))
        }
        for _ in 0..<2 {
            guard case .batch(let results) = try await database.execute(try batch()).body else {
                Issue.record("no batch")
                return
            }
            let locations = try results.map { try $0.result.get().location }
            #expect(locations == ["item(6)", "child(3)"])
        }
        #expect(try fixture.value("SELECT COUNT(*) FROM child") == 3)
        #expect(try fixture.value("SELECT item FROM child WHERE id = 3") == 6)
        try await database.close()
    }

    @Test(
        "rule 27: killed between any two steps, a repeat still acts exactly once",
        arguments: [false, true], [ServedDatabase.CommitStep.changed, .intended, .committed])
    func killed(wal: Bool, step: ServedDatabase.CommitStep) async throws {
        if !wal, step == .intended { return }
        let fixture = try ForeignFixture(ChangeTrackingTests.sql, wal: wal)
        let path = fixture.path
        let database = try await open(fixture)
        let link = try #require(try await database.page("item", track: true).deltaLink)
        try await database.close()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step.rawValue as String] in
            var options = ServedDatabase.Options()
            options.now = { ODataDateTimeOffset(seconds: 1_795_258_000) }
            options.atStep = { if $0.rawValue == step { kill(getpid(), SIGKILL) } }
            let database = try await ServedDatabase.open(path: path, options: options)
            let entity = try database.entity("item", ["name": "new"])
            _ = try await database.execute(
                try database.request(.create, "item", entity, id: "r-1", firstSent: RepeatableRequestTests.sent))
        }
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == (step == .committed ? 6 : 5))
        let again = try await open(fixture)
        let response = try await again.execute(try creation(again))
        #expect(response.status == 201 && response.location == "item(6)")
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
        #expect(try fixture.value("PRAGMA integrity_check") == "ok")
        let delta = try await again.page(link)
        #expect(delta.entities.compactMap(\.control.id) == ["item(6)"])
        try await again.close()
    }

    @Test(
        "rule 27: if another program switches to a write-ahead log, a repeat still acts exactly once",
        arguments: [ServedDatabase.CommitStep.intended, .committed])
    func turnedToLog(step: ServedDatabase.CommitStep) async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql)
        let path = fixture.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step.rawValue as String] in
            var options = ServedDatabase.Options()
            options.now = { ODataDateTimeOffset(seconds: 1_795_258_000) }
            options.atStep = { if $0.rawValue == step { kill(getpid(), SIGKILL) } }
            let database = try await ServedDatabase.open(path: path, options: options)
            let other = try DatabaseQueue(path: path)
            try await other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
            let entity = try database.entity("item", ["name": "new"])
            _ = try await database.execute(
                try database.request(.create, "item", entity, id: "r-1", firstSent: RepeatableRequestTests.sent))
        }
        #expect(try fixture.value("PRAGMA journal_mode") == "wal")
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == (step == .committed ? 6 : 5))
        // With a rollback journal again, the open intent is settled, too.
        if step == .committed { try fixture.elsewhere("PRAGMA journal_mode = DELETE") }
        let again = try await open(fixture)
        let response = try await again.execute(try creation(again))
        #expect(response.status == 201 && response.location == "item(6)")
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
        let link = try #require(try await again.page("item", track: true).deltaLink)
        if step == .committed { try fixture.elsewhere("PRAGMA journal_mode = WAL") }
        for _ in 0..<2 { _ = try await again.execute(try creation(again, id: "r-2")) }
        #expect(try await again.page(link).entities.compactMap(\.control.id) == ["item(7)"])
        try await again.close()
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 7)
    }

    @Test(
        "rule 27: rows that a trigger replaces are recorded first, so that no outcome is unknown after a crash",
        arguments: [
            "UPDATE OR REPLACE total SET n = n + 1", "INSERT OR REPLACE INTO total SELECT 'all', n + 1 FROM total",
        ])
    func killedAmongReplacedRows(statement: String) async throws {
        let fixture = try ForeignFixture(
            """
            \(ChangeTrackingTests.sql)
            CREATE TABLE total (id TEXT PRIMARY KEY, n INTEGER);
            INSERT INTO total VALUES ('all', 0);
            CREATE TRIGGER t AFTER INSERT ON item BEGIN \(statement); END;
            """, wal: true)
        let path = fixture.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            var options = ServedDatabase.Options()
            options.now = { ODataDateTimeOffset(seconds: 1_795_258_000) }
            options.atStep = { if $0 == .intended { kill(getpid(), SIGKILL) } }
            let database = try await ServedDatabase.open(path: path, options: options)
            let entity = try database.entity("item", ["name": "new"])
            _ = try await database.execute(
                try database.request(.create, "item", entity, id: "r-1", firstSent: RepeatableRequestTests.sent))
        }
        let again = try await open(fixture)
        let response = try await again.execute(try creation(again))
        #expect(response.status == 201 && response.location == "item(6)")
        #expect(try fixture.value("SELECT n FROM total") == 1)
        try await again.close()
    }

    @Test("rule 27: a repeat at another server of the database acts once", arguments: [false, true])
    func severalServers(wal: Bool) async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql, wal: wal)
        let (changed, signal) = AsyncStream<Void>.makeStream()
        var options = self.options()
        options.atStep = {
            switch $0 {
            case .changed:
                // The second server now looks for intents, finds none, and waits for the lock.
                signal.finish()
                Thread.sleep(forTimeInterval: 0.5)
            case .committed:
                // The second server gets the lock before this server has recorded its commit.
                Thread.sleep(forTimeInterval: 1)
            case .intended: break
            }
        }
        let first = try await ServedDatabase.open(path: fixture.path, options: options)
        let second = try await open(fixture)
        async let acted = try first.execute(try creation(first))
        for await _ in changed {}
        let repeated = try await second.execute(try creation(second))
        let location = try await acted.location
        #expect(location == "item(6)" && repeated.location == location)
        #expect(repeated.status == 201)
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
        // Later repeats have a known outcome at both servers.
        for database in [first, second] {
            #expect(try await database.execute(try creation(database)).location == location)
            try await database.close()
        }
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 6)
    }

    @Test("rule 27: a repeat has an unknown outcome if others changed the same row since the crash")
    func inDoubt() async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql, wal: true)
        let path = fixture.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            var options = ServedDatabase.Options()
            options.now = { ODataDateTimeOffset(seconds: 1_795_258_000) }
            options.atStep = { if $0 == .committed { kill(getpid(), SIGKILL) } }
            let database = try await ServedDatabase.open(path: path, options: options)
            let entity = try database.entity("item", ["name": "new"])
            _ = try await database.execute(
                try database.request(.update, "item(1)", entity, id: "r-9", firstSent: RepeatableRequestTests.sent))
        }
        try fixture.elsewhere("UPDATE item SET name = 'other' WHERE id = 1")
        let database = try await open(fixture)
        let entity = try database.entity("item", ["name": "new"])
        do {
            _ = try await database.execute(
                try database.request(.update, "item(1)", entity, id: "r-9", firstSent: Self.sent))
            Issue.record("acted twice")
        } catch let error as ODataError {
            #expect(error.status == 409 && error.code == "RepeatInDoubt")
        }
        try await database.close()
    }

    @Test("A constraint that fails at the commit refuses the change, and a repeat may act later")
    func deferredConstraints() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE child (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item DEFERRABLE INITIALLY DEFERRED);
            """, wal: true)
        let database = try await open(fixture)
        let child = try database.entity("child", ["item": 1])
        let request = try database.request(.create, "child", child, id: "r-1", firstSent: Self.sent)
        do {
            _ = try await database.execute(request)
            Issue.record("not refused")
        } catch let error as ODataError {
            #expect(error.status == 409)
        }
        try fixture.elsewhere("INSERT INTO item VALUES (1, 'x')")
        #expect(try await database.execute(request).status == 201)
        try await database.close()
    }

    @Test("The same request id of two users names two requests", arguments: [false, true])
    func users(wal: Bool) async throws {
        let fixture = try ForeignFixture(ChangeTrackingTests.sql, wal: wal)
        let (ann, bob) = (Principal(name: "ann"), Principal(name: "bob"))
        let database = try await open(fixture)
        func create(_ name: String, _ principal: Principal?) async throws -> ODataResponse {
            var request = try database.request(
                .create, "item", try database.entity("item", ["name": .string(name)]), id: "r-1",
                firstSent: Self.sent)
            request.context.principal = principal
            return try await database.execute(request)
        }
        let first = try await create("ann's", ann)
        let other = try await create("bob's", bob)
        guard case .entity(let entity) = other.body else { throw ODataError.notFound("entity") }
        #expect(entity["name"] == "bob's" && other.location != first.location)
        #expect(try await create("ann's", ann).location == first.location)
        let error = await #expect(throws: ODataError.self) { try await create("another", ann) }
        #expect(error?.status == 400)
        #expect(try fixture.value("SELECT COUNT(*) FROM item") == 7)
        try await database.close()
    }
}
