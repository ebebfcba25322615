import Foundation
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Entity sets that only the store has")
struct ClientOnlyTests {
    static func options(_ properties: String = "", key: String = "") throws -> OfflineStore.Options {
        var options = OfflineStore.Options()
        options.creation.clientOnlyModel = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="App" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Filter"><Key><PropertyRef Name="Name"/>\(key)</Key>
                    <Property Name="Name" Type="Edm.String" Nullable="false"/>\(properties)
                  </EntityType>
                  <EntityContainer Name="C"><EntitySet Name="Filters" EntityType="App.Filter"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        options.creation.localDrafts = ["ProductDrafts": "Products"]
        return options
    }

    private func reopened(_ shop: Shop, _ options: OfflineStore.Options) async throws -> OfflineStore {
        try await OfflineStore.open(
            at: shop.directory.appendingPathComponent("clone").path, protection: .unencrypted, options: options)
    }

    @Test("are read and changed like other sets, and never sent")
    func local() async throws {
        let shop = try await Shop()
        let store = try await shop.store(options: try Self.options())
        try await store.download()
        try await store.create("Filters", ["Name": "mine"])
        try await store.create("Filters", ["Name": "open"])
        try await store.delete("Filters('open')")
        #expect(try await store.rows("Filters?$filter=contains(Name,'i')").count == 1)
        #expect(try await store.observe.status().pending.isEmpty)
        await shop.wire.mend()
        try await store.sync()
        #expect(await shop.wire.requests.allSatisfy { $0.path?.contains("Filters") != true })
        #expect(try await store.rows("Filters").count == 1, "a download leaves them alone")
        try await store.drafts.purgeClientOnlyData()
        #expect(try await store.rows("Filters").isEmpty)
        try await shop.expectEqual(store)
    }

    @Test("follow the app: compatible changes keep rows, and others are refused or delete them")
    func migrated() async throws {
        let shop = try await Shop()
        let store = try await shop.store(options: try Self.options("<Property Name=\"Text\" Type=\"Edm.String\"/>"))
        try await store.download()
        try await store.create("Filters", ["Name": "mine", "Text": "a"])
        try store.close()
        let more = "<Property Name=\"Text\" Type=\"Edm.String\"/><Property Name=\"Order\" Type=\"Edm.Int32\"/>"
        let second = try await reopened(shop, try Self.options(more))
        #expect(try await second.rows("Filters").first?["Text"] == "a")
        try await second.update("Filters('mine')", ["Order": 3])
        try second.close()
        await #expect(throws: OfflineError.self) { try await reopened(shop, try Self.options()) }
        var options = try Self.options()
        options.creation.purgesClientOnlyData = true
        let third = try await reopened(shop, options)
        #expect(try await third.rows("Filters").isEmpty)
        #expect(try await third.rows("Customers").count == 40, "the service's rows stay")
    }

    @Test(
        "keep their values if a decimal gets more digits, also in keys",
        arguments: [true, false], [#"Precision="20" Scale="4""#, #"Precision="20" Scale="2""#])
    func widened(isKey: Bool, size: String) async throws {
        func options(_ size: String) throws -> OfflineStore.Options {
            try Self.options(
                "<Property Name=\"Weight\" Type=\"Edm.Decimal\" \(size) Nullable=\"\(!isKey)\"/>",
                key: isKey ? "<PropertyRef Name=\"Weight\"/>" : "")
        }
        let shop = try await Shop()
        let store = try await shop.store(options: try options(#"Precision="18" Scale="2""#))
        try await store.download()
        // Both values have the same stored integer, one with two and the other with four decimal places.
        let texts = ["7.25", "725"]
        let weights = try texts.map { ODataValue.decimal(try #require(ODataDecimal($0))) }
        for (text, weight) in zip(texts, weights) {
            try await store.create("Filters", ["Name": .string(text), "Weight": weight])
        }
        try store.close()
        let second = try await reopened(shop, try options(size))
        #expect(try await second.rows("Filters?$orderby=Weight").map { $0["Weight"] } == weights)
        let found = isKey ? "Filters(Name='725',Weight=725)" : "Filters?$filter=Weight eq 725"
        #expect(try await second.rows(found).count == 1)
        try await second.create("Filters", ["Name": "more", "Weight": weights[0]])
        #expect(try await second.rows("Filters").count == 3)
    }

    @Test("of a type derived from a service type do not affect the sets of the service")
    func derivedFromService() async throws {
        func document(_ end: String) -> String {
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
            <ComplexType Name="Line"><Property Name="Text" Type="Edm.String"/></ComplexType>\(end)</edmx:DataServices>
            </edmx:Edmx>
            """
        }
        let metadata = document(
            """
            <EntityType Name="Header"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Line" Type="T.Line"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Headers" EntityType="T.Header"/></EntityContainer></Schema>
            """)
        let transport = PagesTransport(answers: [
            "$metadata": metadata,
            "Headers": """
            {"@odata.context":"$metadata#Headers","value":[{"ID":1,"Line":{"Text":"theirs"}}],\
            "@odata.deltaLink":"Headers?$deltatoken=1"}
            """,
            "Headers?$deltatoken=1": """
            {"@odata.context":"$metadata#Headers/$delta","value":[],"@odata.deltaLink":"Headers?$deltatoken=1"}
            """,
        ])
        let both = try CSDLReader.read(
            xml: Array(
                document(
                    """
                    </Schema><Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="App">
                    <ComplexType Name="Long" BaseType="T.Line"/>
                    <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key>
                    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Long" Type="App.Long"/></EntityType>
                    <EntityContainer Name="C"><EntitySet Name="Notes" EntityType="App.Note"/></EntityContainer></Schema>
                    """
                ).utf8))
        var options = OfflineStore.Options()
        options.creation.clientOnlyModel = try EntityDataModel(
            schemas: both.schemas.filter { $0.namespace == "App" },
            includedSchemas: both.schemas.filter { $0.namespace == "T" })
        let folder = Folder()
        let path = folder.url.appendingPathComponent("store").path
        let root = "http://values.test/"
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: root,
            remote: ODataClient(serviceRoot: root, transport: transport))
        try await store.download()
        try store.close()
        let second = try await OfflineStore.open(
            at: path, protection: .unencrypted, options: options,
            connect: { try ODataClient(serviceRoot: $0, transport: transport, model: $1) })
        for isDownloaded in [false, true] {
            if isDownloaded { try await second.download() }
            guard case .complex(let line)? = try await second.rows("Headers").first?["Line"] else {
                Issue.record("there is no line")
                return
            }
            #expect(line["Text"] == "theirs")
        }
    }

    @Test("exist when a program opens the store without knowing the app")
    func adopted() async throws {
        let shop = try await Shop()
        let store = try await shop.store(options: try Self.options())
        try await store.download()
        try await store.create("Filters", ["Name": "mine"])
        try await store.drafts.make(of: ODataURL(parsing: "Products(1)"))
        try await store.update("ProductDrafts(1)", ["Stock": 4711])
        try store.close()
        for _ in 1...2 {
            let again = try await reopened(shop, OfflineStore.Options())
            #expect(try await again.rows("Filters").map { $0["Name"] } == ["mine"])
            #expect(again.serviceModel.entitySet("Filters") == nil)
            #expect(again.options.creation.localDrafts == ["ProductDrafts": "Products"])
            try again.close()
        }
        let last = try await reopened(shop, OfflineStore.Options())
        try await last.drafts.activate(ODataURL(parsing: "ProductDrafts(1)"))
        #expect(try await last.observe.status().pending.map(\.entityText) == ["Products(1)"])
        try last.close()
        var options = OfflineStore.Options()
        options.creation.purgesClientOnlyData = true
        let purged = try await reopened(shop, options)
        #expect(purged.model.entitySet("Filters") == nil, "who wants them gone says so")
    }

    @Test("drafts share the service's type, change nothing until they are activated, and are then sent once")
    func drafts() async throws {
        let shop = try await Shop()
        let store = try await shop.store(options: try Self.options())
        try await store.download()
        let draft = try await store.drafts.make(of: ODataURL(parsing: "Products(1)"))
        #expect(draft["ProductID"] == 1)
        try await store.update("ProductDrafts(1)", ["Stock": 3])
        try await store.update("ProductDrafts(1)", ["Stock": 4])
        #expect(try await store.rows("ProductDrafts(1)").first?.isDraft == true)
        #expect(try await store.rows("Products(1)").first?["Stock"] != 4)
        #expect(try await store.observe.status().pending.isEmpty)
        try await store.drafts.activate(ODataURL(parsing: "ProductDrafts(1)"))
        #expect(try await store.rows("ProductDrafts").isEmpty)
        #expect(try await store.rows("Products(1)").first?["Stock"] == 4)
        #expect(try await store.upload().accepted.map(\.kind) == [.update])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("stay, with contained entities and drafts, when the service's model is not compatible")
    func incompatibleService() async throws {
        let shop = try await Shop()
        var options = try Self.options()
        options.creation.clientOnlyModel = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="App" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Trip"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                    <NavigationProperty Name="Legs" Type="Collection(App.Leg)" ContainsTarget="true"/></EntityType>
                  <EntityType Name="Leg"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
                  </EntityType>
                  <EntityContainer Name="C"><EntitySet Name="Trips" EntityType="App.Trip"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create("Trips", ["ID": 1])
        let leg = ODataEntity(shape: try #require(store.model.shape(QualifiedName("App", "Leg"))), ["No": 1])
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Trips(1)/Legs"), body: .entity(leg)))
        try await store.drafts.make(of: ODataURL(parsing: "Products(1)"))
        try await store.update("ProductDrafts(1)", ["Stock": 4711])
        try store.close()
        try await shop.sql("ALTER TABLE Products DROP COLUMN Name; ALTER TABLE Products ADD COLUMN Colour VARCHAR(20)")
        let newer = try await Shop(at: shop.directory)
        let second = try await OfflineStore.open(
            at: shop.directory.appendingPathComponent("clone").path, protection: .unencrypted, options: options,
            connect: { _, _ in try newer.client() })
        let refresh = try await second.maintenance.refreshMetadata { _, _ in try newer.client() }
        #expect(refresh.isRebuilt)
        #expect(try await refresh.store.rows("Trips(1)/Legs").map { $0["No"] } == [1])
        #expect(try await refresh.store.rows("ProductDrafts").map { $0["Stock"] } == [4711])
    }

    @Test("have their own streams")
    func streams() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.creation.clientOnlyModel = try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="App" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Scan" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
                    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Thumb" Type="Edm.Stream"/></EntityType>
                  <EntityContainer Name="C"><EntitySet Name="Scans" EntityType="App.Scan"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        let store = try await shop.store(options: options)
        try await store.download()
        let scan = try await store.createMedia("Scans", "mine")
        let id = try #require(scan.control.id)
        try await store.replaceStream("\(id)/Thumb", "small")
        #expect(try await store.observe.status().pending.isEmpty)
        await shop.wire.mend()
        try await store.sync()
        try await store.maintenance.compact()
        #expect(await shop.wire.requests.allSatisfy { $0.path?.contains("Scans") != true })
        for (url, text) in [("\(id)/$value", "mine"), ("\(id)/Thumb", "small")] {
            guard case .raw(let stream, _) = try await store.execute(ODataRequest(.read, ODataURL(parsing: url))).body
            else {
                throw ODataError.notFound(url)
            }
            #expect(String(decoding: try await stream.collect(limit: 100), as: UTF8.self) == text)
        }
    }
}
