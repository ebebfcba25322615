import Foundation
import ODataGenerator
import ODataModel
import TestCorpus
import Testing

@Suite("A new app package")
struct AppPackageTests {
    private static let options = AppPackage.Options(
        serviceRoot: "https://host/service/", dependency: .path("../outpost"))

    private func app(
        _ document: String = "harbour.xml", named name: String = "port", _ options: AppPackage.Options = options
    ) throws -> AppPackage { try AppPackage(named: name, of: Documents.model(document), options) }

    @Test("Manifest, page, library, proxies, program and tests are generated, identical each time")
    func files() throws {
        let app = try app()
        let paths = app.files.map(\.path)
        #expect(paths == paths.sorted() && Set(paths).count == paths.count)
        #expect(
            Set(paths).isSuperset(of: [
                ".gitignore", "Package.swift", "README.md", "Sources/PortKit/Generated/PortMetadata.swift",
                "Sources/PortKit/Generated/PortService.swift", "Sources/PortKit/PortStore.swift",
                "Sources/port/Program.swift", "Tests/PortKitTests/PortStoreTests.swift", "odata-generator.json",
            ]))
        #expect(app.library == "PortKit" && app.storeType == "PortStore" && app.code.serviceName == "PortService")
        #expect(app.sets == ["Parties", "Photos", "Ships"])
        #expect(try self.app() == app)
    }

    @Test("The manifest names only products that an app needs, and the given location of Outpost")
    func manifest() throws {
        let manifest = try #require(try app().text(of: "Package.swift"))
        let products = manifest.matches(of: /outpost\("(\w+)"\)/).map { String($0.1) }
        #expect(Set(products) == ["OutpostKit", "ODataModel", "ODataQuery", "ODataService", "ODataStore"])
        #expect(manifest.contains(#".package(name: "outpost", path: "../outpost")"#))
        #expect(manifest.components(separatedBy: ".package(").count == 2 && !manifest.contains("traits"))
        let remote = try app(
            "harbour.xml", named: "port",
            AppPackage.Options(
                serviceRoot: "https://host/", dependency: .repository(url: "https://host/outpost.git", from: "0.2.0")))
        #expect(
            try #require(remote.text(of: "Package.swift"))
                .contains(#".package(url: "https://host/outpost.git", from: "0.2.0")"#))
    }

    @Test("Foreign text cannot end the literal that contains it")
    func escapes() throws {
        let root = "https://host/\"\\(x)\n/"
        let app = try app(
            "harbour.xml", named: "port", AppPackage.Options(serviceRoot: root, dependency: .path("a\"b")))
        #expect(try #require(app.text(of: "Package.swift")).contains(#"path: "a\"b")"#))
        #expect(
            try #require(app.text(of: "Sources/PortKit/PortStore.swift"))
                .contains(#"= "https://host/\"\\(x)\n/""#))
    }

    @Test("A part of the service has proxies and queries for its sets alone")
    func part() throws {
        let app = try app(
            "harbour.xml", named: "port",
            AppPackage.Options(serviceRoot: "https://host/", dependency: .path("x"), sets: ["Photos"]))
        #expect(app.sets == ["Photos"])
        let store = try #require(app.text(of: "Sources/PortKit/PortStore.swift"))
        #expect(store.contains(#"DefiningQuery(entitySet: "Photos")"#) && !store.contains("Ships"))
        let configuration = try JSONDecoder().decode(
            GeneratorConfiguration.self, from: Data(try #require(app.text(of: "odata-generator.json")).utf8))
        #expect(configuration.sets == ["Photos"] && configuration.name == "Port")
        #expect(throws: GeneratorError.unknownSet("ships", similar: ["Ships"])) {
            try self.app(
                "harbour.xml", named: "port",
                AppPackage.Options(serviceRoot: "https://host/", dependency: .path("x"), sets: ["ships"]))
        }
    }

    @Test("Generated types do not clash with the types that the app code uses")
    func names() throws {
        let app = try AppPackage(
            named: "shop",
            of: Documents.model(
                schema: ["ShopStore", "OfflineStore", "Test", "Order"].map(Self.entity).joined()
                    + Self.container(["ShopStore", "OfflineStore", "Test", "Order"])), Self.options)
        let paths = app.code.files.map(\.path)
        for name in ["ShopShopStore", "ShopOfflineStore", "ShopTest", "Order"] {
            #expect(paths.contains("Entities/\(name).swift"))
        }
        let configuration = try JSONDecoder().decode(
            GeneratorConfiguration.self, from: Data(try #require(app.text(of: "odata-generator.json")).utf8))
        #expect(configuration.names["My.Shop.Test"] == "ShopTest" && configuration.names["My.Shop.Order"] == nil)
    }

    @Test("A set is omitted from the store if it cannot be read completely, has no key or no URL name")
    func readable() throws {
        let filtered = """
            <EntitySet Name="Filtered" EntityType="My.Shop.Order">
            <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record>
            <PropertyValue Property="RequiresFilter" Bool="true"/></Record></Annotation></EntitySet>
            """
        let keyless =
            #"<EntityType Name="Loose"><Property Name="Name" Type="Edm.String"/></EntityType>"#
        let app = try AppPackage(
            named: "shop",
            of: Documents.model(
                schema: Self.entity("Order") + keyless
                    + Self.container(
                        ["Order"],
                        also: filtered + #"<EntitySet Name="Loose" EntityType="My.Shop.Loose"/>"#
                            + #"<EntitySet Name="Of Many" EntityType="My.Shop.Order"/>"#)),
            Self.options)
        #expect(app.sets == ["OrderSet"])
    }

    @Test(
        "A test creates only entities with values that need no service",
        arguments: [
            (#"<Property Name="Size" Type="Edm.Decimal" Nullable="false"/>"#, true),
            (#"<Property Name="At" Type="Edm.DateTimeOffset" Nullable="false" DefaultValue="x"/>"#, true),
            (#"<NavigationProperty Name="To" Type="My.Shop.Order" Nullable="false"/>"#, false),
            (#"<Property Name="Place" Type="Edm.GeographyPoint" Nullable="false"/>"#, false),
            (
                #"<Property Name="Size" Type="Edm.Int32" Nullable="false">"#
                    + #"<Annotation Term="Org.OData.Validation.V1.Minimum" Int="5"/></Property>"#, false
            ),
        ])
    func sample(property: String, isSimple: Bool) throws {
        let app = try AppPackage(
            named: "shop",
            of: Documents.model(schema: Self.entity("Order", also: property) + Self.container(["Order"])),
            Self.options)
        #expect(app.testedSet == (isSimple ? "OrderSet" : nil))
        let tests = try #require(app.text(of: "Tests/ShopKitTests/ShopStoreTests.swift"))
        #expect(tests.contains("func creation()") == isSimple && tests.contains("func download()"))
    }

    @Test(
        "An invalid module name is refused with its reason",
        arguments: [
            "", "1shop", "my shop", "../shop", "_", "-x", "outpost", "Foundation", "class", "größe", "odata-model",
        ])
    func illegalNames(name: String) throws {
        #expect {
            try app("harbour.xml", named: name)
        } throws: { error in
            guard case .appName(name, _) = error as? GeneratorError else { return false }
            return true
        }
    }

    @Test("Names with several words become types and environment variables")
    func words() throws {
        let app = try app("orchard.xml", named: "my-tree_list")
        #expect(app.library == "MyTreeListKit" && app.storeType == "MyTreeListStore")
        let program = try #require(app.text(of: "Sources/my-tree_list/Program.swift"))
        #expect(program.contains("MY_TREE_LIST_TOKEN"))
    }

    @Test("A package is written completely, and existing files are reported before")
    func writing() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try app()
        #expect(app.existingFiles(in: folder).isEmpty)
        try app.write(to: folder)
        #expect(app.existingFiles(in: folder) == app.files.map(\.path))
        for file in app.files {
            #expect(try String(contentsOf: folder.appendingPathComponent(file.path), encoding: .utf8) == file.text)
        }
    }

    @Test("A package is generated for every document of the corpus that has code")
    func corpus() throws {
        var count = 0
        for path in Corpus.files("metadata", where: { _ in true }) + Corpus.files("csdl-pairs", where: { _ in true }) {
            guard let model = try? CSDLReader.read(Corpus.bytes(path)) else { continue }
            do {
                let app = try AppPackage(named: "shop", of: model, Self.options)
                #expect(app.text(of: "Sources/ShopKit/ShopStore.swift") != nil, "\(path)")
                count += 1
            } catch GeneratorError.nothingToGenerate {
                continue
            } catch {
                Issue.record("\(path): \(error)")
            }
        }
        #expect(count > 20)
    }

    private static func entity(_ name: String) -> String { entity(name, also: "") }

    private static func entity(_ name: String, also property: String) -> String {
        """
        <EntityType Name="\(name)"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(property)</EntityType>
        """
    }

    private static func container(_ types: [String], also sets: String = "") -> String {
        let own = types.map { #"<EntitySet Name="\#($0)Set" EntityType="My.Shop.\#($0)"/>"# }.joined()
        return #"<EntityContainer Name="Shop">\#(own)\#(sets)</EntityContainer>"#
    }
}

extension AppPackage {
    /// Returns the text of the file at a path.
    fileprivate func text(of path: String) -> String? { files.first { $0.path == path }?.text }
}
