import ForeignPrograms
import Foundation
import ODataHTTP
import ODataModel
import ODataServer
import ODataStore
import Testing

/// Existing client programs that are used without changes.
@Suite("Real clients")
struct RealClientTests {
    @Test(
        "pyodata reads metadata, queries, creates, changes and deletes through the V2 endpoint",
        .enabled(if: Pyodata.python != nil, "pyodata cannot be installed here"))
    func pyodata() async throws {
        try await Self.shop { root in
            let python = try #require(Pyodata.python)
            let outcome = try await Program.run(python, [Program.client("pyodata_client.py"), root + "v2/"])
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.hasSuffix("ok\n"))
        }
    }

    @Test("a spreadsheet reads service document, feed and next links as Atom until the end")
    func spreadsheet() async throws {
        try await Self.shop(pageSize: 2) { root in
            let script = Program.client("atom_reader.py")
            let outcome = try await Program.run("python3", [script, root + "v2/", "Products"])
            #expect(outcome.status == 0, "\(outcome.output)")
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.first == "ID\tName\tPrice\tCategoryID")
            #expect(lines.contains("1\tPen\t2.50\t1") || lines.contains("1\tPen\t2.5\t1"))
            #expect(lines.dropFirst().filter { !$0.hasSuffix("pages") }.count == 3)
            #expect(lines.contains("2 pages"))
        }
    }

    @Test("the OpenSearch description of the service document contains a search URL that works")
    func openSearch() async throws {
        try await Self.shop { root in
            let curl = "curl --silent --fail"
            let service = try await Program.shell("\(curl) -H 'Accept: application/atomsvc+xml' \(root)v2/")
            #expect(service.contains("rel=\"search\""))
            #expect(service.contains("sap:searchable=\"true\""))
            let description = try await Program.shell("\(curl) \(root)v2/Products/OpenSearchDescription.xml")
            let template = try #require(description.firstMatch(of: /template="([^"]+)"/)).1
            let url = template.replacing("{searchTerms}", with: "lam")
            #expect(try await Program.shell("\(curl) '\(url)'").contains("<entry") == false)
            let found = try await Program.shell("\(curl) '\(template.replacing("{searchTerms}", with: "lamp"))'")
            #expect(found.contains("Lamp") && !found.contains("Pen"))
        }
    }

    @Test("curl runs the examples of the documentation")
    func curl() async throws {
        let page = Program.root.appendingPathComponent(
            "Sources/Tools/reference-service/Documentation.docc/reference-service.md")
        let examples = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("curl ")
        }
        #expect(examples.count >= 6)
        try await Site.reference { site async throws in
            let root = site.root
            for example in examples {
                let command = example.replacing("http://127.0.0.1:9090/", with: root).replacing(
                    "curl ", with: "curl --silent --show-error --fail ")
                let outcome = try await Program.run("/bin/sh", ["-c", String(command)])
                #expect(outcome.status == 0, "\(command): \(outcome.output)")
            }
            #expect(
                try await site.get("Products?$filter=Name eq 'Notebook'&$count=true").json["@odata.count"] as? Int == 1)
        }
    }

    /// Runs a small service for both versions of the protocol: V4 at the root, V2 below `v2/`.
    private static func shop(pageSize: Int = 1000, _ body: (String) async throws -> Void) async throws {
        let model = try CSDLReader.read(xml: Array(metadata.utf8))
        var options = StoreService.Options()
        options.maxPageSize = pageSize
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory, options: options)
        try await service.seed(json: Array(rows.utf8))
        let server = try await ODataServer(handler: ODataEndpoints(provider: service).handle).start()
        do {
            try await body(server.url)
        } catch {
            await server.stop()
            try await service.close()
            throw error
        }
        await server.stop()
        try await service.close()
    }

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
          <edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
              <EntityType Name="Product">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" MaxLength="40" Nullable="false"/>
                <Property Name="Price" Type="Edm.Decimal" Precision="10" Scale="2" Nullable="false"/>
                <Property Name="CategoryID" Type="Edm.Int32"/>
                <NavigationProperty Name="Category" Type="Shop.Category" Partner="Products">
                  <ReferentialConstraint Property="CategoryID" ReferencedProperty="ID"/>
                </NavigationProperty>
              </EntityType>
              <EntityType Name="Category">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" MaxLength="40" Nullable="false"/>
                <NavigationProperty Name="Products" Type="Collection(Shop.Product)" Partner="Category"/>
              </EntityType>
              <EntityContainer Name="Container">
                <EntitySet Name="Products" EntityType="Shop.Product">
                  <NavigationPropertyBinding Path="Category" Target="Categories"/>
                </EntitySet>
                <EntitySet Name="Categories" EntityType="Shop.Category">
                  <NavigationPropertyBinding Path="Products" Target="Products"/>
                </EntitySet>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """

    private static let rows = """
        {"Categories": [{"ID": 1, "Name": "Writing"}, {"ID": 2, "Name": "Light"}],
         "Products": [{"ID": 1, "Name": "Pen", "Price": 2.5, "CategoryID": 1},
                      {"ID": 2, "Name": "Ink", "Price": 1.25, "CategoryID": 1},
                      {"ID": 3, "Name": "Lamp", "Price": 30, "CategoryID": 2}]}
        """
}

/// Programs on this machine.
private enum Program {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns the path of a client program beside the tests.
    static func client(_ name: String) -> String {
        root.appendingPathComponent("Tests/ConformanceTests/Clients/\(name)").path
    }

    /// Runs a program to its end and returns its status with the output and the errors.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Command.run([program] + arguments, includesErrors: true)
    }

    /// Returns the output of a shell command; a failure throws an error.
    static func shell(_ command: String) async throws -> String {
        let outcome = try await run("/bin/sh", ["-c", command])
        try #require(outcome.status == 0, "\(command): \(outcome.output)")
        return outcome.output
    }
}
