import Foundation
import Testing

/// What push, pull and clone can be told, as a person tells them.
@Suite("Options for sending and downloading")
struct SendingTests {
    private struct Push: Decodable {
        struct Line: Decodable {
            var id: Int64
            var entity: String
            var state: String
        }

        var accepted: [Line]
        var givenUp: [Line]
        var failed: [Line]
        var waiting: [Line]

        init(_ result: Tool.Result) throws {
            self = try JSONDecoder().decode(Self.self, from: Data(result.output.utf8))
        }
    }

    @Test("A service that requires session tokens gets them with their cookies")
    func tokens() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve(nil, port: 0, "--csrf")
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=11").code == 0)
        #expect(try await tool.run("create", clone, "Categories", "Name=Tokens").code == 0)
        let push = try await tool.run("push", clone)
        #expect(push.code == 0, "\(push.output) \(push.errors)")
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 11)
        #expect(try SQLite.integer("SELECT COUNT(*) FROM Categories WHERE Name = 'Tokens'", in: site.database) == 1)
        #expect(try await tool.run("errors", clone).output == "No change was refused.\n")
    }

    @Test("push --only sends the changes of a category, and the rest waits")
    func categories() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=21", "--category", "stock").code == 0)
        #expect(try await tool.run("update", clone, "Products(7)", "Stock=22").code == 0)
        #expect(try await tool.run("create", clone, "Categories", "Name=Later", "--category", "later").code == 0)
        let status = try await tool.run("status", clone)
        #expect(status.output.contains("in stock") && status.output.contains("in later"), "\(status.output)")
        let push = try Push(try await tool.run("push", clone, "--only", "stock", "--json"))
        #expect(push.accepted.map(\.entity) == ["Products(6)"])
        #expect(push.waiting.isEmpty, "they were not to be sent")
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 21)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 7", in: site.database) != 22)
        let mistyped = try await tool.run("push", clone, "--only", "latr")
        #expect(mistyped.code == 1 && mistyped.errors.contains("There is no category latr."), "\(mistyped.errors)")
        #expect(mistyped.errors.contains("outpost status \(clone)"), "\(mistyped.errors)")
        let both = try Push(try await tool.run("push", clone, "--only", "later", "--only", "later", "--json"))
        #expect(both.accepted.count == 1)
        #expect(try Push(try await tool.run("push", clone, "--json")).accepted.map(\.entity) == ["Products(7)"])
        #expect(try await tool.run("push", clone, "--only", "stock").code == 0, "nothing waits, of no category")
    }

    @Test("push --fold sends one request for several changes of an entity")
    func fold() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        for stock in 31...33 {
            #expect(try await tool.run("update", clone, "Products(6)", "Stock=\(stock)").code == 0)
        }
        let push = try Push(try await tool.run("push", clone, "--fold", "--json"))
        #expect(push.accepted.count == 1)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 33)
    }

    @Test("push --on-conflict decides about entities that another user changed", arguments: ["mine", "theirs"])
    func conflicts(policy: String) async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (clone, other) = (site.path("clone"), site.path("other"))
        for path in [clone, other] { #expect(try await tool.run("clone", site.url, path).code == 0) }
        #expect(try await tool.run("update", other, "Products(6)", "Stock=41").code == 0)
        #expect(try await tool.run("push", other).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=42").code == 0)
        let push = try await tool.run("push", clone, "--on-conflict", policy)
        #expect(push.code == 0, "\(push.output) \(push.errors)")
        let stock = policy == "mine" ? 42 : 41
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == stock)
        #expect(try await tool.run("query", clone, "Products(6)/Stock").output == "\(stock)\n")
    }

    @Test(
        "push --on-conflict merge combines both changes, for all sets or for one",
        arguments: ["merge", "Products=merge"])
    func merge(policy: String) async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (clone, other) = (site.path("clone"), site.path("other"))
        for path in [clone, other] { #expect(try await tool.run("clone", site.url, path).code == 0) }
        #expect(try await tool.run("update", other, "Products(6)", "Name=Theirs").code == 0)
        #expect(try await tool.run("update", other, "Products(7)", "Stock=41").code == 0)
        #expect(try await tool.run("push", other).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=42").code == 0)
        #expect(try await tool.run("update", clone, "Products(7)", "Stock=43").code == 0)
        let push = try await tool.run("push", clone, "--on-conflict", policy)
        #expect(push.code == 3, "\(push.output) \(push.errors)")
        #expect(push.output.contains("changed by somebody else: Stock"), "\(push.output)")
        let product = "SELECT Stock FROM Products WHERE Name = 'Theirs' AND ProductID = 6"
        #expect(try SQLite.integer(product, in: site.database) == 42)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 7", in: site.database) == 41)
        #expect(try await tool.run("query", clone, "Products(6)/Name").output == "Theirs\n")
        let unknown = try await tool.run("push", clone, "--on-conflict", "Nothing=merge")
        #expect(unknown.code == 2 && unknown.errors.contains("Nothing"), "\(unknown.errors)")
    }

    @Test("A clone keeps rows of shared queries for another user, and counts the rows of each query")
    func handOver() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let made = try await tool.run(
            "clone", site.url, clone, "--query", "products=Products?$filter=ProductID le 6", "--query", "orders=Orders",
            "--query", "all=Products", "--shared", "products")
        #expect(made.code == 0, "\(made.errors)")
        #expect(try await tool.run("hand-over", clone, "ada").code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=42").code == 0)
        let refused = try await tool.run("hand-over", clone, "ben")
        #expect(refused.code == 1 && refused.errors.contains("--pending push"), "\(refused.errors)")
        let given = try await tool.run("hand-over", clone, "ben", "--pending", "push")
        #expect(given.code == 0 && given.output.contains("Kept 6 rows of products."), "\(given.output) \(given.errors)")
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 42)
        #expect(try await tool.run("query", clone, "Products(6)/Stock").output == "42\n")
        let status = try await tool.run("status", clone)
        #expect(status.output.contains("products (shared)"), "\(status.output)")
        struct Report: Decodable {
            struct Query: Decodable {
                var name: String
                var rows: Int
                var isShared: Bool
            }

            var queries: [Query]
        }
        let json = try await tool.run("status", clone, "--json").output
        let report = try JSONDecoder().decode(Report.self, from: Data(json.utf8))
        #expect(report.queries.map(\.rows) == [6, 0, 0] && report.queries.map(\.isShared) == [true, false, false])
    }

    @Test("query reads the request queue and paths through it")
    func affectedEntity() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        #expect(try await tool.run("update", clone, "Products(6)", "Stock=4711").code == 0)
        for query in [
            "RequestQueue?$expand=AffectedEntity", "RequestQueue?$expand=RequestEntity",
            "RequestQueue(1)/AffectedEntity",
            "RequestQueue(1)/AffectedEntity/Stock", "RequestQueue(1)/RequestEntity/Stock", "RequestQueue?$expand=*",
            "RequestQueue?$expand=AffectedEntity($select=Stock)",
        ] {
            for form in [[], ["--json"]] {
                let answer = try await tool.run(["query", clone, query] + form)
                #expect(answer.code == 0, "\(query): \(answer.errors)")
                #expect(answer.output.contains("4711"), "\(query) \(form): \(answer.output)")
            }
        }
        #expect(try await tool.run("query", clone, "ErrorArchive?$expand=AffectedEntity").code == 0)
    }

    @Test("push --conflicts theirs lists withdrawn and sent changes separately", arguments: [false, true])
    func givenUp(asJSON: Bool) async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        for id in [6, 7] { #expect(try await tool.run("update", clone, "Products(\(id))", "Stock=51").code == 0) }
        try SQLite.execute("UPDATE Products SET Stock = 52 WHERE ProductID = 6", in: site.database)
        let result = try await tool.run(["push", clone, "--conflicts", "theirs"] + (asJSON ? ["--json"] : []))
        #expect(result.code == 0, "\(result.output) \(result.errors)")
        if asJSON {
            let push = try Push(result)
            #expect(push.givenUp.map(\.entity) == ["Products(6)"])
            #expect(push.accepted.map(\.entity) == ["Products(7)"])
        } else {
            #expect(result.output.contains("given up #"), "\(result.output)")
            #expect(result.output.contains("Pushed 1 change, 0 refused, 0 waiting, 1 given up."), "\(result.output)")
        }
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 52)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 7", in: site.database) == 51)
    }

    @Test("clone --dry-run shows the planned download and creates nothing")
    func dryRun() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        let result = try await site.tool.run(
            "clone", site.url, clone, "--query", "few=Orders?$filter=OrderID le 1010", "--dry-run")
        #expect(result.code == 0 && result.output.contains("few"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: clone))
    }

    @Test("Query parameters are set, kept, changed and counted; a missing value is reported")
    func parameters() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        func orders(of employee: Int) throws -> Int {
            try SQLite.integer("SELECT COUNT(*) FROM Orders WHERE EmployeeID = \(employee)", in: site.database)
        }
        let query = "mine=Orders?$filter=EmployeeID eq @employee"
        let survey = try await tool.run(
            "clone", site.url, clone, "--query", query, "--set", "employee=1", "--dry-run", "--json")
        #expect(survey.output.contains("\"rows\" : \(try orders(of: 1))"), "\(survey.output) \(survey.errors)")
        let cloned = try await tool.run(
            "clone", site.url, clone, "--query", query, "--set", "employee=1", "--group", "daily")
        #expect(cloned.code == 0, "\(cloned.errors)")
        #expect(try await tool.run("query", clone, "Orders/$count").output == "\(try orders(of: 1))\n")
        #expect(try await tool.run("pull", clone, "--only", "daily").code == 0, "its value is kept")
        #expect(try await tool.run("pull", clone, "--set", "@employee=2").code == 0)
        #expect(try await tool.run("query", clone, "Orders/$count").output == "\(try orders(of: 2))\n")
        let added = try await tool.run(
            "add-query", clone, "staff=Employees?$filter=EmployeeID eq @boss", "--streams", "--json")
        #expect(added.output.contains("\"streams\" : true"), "\(added.errors)")
        let refused = try await tool.run("pull", clone)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("@boss") && refused.errors.contains("--set"), "\(refused.errors)")
        #expect(try await tool.run("sync", clone, "--set", "boss=1").code == 0)
        #expect(try await tool.run("query", clone, "Employees/$count").output == "1\n")
        #expect(try await tool.run("pull", clone, "--set", "boss").code == 2)
        #expect(try await tool.run("pull", clone, "--set", "boss=").code == 1, "its value is forgotten")
    }

    @Test("A clone with a missing parameter value says how to set it, and continues then")
    func cloneWithoutValue() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let made = try await tool.run(
            "clone", site.url, clone, "--query", "mine=Orders?$filter=EmployeeID eq @me")
        #expect(made.code == 1 && made.errors.contains("outpost pull \(clone) --set"), "\(made.errors)")
        #expect(try await tool.run("pull", clone, "--set", "me=1").code == 0)
    }

    @Test("pull --metadata reports the changes of the model as JSON")
    func metadata() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        let port = site.port
        site.stop()
        try SQLite.execute("ALTER TABLE Customers ADD COLUMN Phone VARCHAR(20)", in: site.database)
        try await site.serve(nil, port: port)
        let pull = try await tool.run("pull", clone, "--metadata", "--json")
        #expect(pull.code == 0, "\(pull.errors)")
        #expect(pull.output.contains("\"differences\"") && pull.output.contains("Phone"), "\(pull.output)")
        #expect(pull.output.contains("\"refused\""))
        let next = try await tool.run("pull", clone, "--json").output
        #expect(next.contains("\"differences\"") && !next.contains("Phone"), "\(next)")
    }

    @Test("pull --metadata lists the changes of the model although the download fails")
    func metadataOfFailedDownload() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        let query = "bergen=Customers?$filter=City eq 'Bergen'"
        #expect(try await tool.run("clone", site.url, clone, "--query", query).code == 0)
        let port = site.port
        site.stop()
        try SQLite.execute("ALTER TABLE Customers DROP COLUMN City", in: site.database)
        try await site.serve(nil, port: port)
        let mistaken = try await tool.run("pull", clone, "--metadata", "--only", "oslo")
        #expect(mistaken.code == 1 && mistaken.errors.contains("oslo"), "\(mistaken.errors)")
        #expect(!mistaken.output.contains("City"), "nothing was changed: \(mistaken.output)")
        let other = site.path("other")
        try FileManager.default.copyItem(atPath: clone, toPath: other)
        let pull = try await tool.run("pull", clone, "--metadata")
        #expect(pull.code == 1 && pull.output.contains("City"), "\(pull.output) \(pull.errors)")
        let json = try await tool.run("pull", other, "--metadata", "--json")
        #expect(json.code == 1 && json.output.isEmpty && json.errors.contains("Customer/City"), "\(json.errors)")
    }

    // MARK: Doubts

    /// A clone with a creation of which nobody knows whether it was made.
    private func doubt(_ site: Site, _ service: ThingService, _ url: String) async throws -> String {
        let tool = site.tool
        let clone = site.path("clone")
        #expect(try await tool.run("clone", url, clone).code == 0)
        #expect(try await tool.run("create", clone, "Things", "Name=first").code == 0)
        service.loseAnswers(true)
        #expect(try await tool.run("push", clone).code != 0)
        service.loseAnswers(false)
        #expect(service.names == ["first"])
        return clone
    }

    @Test("A change with a lost response is in doubt, and can be accepted with the key of the service")
    func acceptDoubt() async throws {
        let site = try Site()
        let tool = site.tool
        let service = ThingService()
        try await service.serving { url in
            let clone = try await doubt(site, service, url)
            let push = try await tool.run("push", clone)
            #expect(push.code == 3, "\(push.output) \(push.errors)")
            let doubts = try await tool.run("doubts", clone)
            let id = try #require(doubts.output.firstMatch(of: /#(\d+) +create/)).1
            #expect(service.names == ["first"], "it was not sent again")
            let thing = try await tool.run("query", clone, "Things?$select=ID", "--json").output
            let key = try #require(thing.firstMatch(of: /"ID"\s*:\s*(-\d+)/)).1
            #expect(try await tool.run("update", clone, "Things(\(key))", "Name=second").code == 0)
            let keyless = try await tool.run("doubts", "accept", clone, "\(id)")
            #expect(keyless.code == 1)
            #expect(keyless.errors.contains("--key \(id)=KEY"), "\(keyless.errors)")
            #expect(try await tool.run("doubts", "accept", clone, "\(id)", "--key", "\(id)=x").code == 2)
            #expect(try await tool.run("doubts", "accept", clone, "\(id)", "--key", "99=1").code == 1)
            let accepted = try await tool.run("doubts", "accept", clone, "\(id)", "--key", "\(id)=1")
            #expect(accepted.code == 0, "\(accepted.errors)")
            let last = try await tool.run("push", clone)
            #expect(last.code == 0, "\(last.output) \(last.errors)")
            #expect(service.names == ["first"])
            #expect(service.changed == ["/Things(1)"])
        }
    }

    @Test("A change in doubt is sent again only on request")
    func resendDoubt() async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = try await doubt(site, service, url)
            #expect(try await site.tool.run("push", clone).code == 3)
            #expect(try await site.tool.run("doubts", "resend", clone).code == 0)
            let push = try await site.tool.run("push", clone)
            #expect(push.code == 0, "\(push.output) \(push.errors)")
            #expect(service.names == ["first", "first"])
            #expect(try await site.tool.run("doubts", clone).output == "No change is in doubt.\n")
        }
    }

    @Test("push --correlate recognises a created entity by a unique property (rule 1)")
    func correlate() async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = try await doubt(site, service, url)
            let push = try await site.tool.run("push", clone, "--correlate", "Things=Name")
            #expect(push.code == 0, "\(push.output) \(push.errors)")
            #expect(service.names == ["first"])
            #expect(try await site.tool.run("query", clone, "Things(1)/Name").output == "first\n")
            #expect(try await site.tool.run("push", clone, "--correlate", "Things").code == 2)
        }
    }
}
