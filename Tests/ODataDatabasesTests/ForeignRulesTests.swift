import Foundation
import GRDB
import ODataModel
import ODataService
import Testing

@testable import ODataDatabases

/// Changes under the triggers, conflict clauses and defaults of a database.
@Suite("Special rules of a served database", .serialized)
struct ForeignRulesTests {
    private func refusal(_ database: ServedDatabase, _ request: ODataRequest) async -> ODataError? {
        do {
            _ = try await database.execute(request)
            return nil
        } catch {
            return error as? ODataError
        }
    }

    @Test(
        "Triggers may insert or update with any conflict clause, and the next delta contains their changes",
        arguments: [
            "INSERT INTO total VALUES ('all', NEW.n) ON CONFLICT (id) DO UPDATE SET n = n + excluded.n",
            "UPDATE OR ABORT total SET n = n + NEW.n", "UPDATE OR FAIL total SET n = n + NEW.n",
            "UPDATE OR ROLLBACK total SET n = n + NEW.n", "UPDATE OR REPLACE total SET n = n + NEW.n",
            "INSERT OR REPLACE INTO total SELECT 'all', n + NEW.n FROM total",
        ], [false, true])
    func triggersWithConflictClauses(statement: String, wal: Bool) async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE sale (id INTEGER PRIMARY KEY, n INTEGER);
            CREATE TABLE total (id TEXT PRIMARY KEY, n INTEGER);
            INSERT INTO total VALUES ('all', 0);
            CREATE TRIGGER t AFTER INSERT ON sale BEGIN \(statement); END;
            """, wal: wal)
        let database = try await ServedDatabase.open(path: fixture.path)
        let link = try #require(try await database.page("total", track: true).deltaLink)
        let scans = database.tracker?.comparisons
        for n: ODataValue in [5, 2] {
            let sale = try database.entity("sale", ["n": n])
            #expect(try await database.execute(try database.request(.create, "sale", sale)).status == 201)
        }
        #expect(try fixture.value("SELECT n FROM total") == 7)
        let delta = try await database.page(link)
        #expect(delta.entities.map { $0["n"] } == [7] && delta.removed.isEmpty)
        #expect(database.tracker?.comparisons == scans)
        try await database.close()
    }

    @Test("A creation that the database ignores is refused, and returns no earlier row")
    func ignoredCreation() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE);
            INSERT INTO tag VALUES (1, 'a');
            CREATE TABLE guarded (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TRIGGER g BEFORE INSERT ON guarded WHEN NEW.name = 'no' BEGIN SELECT RAISE(IGNORE); END;
            """)
        var options = ServedDatabase.Options()
        options.now = { ODataDateTimeOffset(seconds: 1_795_258_000) }
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        func creation(_ set: String, _ name: ODataValue, id: String? = nil) throws -> ODataRequest {
            try database.request(
                .create, set, try database.entity(set, ["name": name]), id: id, firstSent: RepeatableRequestTests.sent)
        }
        #expect(try await database.execute(try creation("tag", "b")).location == "tag(2)")
        #expect(try await refusal(database, creation("tag", "a", id: "r-1"))?.status == 409)
        #expect(try await database.execute(try creation("guarded", "yes")).location == "guarded(1)")
        #expect(try await refusal(database, creation("guarded", "no"))?.status == 409)
        // An upsert counts as a creation.
        let upsert = try database.request(.update, "tag(7)", try database.entity("tag", ["name": "a"]))
        #expect(await refusal(database, upsert)?.status == 409)
        #expect(try fixture.value("SELECT COUNT(*) FROM tag") == 2)
        // The failed request was not stored as executed: it succeeds when the name is free.
        try fixture.elsewhere("DELETE FROM tag WHERE id = 1")
        #expect(try await database.execute(try creation("tag", "a", id: "r-1")).location == "tag(3)")
        try await database.close()
    }

    @Test("A change or deletion that the database ignores is refused")
    func ignoredChange() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE);
            INSERT INTO tag VALUES (1, 'a'), (2, 'b');
            CREATE TRIGGER keep BEFORE DELETE ON tag WHEN OLD.id = 1 BEGIN SELECT RAISE(IGNORE); END;
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        func change(_ name: ODataValue) throws -> ODataRequest {
            try database.request(.update, "tag(2)", try database.entity("tag", ["name": name]))
        }
        #expect(try await refusal(database, change("a"))?.status == 409)
        #expect(try await refusal(database, database.request(.delete, "tag(1)"))?.status == 409)
        #expect(try fixture.value("SELECT group_concat(name) FROM tag") == "a,b")
        #expect(try await refusal(database, change("c")) == nil)
        #expect(try await refusal(database, change("c")) == nil, "what changes nothing is not ignored")
        #expect(try await refusal(database, database.request(.delete, "tag(2)")) == nil)
        try await database.close()
    }

    @Test("A trigger that ignores the statement and acts itself counts as a success")
    func doneByTrigger() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE marked (id INTEGER PRIMARY KEY, name TEXT, gone INTEGER DEFAULT 0);
            INSERT INTO marked (id, name) VALUES (1, 'a');
            CREATE TRIGGER m BEFORE DELETE ON marked BEGIN
              UPDATE marked SET gone = 1 WHERE id = OLD.id; SELECT RAISE(IGNORE);
            END;
            CREATE TABLE moved (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO moved VALUES (1, 'a');
            CREATE TRIGGER d BEFORE DELETE ON moved WHEN OLD.name IS NOT NULL BEGIN
              UPDATE moved SET name = NULL WHERE id = OLD.id; DELETE FROM moved WHERE id = OLD.id;
              SELECT RAISE(IGNORE);
            END;
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        #expect(try await refusal(database, database.request(.delete, "marked(1)")) == nil)
        #expect(try fixture.value("SELECT gone FROM marked") == 1)
        #expect(try await refusal(database, database.request(.delete, "moved(1)")) == nil)
        #expect(try fixture.value("SELECT COUNT(*) FROM moved") == 0)
        try await database.close()
    }

    @Test("PUT leaves columns unchanged that have only a database default")
    func expressionDefaults() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE note (
              id INTEGER PRIMARY KEY, text TEXT, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
              code TEXT DEFAULT (lower(hex(randomblob(4)))), kind TEXT DEFAULT 'k', mark TEXT DEFAULT NULL
            );
            INSERT INTO note VALUES (1, 'a', '2020-01-01', 'c', 'x', 'y');
            """)
        let database = try await ServedDatabase.open(path: fixture.path)
        let replaced = try database.request(.replace, "note(1)", try database.entity("note", ["text": "b"]))
        #expect(await refusal(database, replaced) == nil)
        let row: String? = try fixture.value(
            "SELECT text || '|' || made || '|' || code || '|' || kind || '|' || quote(mark) FROM note")
        #expect(row == "b|2020-01-01|c|k|NULL")
        let given = try database.entity("note", ["text": "c", "made": "2021-01-01", "code": .null])
        #expect(try await refusal(database, database.request(.replace, "note(1)", given)) == nil)
        #expect(try fixture.value("SELECT made || quote(code) FROM note") == "2021-01-01NULL")
        try await database.close()
    }
}
