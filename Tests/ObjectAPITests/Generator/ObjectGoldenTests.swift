import Foundation
import ODataGenerator
import ODataModel
import Testing

@Suite("The code of a package")
struct ObjectGoldenTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    /// Whether the golden files are replaced: `OUTPOST_RECORD_GOLDEN=1 swift test --filter ObjectGoldenTests`.
    private static let isRecording = ProcessInfo.processInfo.environment["OUTPOST_RECORD_GOLDEN"] != nil

    private static func model(
        _ name: String = "crm", _ edit: (String) -> String = { $0 }
    ) throws -> EntityDataModel {
        let file = folder.appendingPathComponent("Documents/\(name).xml")
        return try CSDLReader.read(xml: Array(edit(try String(contentsOf: file, encoding: .utf8)).utf8))
    }

    @Test(
        "has the same model in the example and at the reference service",
        arguments: ["Examples/Crm/Sources/crm/odata-metadata.xml", "Sources/Tools/reference-service/Resources/crm.xml"])
    func copies(path: String) throws {
        let root = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
        let copy = try Data(contentsOf: root.appendingPathComponent(path))
        #expect(try copy == Data(contentsOf: Self.folder.appendingPathComponent("Documents/crm.xml")))
    }

    private static func code(_ model: EntityDataModel) throws -> String {
        let configuration = GeneratorConfiguration(access: .internal, files: 1, objects: true)
        return try Generator(model, configuration).generate().files.map(\.text).joined()
    }

    @Test(
        "in the sources of the runtime tests equals the generated code, byte for byte",
        arguments: ["Crm", "Depot", "Desk"])
    func golden(name: String) throws {
        let code = try Generator(
            Self.model(name.lowercased()), GeneratorConfiguration(access: .internal, files: 1, objects: true)
        ).generate()
        let folder = Self.folder.appendingPathComponent(name)
        if Self.isRecording { try code.write(to: folder) }
        #expect(code.files.map(\.path) == ["Metadata", "Package", "Types1"].map { "\(name)\($0).swift" })
        #expect(code.serviceName == "\(name)Database")
        #expect(code.omissions.isEmpty)
        for file in code.files {
            let golden = try String(contentsOf: folder.appendingPathComponent(file.path), encoding: .utf8)
            #expect(file.text == golden, "\(file.path) differs; record it again where that is meant")
        }
    }

    @Test("is the same from CSDL JSON")
    func json() throws {
        let model = try Self.model()
        let again = try CSDLReader.read(CSDLWriter.json(model))
        #expect(PackageModel(again).problems == [])
        let types = try Generator(model, GeneratorConfiguration(files: 1, objects: true)).generate().files
            .filter { !$0.path.contains("Metadata") }
        #expect(
            try Generator(again, GeneratorConfiguration(files: 1, objects: true)).generate().files
                .filter { !$0.path.contains("Metadata") } == types)
    }

    @Test("is the same if the annotations are in a file of their own, for a service that cannot be changed")
    func annotationFile() throws {
        let document = try String(
            contentsOf: Self.folder.appendingPathComponent("Documents/crm.xml"), encoding: .utf8)
        // The service itself says nothing of objects.
        let metadata = document.replacing(
            #/<Annotation Term="Objects\.[A-Za-z]+"([^>\/]*\/>|>.*?<\/Annotation>)/#.dotMatchesNewlines()
        ) { _ in "" }
        #expect(!metadata.contains("Term=\"Objects."))
        let file = Self.folder.appendingPathComponent("Documents/crm-annotations.xml")
        var options = CSDLReaderOptions()
        options.annotationDocuments = [.init([UInt8](try Data(contentsOf: file)), source: "crm-annotations.xml")]
        let result = try CSDLReader.parse(Array(metadata.utf8), options: options)
        let code = try Generator(
            result, annotations: options.annotationDocuments,
            GeneratorConfiguration(access: .internal, files: 1, objects: true)
        ).generate()
        for file in code.files where file.path != "CrmMetadata.swift" {
            let golden = try String(
                contentsOf: Self.folder.appendingPathComponent("Crm/\(file.path)"), encoding: .utf8)
            #expect(file.text == golden, "\(file.path) differs")
        }
        let (own, other) = (PackageModel(try Self.model()), PackageModel(result.model))
        #expect(own.numbers == other.numbers && own.queries == other.queries && own.composites == other.composites)
        #expect(own.keys == other.keys && own.name == other.name && own.version == other.version)
        #expect(own.sets.mapValues(\.filter) == other.sets.mapValues(\.filter))
    }

    @Test("reports the place of a fault in the annotation file")
    func annotationFault() throws {
        let text = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Mine" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <Annotations Target="Crm.Custmer"><Annotation Term="Outpost.Objects.V1.EntityTypeNumber" Int="9"/></Annotations>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        var options = CSDLReaderOptions()
        options.annotationDocuments = [.init(Array(text.utf8), source: "mine.xml")]
        let document = try Data(contentsOf: Self.folder.appendingPathComponent("Documents/crm.xml"))
        let result = try CSDLReader.parse([UInt8](document), options: options)
        let error = #expect(throws: GeneratorError.self) {
            try Generator(result, annotations: options.annotationDocuments)
        }
        guard case .package(let place, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(place.hasPrefix("mine.xml, line 3, column "))
        #expect(reason.contains("Crm.Custmer"))
    }

    @Test(
        "of plain metadata contains every set, its verbs and stable numbers", arguments: ["harbour.xml", "hostile.xml"])
    func plain(name: String) throws {
        let file = Self.folder.deletingLastPathComponent().appendingPathComponent(
            "ODataGeneratorTests/Documents/\(name)")
        let model = try CSDLReader.read([UInt8](try Data(contentsOf: file)))
        let package = PackageModel(model)
        #expect(package.problems == [])
        #expect(Set(package.sets.values.map(\.group)) == ["default"])
        #expect(Set(package.numbers.values).count == package.numbers.count)
        let code = try Self.code(model)
        #expect(code.contains("PackageDatabase"))
        #expect(!code.contains("TypedService"))
    }

    @Test("has no verbs that a V2 service forbids")
    func capabilities() throws {
        let model = try CSDLReader.read(xml: Array(Self.v2.utf8))
        let code = try Self.code(model)
        #expect(code.contains("struct Item: Updatable {"))
        #expect(code.contains("init(text: String)"))
        #expect(code.contains("var id: Int32? {"))
        #expect(!code.contains("setTypedValue(0, \"ID\""))
    }

    private static let v2 = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices
         m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm" xmlns:sap="http://www.sap.com/Protocols/SAPData">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false" sap:creatable="false" sap:updatable="false"/>
          <Property Name="Text" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityContainer Name="ShopEntities" m:IsDefaultEntityContainer="true">
          <EntitySet Name="Items" EntityType="Shop.Item" sap:creatable="false" sap:deletable="false"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    @Test("has verbs with arguments instead of conformances for roles with extra parameters")
    func roles() throws {
        let code = try Self.code(Self.model("depot"))
        #expect(code.contains("struct Parcel: Updatable {"))
        #expect(code.contains("struct Truck: Creatable, Deletable {"))
        #expect(code.contains("func create(_ object: Parcel, promoCode: String) async throws -> Parcel {"))
        #expect(code.contains("func delete(_ object: Parcel, reason: String? = nil) async throws -> Parcel {"))
        #expect(code.contains("func paintTruck(_ object: Truck) async throws -> Truck {"))
        #expect(code.contains("func retireTruck(_ object: Truck, remark: String) async throws -> Truck {"))
        #expect(code.contains("var notes: LargeTextPath"))
        #expect(code.contains("var label: StreamPath"))
        #expect(code.contains("struct Tool: Updatable, Deletable {"))
    }

    @Test("keeps long texts as values and recommends a stream")
    func lengths() throws {
        let model = try Self.model("crm") { $0.replacing("MaxLength=\"60\"", with: "MaxLength=\"9000\"") }
        let code = try Generator(model, GeneratorConfiguration(files: 1, objects: true)).generate()
        #expect(code.files.contains { $0.text.contains("public var city: String? {") })
        #expect(code.omissions.map(\.element) == ["Crm.Customer/City"])
        #expect(code.omissions.first?.reason.contains("Edm.Stream") == true)
    }

    // MARK: Errors

    @Test(
        "reports each error of a role with its place",
        arguments: [
            (
                "\"Number\"/><PropertyValue Property=\"Attribute\" PropertyPath=\"ID\"",
                "\"Number\"/><PropertyValue Property=\"Attribute\" PropertyPath=\"Title\"", "Depot.ScrapParcel",
                "which is Edm.String"
            ),
            (
                "\"Number\"/><PropertyValue Property=\"Attribute\" PropertyPath=\"ID\"",
                "\"Number\"/><PropertyValue Property=\"Attribute\" PropertyPath=\"Size\"", "Depot.ScrapParcel",
                "Depot.Parcel does not have"
            ),
            (
                "Property=\"Parameter\" String=\"Number\"", "Property=\"Parameter\" String=\"Key\"",
                "Depot.ScrapParcel", "Key"
            ),
            (
                "<ReturnType Type=\"Depot.Parcel\"/>\n  <Annotation", "<Annotation", "Depot.RegisterParcel",
                "no entity type"
            ),
        ])
    func roleErrors(old: String, new: String, place: String, reason: String) throws {
        let model = try Self.model("depot") { text in
            #expect(text.contains(old))
            guard let range = text.range(of: old) else { return text }
            return text.replacingCharacters(in: range, with: new)
        }
        let error = try #require(throws: GeneratorError.self) { try Self.code(model) }
        guard case .package(let found, let text) = error else { throw error }
        #expect(found == place)
        #expect(text.contains(reason), "\(text)")
    }

    @Test(
        "reports each error of the package with its place",
        arguments: [
            ("Int=\"2\"", "Int=\"1\"", "Crm.SalesOrder", "same number"),
            ("Int=\"2\"", "Int=\"0\"", "Crm.SalesOrder", "from 1 to"),
            ("City eq @city", "Town eq @city", "Crm.Customer/findByCity", "Town"),
            ("City eq @city", "City eq @town", "Crm.Customer/findByCity", "town"),
            (
                "String=\"city\"/><PropertyValue Property=\"Type\" String=\"Edm.String\"",
                "String=\"city\"/><PropertyValue Property=\"Type\" String=\"Edm.Int32\"", "Crm.Customer/findByCity",
                "city"
            ),
            ("String=\"Region eq @region\"", "String=\"Region eq \"", "Customers", "Region eq"),
            ("PersonalizationScope/Client", "PersonalizationScope/Server", "Crm.Container", "PersonalizationStore"),
            ("PersonalizationScope/Client", "PersonalizationScope/Moon", "Crm.Container", "Client, Server and Session"),
            (
                "\"PersonalizationKey\" String=\"Territory\"", "\"PersonalizationKey\" String=\"Area\"", "Customers",
                "Area"
            ),
            (
                "SynchronizationGroup\" String=\"sales\"", "SynchronizationGroup\" String=\"system\"", "Customers",
                "reserved"
            ),
        ])
    func errors(old: String, new: String, place: String, reason: String) throws {
        let model = try Self.model("crm") { text in
            #expect(text.contains(old))
            return text.replacing(old, with: new)
        }
        let error = try #require(throws: GeneratorError.self) { try Self.code(model) }
        guard case .package(let found, let text) = error else { throw error }
        #expect(found == place)
        #expect(text.contains(reason), "\(text)")
    }

    @Test("refuses sets of one tree in different groups, two composite parents and circles")
    func graphs() throws {
        let groups = try Self.model("crm") { text in
            guard let range = text.range(of: "String=\"sales\"", options: .backwards) else { return text }
            return text.replacingCharacters(in: range, with: "String=\"orders\"")
        }
        #expect(PackageModel(groups).problems.map(\.place) == ["SalesOrders"])
        let circle = try Self.model("crm") { text in
            text.replacing(
                "<NavigationProperty Name=\"Customer\" Type=\"Crm.Customer\" Partner=\"SalesOrders\">",
                with:
                    "<NavigationProperty Name=\"Customer\" Type=\"Crm.Customer\" Partner=\"SalesOrders\"><Annotation Term=\"Objects.Composite\"/>"
            )
        }
        #expect(PackageModel(circle).problems.contains { $0.reason.contains("part of itself") })
        let parents = try Self.model("crm") { text in
            text.replacing(
                "<Action Name=",
                with: """
                    <EntityType Name="Branch"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                    <NavigationProperty Name="Orders" Type="Collection(Crm.SalesOrder)"><Annotation Term="Objects.Composite"/></NavigationProperty>
                    </EntityType><Action Name=
                    """)
        }
        #expect(PackageModel(parents).problems.contains { $0.reason.contains("one composite parent") })
    }

    @Test("of some groups contains only their sets")
    func groups() throws {
        var configuration = GeneratorConfiguration(files: 1, objects: true, groups: ["sales"])
        #expect(try Generator(Self.model(), configuration).generate().structuredTypes == 2)
        configuration.groups = ["moon"]
        #expect(throws: GeneratorError.unknownGroup("moon", known: ["sales"])) {
            try Generator(Self.model(), configuration).generate()
        }
    }
}
