import Foundation
import Testing

@Suite("outpost new")
struct NewTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="Shop"><EntitySet Name="Orders" EntityType="Shop.Order"/>
        <EntitySet Name="Customers" EntityType="Shop.Customer"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func site() throws -> Site {
        let site = try Site()
        try Self.metadata.write(toFile: site.path("metadata.xml"), atomically: true, encoding: .utf8)
        return site
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("An app is created from a file with metadata, and the next command is shown")
    func fromFile() async throws {
        let site = try site()
        let app = site.path("shop")
        let result = try await site.tool.run(
            "new", "shop", "--metadata", site.path("metadata.xml"), "--service", "https://host/service/?x=1",
            "--output",
            app)
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("ShopKit with 2 structured types and 2 sets"))
        #expect(result.output.contains("swift test") && result.output.contains("'outpost' beside it"))
        #expect(try text("\(app)/Package.swift").contains(#"path: "../outpost""#))
        #expect(try text("\(app)/Sources/ShopKit/ShopStore.swift").contains(#""https://host/service/""#))
        #expect(FileManager.default.fileExists(atPath: "\(app)/Sources/ShopKit/Generated/Entities/Order.swift"))
        #expect(FileManager.default.fileExists(atPath: "\(app)/Tests/ShopKitTests/ShopStoreTests.swift"))
    }

    @Test("An app is created from a service with a password, which is not written into the package")
    func fromService() async throws {
        let site = try site()
        try SQLite.execute("CREATE TABLE Orders (ID INTEGER PRIMARY KEY, Note TEXT)", in: site.path("shop.db"))
        try "s3cret-word".write(toFile: site.path("password"), atomically: true, encoding: .utf8)
        try await site.serve(
            path: site.path("shop.db"), "--user", "ann", "--password-file", site.path("password"))
        let app = site.path("shop")
        let refused = try await site.tool.run("new", "shop", "--service", site.url, "--output", app)
        #expect(refused.code == 1 && !FileManager.default.fileExists(atPath: app))
        let result = try await site.tool.run(
            "new", "shop", "--service", site.url, "--output", app, "--user", "ann", "--password-file",
            site.path("password"), "--json")
        #expect(result.code == 0, "\(result.errors)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(report["sets"] as? [String] == ["Orders"] && report["testedSet"] as? String == "Orders")
        for file in try #require(report["files"] as? [String]) {
            #expect(!(try text("\(app)/\(file)").contains("s3cret-word")), "\(file)")
        }
    }

    @Test("The manifest of a new package contains a relative path to the checkout")
    func path() async throws {
        let site = try site()
        let checkout = site.path("src/outpost")
        try FileManager.default.createDirectory(atPath: checkout, withIntermediateDirectories: true)
        let missing = try await site.tool.run(
            "new", "shop", "--metadata", site.path("metadata.xml"), "--path", checkout, "--output",
            site.path("apps/shop"))
        #expect(missing.code == 2 && missing.errors.contains("holds no Package.swift"))
        try "".write(toFile: checkout + "/Package.swift", atomically: true, encoding: .utf8)
        let result = try await site.tool.run(
            "new", "shop", "--metadata", site.path("metadata.xml"), "--path", checkout, "--output",
            site.path("apps/shop"))
        #expect(result.code == 0, "\(result.errors)")
        #expect(try text(site.path("apps/shop/Package.swift")).contains(#"path: "../../src/outpost""#))
    }

    @Test("A folder that is not empty is refused, and with --force no file in it is replaced")
    func force() async throws {
        let site = try site()
        let app = site.path("shop")
        try FileManager.default.createDirectory(atPath: app, withIntermediateDirectories: true)
        try "mine".write(toFile: app + "/LICENSE", atomically: true, encoding: .utf8)
        let arguments = ["new", "shop", "--metadata", site.path("metadata.xml"), "--output", app]
        let refused = try await site.tool.run(arguments)
        #expect(refused.code == 2 && refused.errors.contains("is not empty"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: app) == ["LICENSE"])
        let forced = try await site.tool.run(arguments + ["--force"])
        #expect(forced.code == 0, "\(forced.errors)")
        #expect(try text(app + "/LICENSE") == "mine")
        try "mine".write(toFile: app + "/README.md", atomically: true, encoding: .utf8)
        let again = try await site.tool.run(arguments + ["--force"])
        #expect(again.code == 2 && again.errors.contains("exists; nothing was written"))
        #expect(try text(app + "/README.md") == "mine")
    }

    @Test("A wrong name, address, set or option is refused with its reason, and nothing is written")
    func wrong() async throws {
        let site = try site()
        let (app, metadata) = (site.path("shop"), site.path("metadata.xml"))
        func errors(_ arguments: String..., code: Int32) async throws -> String {
            let result = try await site.tool.run(["new"] + arguments + ["--output", app])
            #expect(result.code == code, "\(arguments): \(result.errors)")
            return result.errors
        }
        #expect(try await errors("shop", code: 2).contains("--metadata FILE"))
        #expect(try await errors("my shop", "--metadata", metadata, code: 1).contains("begins with a letter"))
        #expect(try await errors("outpost", "--metadata", metadata, code: 1).contains("has that name"))
        #expect(
            try await errors("shop", "--metadata", metadata, "--service", "ftp://host/", code: 2)
                .contains("is not the root of a service"))
        #expect(
            try await errors("shop", "--metadata", metadata, "--sets", "orders", code: 1).contains("there are Orders"))
        #expect(
            try await errors("shop", "--metadata", metadata, "--path", "x", "--repository", "y", code: 2)
                .contains("exclude each other"))
        #expect(try await errors("shop", "--metadata", site.path("none.xml"), code: 2).contains("cannot be read"))
        #expect(!FileManager.default.fileExists(atPath: app))
    }
}
