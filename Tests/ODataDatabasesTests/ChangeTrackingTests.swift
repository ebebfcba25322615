import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataDatabases
@testable import ODataSQL

@Suite("Changes of a served database", .serialized)
struct ChangeTrackingTests {
    static let sql = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
        INSERT INTO item VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30), (4, 'd', 40), (5, 'e', 50);
        CREATE TABLE part (a TEXT, b INTEGER, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
        INSERT INTO part VALUES ('x', 1, 1), ('x', 2, 2), ('y', 1, 3);
        CREATE TABLE child (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item ON DELETE CASCADE);
        INSERT INTO child VALUES (1, 3), (2, 4);
        """

    @Test(
        "Literals are read even if a combining mark follows their quotes",
        arguments: ["'\u{301}", "\u{301}", "\u{600}", "a'"])
    func combiningMarks(text: String) throws {
        let written = "'" + text.doubling(UInt8(ascii: "'")) + "'"
        let values = try #require(ChangeTriggers.literals("1 \(written) X'4142' NULL"))
        #expect(values == [1.databaseValue, text.databaseValue, Data("AB".utf8).databaseValue, .null])
        #expect(DefaultLiteral.stored(written) == text.databaseValue)
        #expect(DefaultLiteral.stored("'a'b'") == nil)
        let (name, quoted) = ("a\"\u{301}", "\"a\"\"\u{301}\"")
        #expect(name.sqlIdentifier.utf8.elementsEqual(quoted.utf8))
    }

    /// Returns a short form of a delta: `+id` for entities, `-id` for deleted ones, `~id` for those that left
    /// the result.
    private func summary(_ page: EntityPage) -> [String] {
        page.entities.compactMap { $0.control.id.map { "+\($0)" } }.sorted()
            + page.removed.map { ($0.reason == .deleted ? "-" : "~") + $0.id }.sorted()
    }

    @Test("11.3 changes by the service and by other programs appear once in the next delta", arguments: [false, true])
    func deltas(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        let database = try await ServedDatabase.open(path: fixture.path)
        let response = try await database.get("item?$filter=price lt 45", track: true)
        #expect(response.preferencesApplied == ["track-changes"])
        let first = try await database.page("item?$filter=price lt 45", track: true)
        #expect(first.entities.count == 4)
        var link = try #require(first.deltaLink)
        func next() async throws -> [String] {
            let page = try await database.page(link)
            link = try #require(page.deltaLink)
            return summary(page)
        }
        #expect(try await next() == [])
        try fixture.elsewhere(
            """
            UPDATE item SET name = 'A' WHERE id = 1; DELETE FROM item WHERE id = 2;
            UPDATE item SET price = 99 WHERE id = 3; INSERT INTO item VALUES (6, 'f', 1), (7, 'g', 70);
            """)
        #expect(try await next() == ["+item(1)", "+item(6)", "-item(2)", "~item(3)", "~item(7)"])
        #expect(try await next() == [])
        _ = try await database.execute(
            try database.request(.update, "item(4)", try database.entity("item", ["name": "D"])))
        _ = try await database.execute(
            try database.request(.create, "item", try database.entity("item", ["name": "h", "price": 2])))
        let scans = try #require(database.tracker).comparisons
        #expect(try await next() == ["+item(4)", "+item(8)"])
        #expect(database.tracker?.comparisons == scans, "our own changes cost no scan")
        try await database.close()

        // After a restart, an unchanged file needs no scan; changes of other programs are found.
        let again = try await ServedDatabase.open(path: fixture.path)
        #expect(summary(try await again.page(link)) == [])
        #expect(again.tracker?.comparisons == 0)
        try await again.close()
        try fixture.elsewhere("UPDATE item SET name = 'late' WHERE id = 5")
        let later = try await ServedDatabase.open(path: fixture.path)
        #expect(summary(try await later.page(link)) == ["~item(5)"])
        #expect(later.tracker?.comparisons == 1)
        try await later.close()
        #expect(try fixture.value("PRAGMA journal_mode") == (wal ? "wal" : "delete"))
    }

    @Test("rule 29: a row changed while page 2 is read is in the next delta", arguments: [false, true])
    func tokenIsFixedBeforeTheFirstPage(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        let database = try await ServedDatabase.open(path: fixture.path)
        var page = try await database.page("item", track: true, pageSize: 2)
        var ids = page.entities.compactMap(\.control.id)
        #expect(page.deltaLink == nil)
        try fixture.elsewhere("UPDATE item SET name = 'new' WHERE id = 1")
        while let next = page.nextLink {
            let request = ODataRequest(following: next, preferences: Preferences(maxPageSize: 2))
            guard case .page(let following) = try await database.execute(request).body else { break }
            page = following
            ids += page.entities.compactMap(\.control.id)
        }
        #expect(ids.count == 5)
        let delta = try await database.page(try #require(page.deltaLink))
        #expect(summary(delta) == ["+item(1)"])
        try await database.close()
    }

    @Test(
        "rule 29: rows that page 2 showed too early or missed are corrected by the next delta",
        arguments: [false, true])
    func changedBackBehindPage(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        let database = try await ServedDatabase.open(path: fixture.path)
        let first = try await database.page("item?$filter=price lt 55", track: true, pageSize: 3)
        try fixture.elsewhere(
            """
            INSERT INTO item VALUES (6, 'gone soon', 1); UPDATE item SET price = 99 WHERE id = 4;
            UPDATE item SET name = 'for a while' WHERE id = 5;
            """)
        let next = ODataRequest(following: try #require(first.nextLink), preferences: Preferences(maxPageSize: 3))
        guard case .page(let second) = try await database.execute(next).body else { throw ODataError.notFound("page") }
        #expect(second.entities.compactMap(\.control.id) == ["item(5)", "item(6)"])
        try fixture.elsewhere(
            """
            DELETE FROM item WHERE id = 6; UPDATE item SET price = 40 WHERE id = 4;
            UPDATE item SET name = 'e' WHERE id = 5;
            """)
        let delta = try await database.page(try #require(second.deltaLink))
        #expect(summary(delta) == ["+item(4)", "+item(5)", "-item(6)"])
        try await database.close()
    }

    @Test("Pages of changes end at the limit of the first one, despite later changes")
    func deltaPages() async throws {
        let fixture = try ForeignFixture(Self.sql)
        let database = try await ServedDatabase.open(path: fixture.path)
        let start = try #require(try await database.page("part", track: true).deltaLink)
        try fixture.elsewhere("UPDATE part SET n = n + 1; INSERT INTO part VALUES ('z', 9, 9)")
        var page = try await database.page(start, pageSize: 3)
        #expect(page.entities.count == 3 && page.deltaLink == nil)
        try fixture.elsewhere("UPDATE part SET n = 100 WHERE a = 'z'; DELETE FROM part WHERE a = 'x' AND b = 1")
        page = try await database.page(try #require(page.nextLink), pageSize: 3)
        let delta = try await database.page(try #require(page.deltaLink), pageSize: 3)
        #expect(summary(delta) == ["+part(a='z',b=9)", "-part(a='x',b=1)"])
        try await database.close()
    }

    @Test("11.3.2 the number of changes, and $deltatoken=latest")
    func countAndLatest() async throws {
        let fixture = try ForeignFixture(Self.sql)
        let database = try await ServedDatabase.open(path: fixture.path)
        let link = try #require(try await database.page("part?$deltatoken=latest").deltaLink)
        try fixture.elsewhere("UPDATE part SET n = n + 1")
        let counting = link.replacingOccurrences(of: "part?", with: "part/$count?")
        guard case .count(let count) = try await database.get(counting).body else {
            throw ODataError.notFound("count")
        }
        let page = try await database.page(link)
        #expect(count == Int64(page.entities.count) && count > 0)
        try await database.close()
    }

    @Test(
        "Changes by database cascades have the version of the causing change", arguments: [false, true])
    func cascades(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        let database = try await ServedDatabase.open(path: fixture.path)
        let link = try #require(try await database.page("child", track: true).deltaLink)
        let scans = database.tracker?.comparisons
        _ = try await database.execute(try database.request(.delete, "item(3)"))
        #expect(summary(try await database.page(link)) == ["-child(1)"])
        #expect(database.tracker?.comparisons == scans)
        try await database.close()
    }

    @Test("A committed change appears in the next delta even if its caller disconnected", arguments: [false, true])
    func cancelledAfterCommit(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        let caller = Caller()
        var options = ServedDatabase.Options()
        options.atStep = { if $0 == .committed { caller.task.withLock { $0?.cancel() } } }
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        let link = try #require(try await database.page("item", track: true).deltaLink)
        let request = try database.request(.update, "item(1)", try database.entity("item", ["name": "A"]))
        let task = Task {
            while caller.task.withLock({ $0 == nil }) { await Task.yield() }
            _ = try? await database.execute(request)
        }
        caller.task.withLock { $0 = task }
        await task.value
        #expect(try fixture.value("SELECT name FROM item WHERE id = 1") == "A")
        #expect(summary(try await database.page(link)) == ["+item(1)"])
        try await database.close()
    }

    /// The task that requests a change.
    private final class Caller: Sendable {
        let task = Mutex<Task<Void, Never>?>(nil)
    }

    @Test("Tokens: 400 for another query or nonsense, 410 if the side file or the tombstones are gone")
    func tokens() async throws {
        let fixture = try ForeignFixture(Self.sql)
        var options = ServedDatabase.Options()
        options.now = { ODataDateTimeOffset(seconds: 1_800_000_000) }
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        let link = try #require(try await database.page("item", track: true).deltaLink)
        func status(_ url: String, _ database: ServedDatabase) async -> Int {
            do {
                return try await database.get(url).status
            } catch {
                return (error as? ODataError)?.status ?? 0
            }
        }
        let token = try #require(link.split(separator: "=").last)
        #expect(await status("item?$filter=price lt 5&$deltatoken=\(token)", database) == 400)
        #expect(await status("item?$deltatoken=nonsense", database) == 400)
        #expect(await status("item?$deltatoken=~nonsense", database) == 400)
        #expect(await status("child?$deltatoken=\(token)", database) == 400)
        try fixture.elsewhere("DELETE FROM item WHERE id = 1")
        #expect(await status(link, database) == 200)
        try await database.close()
        options.now = { ODataDateTimeOffset(seconds: 1_800_000_000 + 31 * 86_400) }
        let later = try await ServedDatabase.open(path: fixture.path, options: options)
        #expect(await status(link, later) == 410)
        let fresh = try #require(try await later.page("item", track: true).deltaLink)
        #expect(await status(fresh, later) == 200)
        try await later.close()
        try FileManager.default.removeItem(atPath: fixture.path + "-outpost")
        let anew = try await ServedDatabase.open(path: fixture.path, options: options)
        #expect(await status(fresh, anew) == 410)
        try await anew.close()
    }

    @Test("rule 29: a query that cannot be tracked gets no Preference-Applied")
    func untrackable() async throws {
        let fixture = try ForeignFixture(Self.sql)
        let database = try await ServedDatabase.open(path: fixture.path)
        for url in [
            "item?$top=1", "part?$filter=year(now()) gt n", "part?$apply=groupby((n))", "part?$search=x",
            "child?$expand=item_2($filter=year(now()) gt 1)",
        ] {
            let response = try await database.get(url, track: true)
            #expect(!response.preferencesApplied.contains("track-changes"), "\(url)")
        }
        try await database.close()
    }

    @Test(
        "With triggers, changes by other programs need no scan, and the triggers can be removed",
        arguments: [false, true])
    func triggers(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        var options = ServedDatabase.Options()
        options.installsTriggers = true
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        #expect(database.model.entitySet("outpost_change") == nil)
        let link = try #require(try await database.page("part", track: true).deltaLink)
        let scans = database.tracker?.comparisons
        try fixture.elsewhere("UPDATE part SET a = 'it''s' WHERE b = 2; DELETE FROM part WHERE a = 'y'")
        let delta = try await database.page(link)
        #expect(summary(delta) == ["+part(a='it%27%27s',b=2)", "-part(a='x',b=2)", "-part(a='y',b=1)"])
        #expect(database.tracker?.comparisons == scans)
        // A table that was recreated while it was not served has lost its triggers and the record of later changes.
        let next = try #require(delta.deltaLink)
        try await database.close()
        try fixture.elsewhere(
            """
            CREATE TABLE other (a TEXT, b INTEGER, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
            INSERT INTO other SELECT a, b, 4711 FROM part;
            DROP TABLE part; ALTER TABLE other RENAME TO part
            """)
        let reopened = try await ServedDatabase.open(path: fixture.path, options: options)
        let missed = try await reopened.page(next)
        #expect(missed.entities.map { $0["n"] } == [4711, 4711])
        try await reopened.close()
        try ChangeTriggers.remove(fromDatabaseAt: fixture.path)
        #expect(try fixture.value("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'outpost%'") == 0)
    }

    @Test(
        "Notes of triggers are deleted after reading, even if only other programs write",
        arguments: [false, true])
    func pruned(wal: Bool) async throws {
        let fixture = try ForeignFixture(Self.sql, wal: wal)
        var options = ServedDatabase.Options()
        options.installsTriggers = true
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        var link = try #require(try await database.page("part", track: true).deltaLink)
        for number in 1...3 {
            try fixture.elsewhere("UPDATE part SET n = n + 1")
            let delta = try await database.page(link)
            #expect(delta.entities.count == 3, "\(number)")
            link = try #require(delta.deltaLink)
            #expect(try fixture.value("SELECT COUNT(*) FROM outpost_change") == 0)
        }
        // The server continues to work after the triggers are removed.
        #expect(try ChangeTriggers.remove(fromDatabaseAt: fixture.path) > 0)
        try fixture.elsewhere("UPDATE part SET n = 99 WHERE b = 2")
        #expect(try await database.page(link).entities.map { $0["n"] } == [99])
        try await database.close()
    }

    // MARK: Results that depend on other tables

    static let related = """
        CREATE TABLE customer (id TEXT PRIMARY KEY NOT NULL, country TEXT);
        CREATE TABLE sale (id INTEGER PRIMARY KEY, customer TEXT REFERENCES customer(id), note TEXT);
        CREATE TABLE line (sale INTEGER NOT NULL REFERENCES sale(id), n INTEGER NOT NULL, amount INTEGER, PRIMARY KEY (sale, n));
        INSERT INTO customer VALUES ('a', 'DE'), ('b', 'FR'), ('c', 'DE');
        INSERT INTO sale VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'a', 'z'), (4, NULL, 'w');
        INSERT INTO line VALUES (1, 1, 5), (1, 2, 50), (2, 1, 7), (3, 1, 9);
        """

    @Test(
        "Filters through navigation and expanded relations have delta links",
        arguments: [
            (
                "sale?$filter=customer_2/country eq 'DE'", "UPDATE customer SET country = 'ES' WHERE id = 'a'",
                ["~sale(1)", "~sale(3)"]
            ),
            ("sale?$filter=customer_2/country eq 'DE'", "UPDATE sale SET customer = 'c' WHERE id = 2", ["+sale(2)"]),
            ("sale?$filter=customer_2/country eq 'DE'", "UPDATE sale SET customer = 'b' WHERE id = 1", ["~sale(1)"]),
            ("sale?$expand=customer_2", "UPDATE customer SET country = 'ES' WHERE id = 'b'", ["+sale(2)"]),
            (
                "customer?$expand=sale", "UPDATE sale SET customer = 'c' WHERE id = 1",
                ["+customer('a')", "+customer('c')"]
            ),
            (
                "customer?$expand=sale", "DELETE FROM line WHERE sale = 2; DELETE FROM sale WHERE id = 2",
                ["+customer('b')"]
            ),
            (
                "customer?$filter=sale/any(s:s/note eq 'z')", "UPDATE sale SET customer = 'b' WHERE id = 3",
                ["+customer('b')", "~customer('a')"]
            ),
            (
                "line?$filter=sale_2/customer_2/country eq 'DE'", "UPDATE customer SET country = 'DE' WHERE id = 'b'",
                ["+line(sale=2,n=1)"]
            ),
            (
                "customer?$filter=sale/any(s:s/line/any(l:l/amount gt 40))", "DELETE FROM line WHERE amount = 50",
                ["~customer('a')"]
            ),
            ("customer?$expand=sale($expand=line)", "UPDATE line SET amount = 1 WHERE sale = 3", ["+customer('a')"]),
        ] as [(String, String, [String])])
    func relatedChanges(query: String, change: String, expected: [String]) async throws {
        let fixture = try ForeignFixture(Self.related)
        let database = try await ServedDatabase.open(path: fixture.path)
        let first = try await database.get(query, track: true)
        #expect(first.preferencesApplied.contains("track-changes"))
        guard case .page(let page) = first.body, let link = page.deltaLink else {
            Issue.record("no delta link")
            return
        }
        #expect(summary(try await database.page(link)) == [])
        try fixture.elsewhere(change)
        let delta = try await database.page(link)
        let found = summary(delta).filter { expected.contains($0) || $0.hasPrefix("+") }
        #expect(found.sorted() == expected.sorted(), "\(summary(delta))")
        #expect(summary(try await database.page(try #require(delta.deltaLink))) == [])
        try await database.close()
    }

    @Test("Changes of a result that depends on other tables come in pages, each once")
    func relatedPages() async throws {
        let fixture = try ForeignFixture(Self.related)
        try fixture.elsewhere(
            "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO sale SELECT i, 'b', 'n' FROM n"
        )
        let database = try await ServedDatabase.open(path: fixture.path)
        let link = try #require(try await database.page("sale?$expand=customer_2", track: true).deltaLink)
        try fixture.elsewhere("UPDATE customer SET country = 'IT' WHERE id = 'b'")
        var found: [String] = []
        var next: String? = link
        while let url = next {
            let page = try await database.page(url, pageSize: 10)
            #expect(page.entities.count <= 10)
            found += summary(page)
            next = page.nextLink
        }
        #expect(found.count == 52 && Set(found).count == 52)
        try await database.close()
    }

    // MARK: Rows deleted by REPLACE without a trigger

    /// Tables with a unique code, and a value of the code that equals `x` in them.
    static let unique = [
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE)", "x"),
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, n DEFAULT 1, code TEXT, UNIQUE (n, code))", "x"),
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, code); CREATE UNIQUE INDEX \"a'b\" ON item (code)", "x"),
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, code); CREATE UNIQUE INDEX i ON item (code COLLATE NOCASE)", "X"),
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT, low TEXT AS (lower(code)) UNIQUE)", "X"),
        ("CREATE TABLE item (id TEXT PRIMARY KEY, code TEXT UNIQUE) WITHOUT ROWID", "x"),
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, code); CREATE UNIQUE INDEX i ON item (lower(code))", "X"),
        ("CREATE TABLE item (id INTEGER PRIMARY KEY, code); CREATE UNIQUE INDEX i ON item (code) WHERE id < 9", "x"),
    ]

    /// Checks the next delta of `item` after a change by another program, with triggers installed.
    private func tellsReplaced(_ sql: String, _ change: String, _ expected: [String]) async throws {
        let fixture = try ForeignFixture(sql)
        var options = ServedDatabase.Options()
        options.installsTriggers = true
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        let link = try #require(try await database.page("item", track: true).deltaLink)
        let scans = database.tracker?.comparisons
        try fixture.elsewhere(change)
        let delta = try await database.page(link)
        #expect(summary(delta).map { $0.replacing("'", with: "") } == expected)
        #expect(database.tracker?.comparisons == scans)
        #expect(summary(try await database.page(try #require(delta.deltaLink))) == [])
        try await database.close()
    }

    @Test("With triggers, rows that other programs replace are reported as removed", arguments: unique)
    func replacedByOthers(table: String, same: String) async throws {
        let sql = "\(table); INSERT INTO item (id, code) VALUES (1, 'x'), (3, 'y');"
        try await tellsReplaced(
            sql, "INSERT OR REPLACE INTO item (id, code) VALUES (2, '\(same)')", ["+item(2)", "-item(1)"])
        try await tellsReplaced(
            sql, "UPDATE OR REPLACE item SET code = '\(same)' WHERE id = 3", ["+item(3)", "-item(1)"])
        try await tellsReplaced(
            sql, "UPDATE item SET code = '\(same)' WHERE id = 1; DELETE FROM item WHERE id = 3",
            same == "x" ? ["-item(3)"] : ["+item(1)", "-item(3)"])
    }

    @Test("With triggers, replaced rows with a differently spelled key or by row number are reported as removed")
    func replacedKeys() async throws {
        for rest in ["", " WITHOUT ROWID"] {
            try await tellsReplaced(
                "CREATE TABLE item (code TEXT COLLATE NOCASE PRIMARY KEY)\(rest); INSERT INTO item VALUES ('x'), ('y')",
                "INSERT OR REPLACE INTO item VALUES ('X')", ["+item(X)", "-item(x)"])
        }
        try await tellsReplaced(
            "CREATE TABLE item (code TEXT PRIMARY KEY); INSERT INTO item VALUES ('x'), ('y')",
            "INSERT OR REPLACE INTO item (rowid, code) VALUES (1, 'z')", ["+item(z)", "-item(x)"])
        try await tellsReplaced(
            "CREATE TABLE item (code TEXT PRIMARY KEY); INSERT INTO item VALUES ('x'), ('y')",
            "UPDATE OR REPLACE item SET rowid = 1 WHERE code = 'y'", ["-item(x)"])
        try await tellsReplaced(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT); INSERT INTO item VALUES (1, 'x'), (2, 'y')",
            "UPDATE OR REPLACE item SET rowid = 1 WHERE id = 2", ["+item(1)", "-item(2)"])
    }

    @Test("Rows that the service itself replaces are reported as removed", arguments: [false, true])
    func replacedByOurselves(wal: Bool) async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE ON CONFLICT REPLACE, low TEXT);
            CREATE UNIQUE INDEX i ON item (low COLLATE NOCASE);
            INSERT INTO item VALUES (1, 'x', 'a'), (2, 'y', 'b'), (3, 'z', 'c');
            CREATE TABLE source (id INTEGER PRIMARY KEY, low TEXT);
            CREATE TRIGGER t AFTER INSERT ON source BEGIN INSERT OR REPLACE INTO item (low) VALUES (NEW.low); END;
            """, wal: wal)
        let database = try await ServedDatabase.open(path: fixture.path)
        var link = try #require(try await database.page("item", track: true).deltaLink)
        let scans = database.tracker?.comparisons
        func next(_ method: ODataRequest.Method, _ url: String, _ entity: ODataEntity) async throws -> [String] {
            _ = try await database.execute(try database.request(method, url, entity))
            let page = try await database.page(link)
            link = try #require(page.deltaLink)
            return summary(page)
        }
        let made = try database.entity("item", ["code": "x"])
        #expect(try await next(.create, "item", made) == ["+item(4)", "-item(1)"])
        let changed = try database.entity("item", ["code": "y"])
        #expect(try await next(.update, "item(4)", changed) == ["+item(4)", "-item(2)"])
        let source = try database.entity("source", ["low": "C"])
        #expect(try await next(.create, "source", source) == ["+item(5)", "-item(3)"])
        #expect(database.tracker?.comparisons == scans)
        try await database.close()
    }

    @Test("Triggers of an earlier version are upgraded once and block no other program")
    func earlierTriggers() async throws {
        let note = "INSERT INTO outpost_change (name, row) VALUES ('item', quote"
        let fixture = try ForeignFixture(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
            INSERT INTO item VALUES (1, 'x');
            CREATE TABLE outpost_change (
              seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, row TEXT NOT NULL
            );
            CREATE TRIGGER IF NOT EXISTS "outpost_change_insert_item" AFTER INSERT ON "item" BEGIN \(note)(NEW."id")); END;
            CREATE TRIGGER IF NOT EXISTS "outpost_change_update_item" AFTER UPDATE ON "item" BEGIN \
            \(note)(OLD."id"));\(note)(NEW."id")); END;
            CREATE TRIGGER IF NOT EXISTS "outpost_change_delete_item" AFTER DELETE ON "item" BEGIN \(note)(OLD."id")); END;
            """)
        var options = ServedDatabase.Options()
        options.installsTriggers = true
        var database = try await ServedDatabase.open(path: fixture.path, options: options)
        var link = try #require(try await database.page("item", track: true).deltaLink)
        func next(_ expected: [String], comparisons: Int) async throws {
            let page = try await database.page(link)
            link = try #require(page.deltaLink)
            #expect(summary(page) == expected)
            #expect(database.tracker?.comparisons == comparisons)
        }
        try fixture.elsewhere("INSERT OR REPLACE INTO item VALUES (2, 'x')")
        try await next(["+item(2)", "-item(1)"], comparisons: 1)
        // Current triggers are left unchanged.
        try await database.close()
        database = try await ServedDatabase.open(path: fixture.path, options: options)
        try fixture.elsewhere("INSERT OR REPLACE INTO item VALUES (3, 'x')")
        try await next(["+item(3)", "-item(2)"], comparisons: 0)
        // Another program adds a key while the database is not served, and removes one while it is served.
        try await database.close()
        try fixture.elsewhere(
            "ALTER TABLE item ADD n INTEGER; UPDATE item SET n = 7; CREATE UNIQUE INDEX later ON item (n)")
        let notes: Int? = try fixture.value("SELECT COUNT(*) FROM outpost_change WHERE name = ''")
        database = try await ServedDatabase.open(path: fixture.path, options: options)
        link = try #require(try await database.page("item", track: true).deltaLink)
        try fixture.elsewhere("INSERT OR REPLACE INTO item VALUES (4, 'y', 7)")
        let scans = try #require(database.tracker).comparisons
        #expect(try fixture.value("SELECT COUNT(*) FROM outpost_change WHERE name = ''") == notes)
        try await next(["+item(4)", "-item(3)"], comparisons: scans)
        try fixture.elsewhere("DROP INDEX later; INSERT OR REPLACE INTO item VALUES (5, 'z', 7)")
        try await next(["+item(5)"], comparisons: scans)
        try await database.close()
        try fixture.elsewhere("ALTER TABLE item DROP COLUMN n")
        try ChangeTriggers.remove(fromDatabaseAt: fixture.path)
        #expect(try fixture.value("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'outpost%'") == 0)
    }
}
