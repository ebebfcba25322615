import Foundation
import GRDB
import ODataModel
import ODataService
import Testing

@testable import ODataDatabases

/// String columns of existing databases contain values of any storage class. Clients see strings (OData URL
/// Conventions 4.01, 5.1.1.1; rule 18).
@Suite("Columns of any storage class that are served as strings")
struct AnyTextTests {
    static let sql = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, code INTEGER_OR_TEXT NOT NULL);
        INSERT INTO t VALUES (1, 10), (2, 9), (3, 'a');
        CREATE TABLE n (id INTEGER PRIMARY KEY, code);
        INSERT INTO n VALUES (1, 10), (2, 9), (3, 'a'), (4, '10'), (5, 1.5), (6, CAST('a' AS BLOB)), (7, NULL);
        CREATE TABLE k2 (code PRIMARY KEY NOT NULL, x);
        INSERT INTO k2 VALUES (10, 1), (9, 2), ('a', 3);
        CREATE TABLE flat (code NUMERIC PRIMARY KEY NOT NULL, x) WITHOUT ROWID;
        INSERT INTO flat VALUES (10, 1), ('b', 2);
        CREATE TABLE c (code TEXT PRIMARY KEY COLLATE NOCASE NOT NULL, x INTEGER);
        INSERT INTO c VALUES ('Abc', 1);
        """

    private func withDatabase(_ sql: String = sql, _ body: (ServedDatabase, ForeignFixture) async throws -> Void)
        async throws
    {
        let fixture = try ForeignFixture(sql)
        let database = try await ServedDatabase.open(path: fixture.path)
        try await body(database, fixture)
        try await database.close()
    }

    @Test(
        "Queries compare such keys as strings, for any column affinity",
        arguments: [
            ("t?$filter=code gt '9'", [3]), ("t?$filter=code eq '09'", []), ("t?$filter=code eq '9'", [2]),
            ("t?$filter=startswith(code,'1')", [1]), ("t?$orderby=code", [1, 2, 3]),
            ("t?$filter=code in ('10','a')", [1, 3]),
            ("t?$filter=length(code) eq 2", [1]), ("t?$filter=code ne '09'", [1, 2, 3]),
            ("n?$filter=code eq '10'", [1, 4]), ("n?$filter=code ne '10'", [2, 3, 5, 6, 7]),
            ("n?$filter=code eq 'a'", [3, 6]),
            ("n?$filter=code eq '1.5'", [5]), ("n?$filter=code eq null", [7]),
            ("n?$orderby=code,id", [7, 5, 1, 4, 2, 3, 6]),
            ("n?$filter=contains(code,'.')", [5]), ("n?$search=a", [3, 6]), ("n?$filter=code eq '10.0'", []),
        ] as [(String, [Int64])])
    func comparisons(query: String, expected: [Int64]) async throws {
        try await withDatabase { database, _ in
            let ids = try await database.page(query).entities.map { $0["id"] }
            #expect(ids == expected.map { .integer($0) })
        }
    }

    @Test("An entity is found only by its listed key")
    func keys() async throws {
        try await withDatabase { database, fixture in
            for set in ["k2", "flat", "c"] {
                for entity in try await database.page(set).entities {
                    let id = try #require(entity.control.id)
                    #expect(try await database.get(id).status == 200, "\(id)")
                }
            }
            for id in ["k2('010')", "k2('10.0')", "flat('010')", "c('abc')", "c('ABC')"] {
                await #expect(throws: ODataError.self, "\(id)") { try await database.get(id) }
            }
            // A change by key affects the same row and creates none.
            let change = try database.entity("k2", ["x": 9])
            #expect(try await database.execute(try database.request(.update, "k2('10')", change)).status < 300)
            #expect(try fixture.value("SELECT count(*) FROM k2") == 3)
            #expect(try fixture.value("SELECT typeof(code) FROM k2 WHERE code = 10") == "integer")
            let flat = try database.entity("flat", ["x": 9])
            #expect(try await database.execute(try database.request(.update, "flat('10')", flat)).status < 300)
            #expect(try fixture.value("SELECT count(*) FROM flat") == 2)
            #expect(try fixture.value("SELECT x FROM flat WHERE code = 10") == 9)
        }
    }

    @Test("A creation with an existing key, or one that the column converts to an existing key, is refused")
    func creations() async throws {
        try await withDatabase { database, fixture in
            for (set, code, status) in [("k2", "10", 409), ("k2", "a", 409), ("flat", "10", 409), ("flat", "011", 400)]
            {
                let entity = try database.entity(set, ["code": .string(code), "x": 1])
                do {
                    _ = try await database.execute(try database.request(.create, set, entity))
                    Issue.record("\(set) \(code) was created")
                } catch let error as ODataError {
                    #expect(error.status == status, "\(set) \(code): \(error.message)")
                }
            }
            let entity = try database.entity("flat", ["code": "11", "x": 1])
            #expect(try await database.execute(try database.request(.create, "flat", entity)).location == "flat('11')")
            #expect(try await database.get("flat('11')").status == 200)
            #expect(try fixture.value("SELECT count(*) FROM k2") == 3)
        }
    }

    @Test("If a column would give one text twice, the rowid is the key")
    func repeatedKeys() async throws {
        try await withDatabase(
            "CREATE TABLE t (code PRIMARY KEY NOT NULL, x); INSERT INTO t VALUES (10, 1), ('10', 2), (9, 3)"
        ) { database, _ in
            #expect(database.model.shape(ofSet: "t")?.key.map(\.path) == ["_rowid"])
            #expect(database.warnings.contains { $0.contains("several rows are served with the same code") })
            let found = try await database.page("t?$filter=code eq '10'").entities
            #expect(found.count == 2)
        }
    }

    @Test("Rows are related if their strings are equal")
    func relations() async throws {
        try await withDatabase(
            """
            CREATE TABLE p (code INTEGER_OR_TEXT PRIMARY KEY NOT NULL, name TEXT);
            INSERT INTO p VALUES (1, 'one'), ('x', 'ex');
            CREATE TABLE d (id INTEGER PRIMARY KEY, p TEXT REFERENCES p(code));
            INSERT INTO d VALUES (1, '1'), (2, 'x'), (3, '01');
            """
        ) { database, _ in
            let rows = try await database.page("d?$expand=p_2").entities
            #expect(rows.map { $0.related(through: "p_2").count } == [1, 1, 0])
            #expect(try await database.page("d?$filter=p_2/name eq 'one'").entities.map { $0["id"] } == [1])
            #expect(try await database.page("p('1')/d").entities.map { $0["id"] } == [1])
            #expect(
                try await database.page("p?$filter=d/any()&$orderby=code").entities.map { $0["code"] } == ["1", "x"])
            let parents = try await database.page("p?$expand=d&$orderby=code").entities
            #expect(parents.map { $0.related(through: "d").count } == [1, 1])
        }
    }

    @Test("A column without a type that mixes numbers and texts causes a warning")
    func warnings() async throws {
        try await withDatabase { database, _ in
            for column in ["t.code", "n.code", "k2.code"] {
                #expect(database.warnings.contains { $0.contains(column) }, "\(column): \(database.warnings)")
            }
        }
    }
}
