import Foundation
import Testing

@Suite("outpost generate")
struct GenerateTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Customer" Type="Shop.Customer"/></EntityType>
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

    @Test("generate writes the types and does not touch unchanged files")
    func writes() async throws {
        let site = try site()
        let first = try await site.tool.run("generate", site.path("metadata.xml"), "--output", site.path("code"))
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.output.contains("ShopService: 2 structured types") && first.output.contains("4 files written"))
        let order = try String(contentsOfFile: site.path("code/Entities/Order.swift"), encoding: .utf8)
        #expect(order.contains("public var customer: Customer?"))
        let again = try await site.tool.run("generate", site.path("metadata.xml"), "--output", site.path("code"))
        #expect(again.output.contains("0 files written, 4 unchanged, 0 removed"))
    }

    @Test("generate takes parts and a configuration file, and reports as JSON")
    func part() async throws {
        let site = try site()
        try #"{"access": "internal", "names": {"Shop.Order": "Purchase"}}"#.write(
            toFile: site.path("names.json"), atomically: true, encoding: .utf8)
        let result = try await site.tool.run(
            "generate", site.path("metadata.xml"), "--output", site.path("code"), "--sets", "Orders", "--config",
            site.path("names.json"), "--json")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(report["files"] as? [String] == ["Entities/Purchase.swift", "ShopMetadata.swift", "ShopService.swift"])
        let omissions = report["omissions"] as? [[String: String]]
        #expect(omissions?.first?["element"] == "Shop.Order/Customer")
    }

    @Test("generate reports wrong input with an exit code other than 0")
    func wrong() async throws {
        let site = try site()
        let metadata = site.path("metadata.xml")
        let code = site.path("code")
        let unknown = try await site.tool.run("generate", metadata, "--output", code, "--sets", "orders")
        #expect(unknown.code == 1 && unknown.errors.contains("no entity set") && unknown.errors.contains("Orders"))
        let missing = try await site.tool.run("generate", site.path("nothing.xml"), "--output", code)
        #expect(missing.code == 2 && missing.errors.contains("cannot be read: No such file or directory"))
        try #"{"sets": 1}"#.write(toFile: site.path("bad.json"), atomically: true, encoding: .utf8)
        let bad = try await site.tool.run("generate", metadata, "--output", code, "--config", site.path("bad.json"))
        #expect(bad.code == 2 && bad.errors.contains("sets"))
        let name = try await site.tool.run("generate", metadata, "--output", code, "--name", "a b")
        #expect(name.code == 1 && name.errors.contains("not a Swift identifier"))
        let folder = try await site.tool.run("generate", metadata, "--output", metadata)
        #expect(folder.code == 1 && folder.errors.contains("cannot be written"))
        #expect(!FileManager.default.fileExists(atPath: code))
    }
}
