import ForeignPrograms
import Foundation
import Testing

@testable import MobileServer

@Suite("Existing clients at a destination", .serialized)
struct ForeignClientTests {
    @Test("curl reads, creates, changes and deletes through a destination")
    func curl() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let root = site.url
            let names = try await Command.curl(root + "Products?$select=Name&$orderby=ID")
            #expect(names.contains("Product 1") && names.contains("Product 3"))
            let made = try await Command.curl(
                "-X", "POST", "-H", "Content-Type: application/json", "-d", "{\"ID\":7,\"Name\":\"Seven\",\"Price\":7}",
                "-D", "-",
                root + "Products")
            #expect(made.lowercased().contains("location: \(root.lowercased())products(7)"))
            _ = try await Command.curl(
                "-X", "PATCH", "-H", "If-Match: *", "-H", "Content-Type: application/json", "-d",
                "{\"Name\":\"Sieben\"}",
                root + "Products(7)")
            #expect(try await Command.curl(root + "Products(7)/Name/$value") == "Sieben")
            _ = try await Command.curl("-X", "DELETE", "-H", "If-Match: *", root + "Products(7)")
            #expect(try await Wire.send("GET", backEnd.url + "Products(7)").status == 404)
        }
    }

    @Test(
        "pyodata works with a back end of OData 2.0",
        .enabled(if: Pyodata.python != nil, "pyodata cannot be installed here"))
    func pyodata() async throws {
        let python = try #require(Pyodata.python)
        try await ShopBackEnd.run(isV2: true) { site, _ in
            let outcome = try await Command.run([python, "-c", Self.script, site.url], includesErrors: true)
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.hasSuffix("ok\n"))
        }
    }

    private static let script = """
        import sys, pyodata, requests
        service = pyodata.Client(sys.argv[1], requests.Session())
        products = service.entity_sets.Products
        assert sorted(s.name for s in service.schema.entity_sets) == ["Categories", "Products"]
        assert [p.Name for p in products.get_entities().filter("ID gt 1").order_by("ID").execute()] == ["Product 2", "Product 3"]
        assert products.get_entities().count().execute() == 3
        assert products.get_entity(1).nav("Category").execute().Name == "Writing"
        made = products.create_entity().set(ID=4, Name="Chalk", Price="0.75", CategoryID=1).execute()
        assert (made.ID, made.Name) == (4, "Chalk")
        products.update_entity(4).set(Name="White chalk").execute()
        assert products.get_entity(4).execute().Name == "White chalk"
        batch = service.create_batch()
        batch.add_request(products.get_entity(1))
        batch.add_request(products.get_entity(4))
        assert [answer.Name for answer in batch.execute()] == ["Product 1", "White chalk"]
        changes = service.create_changeset()
        changes.add_request(products.update_entity(1).set(Name="First"))
        batch = service.create_batch()
        batch.add_request(changes)
        batch.execute()
        assert products.get_entity(1).execute().Name == "First"
        products.delete_entity(4).execute()
        print("ok")
        """

    @Test("outpost clone works with a token file, and receives delta links")
    func clone() async throws {
        let tool = Self.tool
        try #require(FileManager.default.isExecutableFile(atPath: tool), "\(tool)")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("clone-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let token = folder + "/token"
        let isMade = FileManager.default.createFile(
            atPath: token, contents: Data("user-token\n".utf8), attributes: [.posixPermissions: 0o600])
        try #require(isMade)
        try await ShopBackEnd.run { site, backEnd in
            func outpost(_ arguments: String...) async throws -> String {
                let outcome = try await Command.run(
                    ["env", "XDG_DATA_HOME=\(folder)/keys", tool] + arguments, includesErrors: true)
                #expect(outcome.status == 0, "\(arguments): \(outcome.output)")
                return outcome.output
            }
            _ = try await outpost("clone", site.url, folder + "/shop", "--token-file", token)
            #expect(try await outpost("query", folder + "/shop", "Products(2)").contains("Product 2"))
            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            try await site.refresh()
            let before = backEnd.requests.count
            let pulled = try await outpost("pull", folder + "/shop", "--token-file", token, "--json")
            // The changed product comes with a delta, and the two categories, which no feed has, with a full read.
            #expect(pulled.contains("\"method\" : \"delta\"") && pulled.contains("\"rows\" : 3"), "\(pulled)")
            #expect(!backEnd.requests[before...].contains { $0.hasPrefix("GET /Products") })
            #expect(try await outpost("query", folder + "/shop", "Products(2)").contains("Changed"))
        }
    }

    /// The tool beside the tests.
    private static var tool: String {
        let bundle = Bundle.allBundles.map(\.bundlePath).first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("outpost").path
    }
}
