import Foundation
import Testing

@Suite("Dynamic queries of the tool")
struct SelectTests {
    @Test("A JSON file joins and groups the rows of a clone, as a table, JSON and CSV")
    func forms() async throws {
        let site = try Site()
        let tool = site.tool
        try SQLite.execute(
            """
            CREATE TABLE c (id INTEGER PRIMARY KEY, city TEXT);
            INSERT INTO c VALUES (1, 'Bern'), (2, 'Oslo'), (3, NULL);
            CREATE TABLE o (id INTEGER PRIMARY KEY, c INTEGER, n INTEGER);
            INSERT INTO o VALUES (1, 1, 5), (2, 1, 7), (3, 2, 1), (4, 3, 9);
            """, in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        let query = site.path("query.json")
        try """
        {"from": {"set": "c", "as": "c"},
         "join": [{"set": "o", "as": "o", "on": {"attribute": "o.c", "test": "equal", "value": {"attribute": "c.id"}}}],
         "groupBy": ["c.city"],
         "select": ["c.city", {"value": {"aggregate": "sum", "of": "o.n"}, "as": "total"}],
         "orderBy": ["total"]}
        """.write(toFile: query, atomically: true, encoding: .utf8)
        let table = try await tool.run("select", clone, query)
        #expect(table.code == 0, "\(table.errors)")
        #expect(table.output.contains("city") && table.output.contains("Bern"))
        let csv = try await tool.run("select", clone, query, "--csv")
        #expect(csv.output == "city,total\nOslo,1\n,9\nBern,12\n", "\(csv.errors)")
        let json = try await tool.run("select", clone, query, "--json")
        let rows = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
        #expect(rows?.map { $0["total"] as? Int } == [1, 9, 12], "\(json.errors)")
        let explained = try await tool.run("select", clone, query, "--explain")
        #expect(
            explained.output.contains("from c as c") && explained.output.contains("GROUP BY"), "\(explained.errors)")
    }

    @Test("A wrong query names its place and the file")
    func faults() async throws {
        let site = try Site()
        let tool = site.tool
        try SQLite.execute("CREATE TABLE c (id INTEGER PRIMARY KEY, city TEXT)", in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        let query = site.path("query.json")
        func run(_ text: String) async throws -> (code: Int32, errors: String) {
            try text.write(toFile: query, atomically: true, encoding: .utf8)
            let result = try await tool.run("select", clone, query)
            return (result.code, result.errors)
        }
        let misspelt = try await run("{\"from\": {\"set\": \"c\", \"as\": \"c\"}, \"select\": [\"c.citty\"]}")
        #expect(misspelt.code == 1 && misspelt.errors.contains("select[0]") && misspelt.errors.contains("city"))
        let broken = try await run("{\"from\": ")
        #expect(broken.code == 2 && broken.errors.contains("query.json"))
        let missing = try await tool.run("select", clone, site.path("none.json"))
        #expect(missing.code == 2)
    }
}
