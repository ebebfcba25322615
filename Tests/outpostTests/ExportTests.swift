import Foundation
import Testing

@Suite("Exported files")
struct ExportTests {
    /// A clone of a table with values that are easily lost.
    private func clone(_ site: Site) async throws -> String {
        try SQLite.execute(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB, n TEXT);
            INSERT INTO t VALUES (1, x'00FF10', 'a' || char(10) || 'b'), (2, NULL, ''), (3, x'', NULL),
                (4, NULL, 'say "x", y'), (5, NULL, char(8217) || '"' || char(769));
            CREATE TABLE empties (id INTEGER PRIMARY KEY, n TEXT);
            """, in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        let cloned = try await site.tool.run("clone", site.url, clone)
        #expect(cloned.code == 0, "\(cloned.errors)")
        return clone
    }

    @Test("CSV keeps every value, distinguishes null from empty text, and has a header without rows")
    func lines() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let folder = site.path("backup")
        let exported = try await tool.run("export", clone, "--to", folder, "--format", "csv")
        #expect(exported.code == 0, "\(exported.errors)")
        let text = try String(contentsOfFile: folder + "/t.csv", encoding: .utf8)
        #expect(
            text == """
                id,b,n
                1,AP8Q,"a
                b"
                2,,""
                3,"",
                4,,"say ""x"", y"
                5,,"\u{2019}""\u{301}"

                """)
        #expect(try String(contentsOfFile: folder + "/empties.csv", encoding: .utf8) == "id,n\n")
    }

    @Test("CSV has the selected columns in the order of the query")
    func columns() async throws {
        let site = try Site()
        let tool = site.tool
        let clone = try await clone(site)
        let some = try await tool.run("export", clone, "--query", "t?$select=n&$filter=id eq 4", "--format", "csv")
        #expect(some.output == "n\n\"say \"\"x\"\", y\"\n", "\(some.errors)")
        let turned = try await tool.run("export", clone, "--query", "t?$select=b,id&$top=1", "--format", "csv")
        #expect(turned.output == "b,id\nAP8Q,1\n", "\(turned.errors)")
        let computed = try await tool.run(
            "export", clone, "--query", "t?$compute=id mul 2 as twice&$select=twice&$top=1", "--format", "csv")
        #expect(computed.output == "twice\n2\n", "\(computed.errors)")
        let none = try await tool.run("export", clone, "--query", "t?$filter=id eq 99", "--format", "csv")
        #expect(none.output == "id,b,n\n")
    }

    @Test("CSV refuses values without a column before anything is written")
    func expanded() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let refused = try await site.tool.run(
            "export", clone, "--query", "Orders?$expand=Customer", "--format", "csv")
        #expect(refused.code == 2 && refused.output.isEmpty, "\(refused.output)")
        #expect(refused.errors.contains("--format json"), "\(refused.errors)")
    }

    @Test(
        "export and watch write the same JSON as query --json",
        arguments: [
            "Orders?$apply=groupby((Customer/Country),aggregate($count as N))&$orderby=N,Customer/Country",
            "Orders?$expand=Customer,Order_Lines&$orderby=OrderID&$top=3", "Customers?$orderby=CustomerID&$top=3",
            "Products?$select=Name,Twice&$compute=Price mul 2 as Twice&$orderby=ProductID&$top=3",
        ])
    func json(query: String) async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        func object(_ text: String) throws -> Any { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
        let queried = try await tool.run("query", clone, query, "--json")
        let answer = try #require(try object(queried.output) as? [String: Any], "\(queried.errors)")
        let rows = try #require(answer["value"] as? [NSDictionary])
        #expect(!rows.isEmpty)
        let exported = try await tool.run("export", clone, "--query", query)
        #expect(try object(exported.output) as? [NSDictionary] == rows, "\(exported.output) \(exported.errors)")
        // A grouped or expanded result cannot be watched.
        guard query.hasPrefix("Customers") else { return }
        let (process, output, _) = tool.process(["watch", clone, query, "--json"])
        try process.run()
        defer { process.terminate() }
        let first = try #require(try object(await Tool.line(of: output)) as? [String: Any])
        var entity = try #require(first["entity"] as? [String: Any])
        #expect(entity.removeValue(forKey: "@odata.id") as? String == "Customers('C0001')", "which one it is")
        #expect(rows.first == entity as NSDictionary)
    }

    @Test("The name of a set cannot lead out of the export directory")
    func hostileName() async throws {
        let site = try Site()
        let service = ThingService(others: ["../../evil", ".hidden"])
        try await service.serving { url in
            let clone = site.path("clone")
            let cloned = try await site.tool.run("clone", url, clone, "--query", "one=Things")
            #expect(cloned.code == 0, "\(cloned.errors)")
            try FileManager.default.createDirectory(atPath: site.path("a/b"), withIntermediateDirectories: true)
            let exported = try await site.tool.run("export", clone, "--to", site.path("a/b/backup"))
            #expect(exported.code == 0, "\(exported.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.path("a/b/backup")) == ["Things.json"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.path("a")) == ["b"])
            #expect(!FileManager.default.fileExists(atPath: site.path("evil.json")))
        }
    }

    @Test("An incomplete set is exported, and the exit code is 1")
    func incomplete() async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = site.path("clone")
            service.refuseReads(true)
            #expect(try await site.tool.run("clone", url, clone).code == 1)
            let all = try await site.tool.run("export", clone, "--to", site.path("backup"))
            #expect(all.code == 1)
            #expect(all.errors.contains("Not all is here of Things"), "\(all.errors)")
            #expect(all.errors.contains("outpost pull \(clone)"), "\(all.errors)")
            let one = try await site.tool.run("export", clone, "--query", "Things")
            #expect(one.code == 1 && one.errors.contains("Not all is here of Things"), "\(one.errors)")
            service.refuseReads(false)
            #expect(try await site.tool.run("pull", clone).code == 0)
            #expect(try await site.tool.run("export", clone, "--query", "Things").code == 0)
        }
    }

    @Test("sets without a query are omitted")
    func leftOut() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone, "--query", "one=Categories").code == 0)
        let exported = try await site.tool.run("export", clone, "--to", site.path("backup"))
        #expect(exported.code == 0 && exported.errors.contains("Left out"), "\(exported.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.path("backup")) == ["Categories.json"])
    }

    @Test("A directory that cannot be created is reported")
    func impossible() async throws {
        let site = try Site()
        let clone = try await clone(site)
        let refused = try await site.tool.run("export", clone, "--to", "/dev/null/backup")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("cannot be made: Not a directory."), "\(refused.errors)")
        #expect(!refused.errors.contains("Error"), "\(refused.errors)")
    }
}
