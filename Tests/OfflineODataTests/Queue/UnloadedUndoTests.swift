import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import OfflineOData
import Testing

@Suite("Undoing an edit of a property that is not loaded")
struct UnloadedUndoTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/></ComplexType>
        <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
        <Property Name="Amount" Type="Edm.Int32"/><Property Name="Place" Type="T.Place"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """
    private static let things = """
        {"@odata.context":"$metadata#Things","value":[{"ID":1,"Text":"theirs","Colour":"red"}]}
        """

    private func store(in folder: Folder) async throws -> OfflineStore {
        let root = "http://unloaded.test/"
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: ODataClient(
                serviceRoot: root,
                transport: PagesTransport(answers: ["$metadata": Self.metadata, "Things": Self.things])))
        try await store.download()
        return store
    }

    private func place(_ store: OfflineStore) throws -> ODataValue {
        let shape = try #require(store.model.shape(QualifiedName("T", "Place")))
        return .complex(ODataEntity(shape: shape, ["City": "Bern", "Zip": 3000]))
    }

    /// Expects that the row has its downloaded values.
    private func expectDownloaded(_ store: OfflineStore, text: ODataValue = "theirs") async throws {
        let row = try #require(try await store.rows("Things(1)").first)
        #expect(row["Text"] == text)
        #expect(row["Amount"] == nil)
        #expect(row["Place"] == nil)
        #expect(row["Size"] == nil)
        #expect(row["Colour"] == "red")
        #expect(try await store.rows("Things?$filter=Amount eq 7 or Place/City eq 'Bern' or Size eq 5").isEmpty)
    }

    @Test("keeps it not loaded, also for dynamic and complex properties", arguments: [1, 2])
    func undone(edits: Int) async throws {
        let folder = Folder()
        let store = try await store(in: folder)
        for _ in 1...edits {
            try await store.update("Things(1)", ["Amount": 7, "Place": place(store), "Size": 5, "Text": "mine"])
        }
        #expect(try await store.rows("Things?$filter=Amount eq 7 and Place/City eq 'Bern' and Size eq 5").count == 1)
        try await store.changes.undo([ODataURL(parsing: "Things(1)")])
        try await expectDownloaded(store)
    }

    @Test("in one of two requests keeps it not loaded, or as the other one sets it")
    func cancelled() async throws {
        let folder = Folder()
        let store = try await store(in: folder)
        try await store.update("Things(1)", ["Text": "mine"])
        try await store.update("Things(1)", ["Amount": 7, "Place": place(store), "Size": 5])
        try await store.update("Things(1)", ["Amount": 8, "Size": 6])
        let ids = try await store.observe.status().pending.map(\.id)
        try await store.changes.cancel([ids[2]])
        let row = try #require(try await store.rows("Things(1)").first)
        #expect([row["Amount"], row["Size"], row["Colour"]] == [7, 5, "red"])
        try await store.changes.cancel([ids[1]])
        try await expectDownloaded(store, text: "mine")
        try await store.changes.cancel([ids[0]])
        try await expectDownloaded(store)
    }
}
