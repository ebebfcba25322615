import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("Rules 12 and 17: containers of locally changed entities")
struct ContainerTests {
    private static let summer = "Albums?$filter=Name eq 'Summer'&$expand=Pages"

    private func edited(
        _ studio: Studio, through service: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        let store = try await studio.clone([try DefiningQuery("summer", Self.summer)], through: service)
        try await store.change(.update, "Albums(1)/Pages(1)", "Page", ["Title": "Mine"])
        return store
    }

    private func title(_ provider: any ODataProvider) async throws -> ODataValue? {
        try await provider.rows("Albums(1)/Pages(1)").first?["Title"]
    }

    private func expectSent(_ store: OfflineStore, _ studio: Studio) async throws {
        #expect(try await title(store) == "Mine")
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.code } == [])
        #expect(report.accepted.map(\.kind) == [.update])
        #expect(try await title(studio.service) == "Mine")
    }

    @Test("stays when it leaves the filter of its query, until the change is accepted")
    func leavingFilter() async throws {
        let studio = try await Studio()
        let store = try await edited(studio)
        try await studio.service.update("Albums(1)", ["Name": "Autumn"])
        for _ in 1...2 { try await store.download() }
        try await expectSent(store, studio)
        try await store.download()
        #expect(try await store.rows("Albums").isEmpty, "nobody holds it any more")
    }

    @Test("stays with its own change undone")
    func undoneBesides() async throws {
        let studio = try await Studio()
        let store = try await edited(studio)
        try await store.update("Albums(1)", ["Name": "Also mine"])
        try await studio.service.update("Albums(1)", ["Name": "Autumn"])
        try await store.download()
        #expect(try await store.changes.undo([ODataURL(parsing: "Albums(1)")]) == 1)
        #expect(try await store.rows("Albums(1)").first?["Name"] == "Summer")
        try await expectSent(store, studio)
    }

    @Test("stays when its query is removed, until the change is accepted")
    func removedQuery() async throws {
        let studio = try await Studio()
        let store = try await edited(studio)
        #expect(try await store.queries.remove("summer") == 0)
        try await expectSent(store, studio)
        try await store.download()
        #expect(try await store.lacks("Albums"))
    }

    @Test("stays when the store is rebuilt for an incompatible model")
    func incompatibleModel() async throws {
        let studio = try await Studio()
        let isNewer = LockedFlag()
        let metadata = Studio.metadata.replacingOccurrences(
            of: "<Property Name=\"Text\" Type=\"Edm.String\"/>\n    <NavigationProperty Name=\"Album\"",
            with: "<NavigationProperty Name=\"Album\""
        ).replacingOccurrences(
            of: "<NavigationProperty Name=\"Tags\" Type",
            with: "<Property Name=\"Year\" Type=\"Edm.Int32\"/>"
                + "<NavigationProperty Name=\"Tags\" Type")
        let newer = try CSDLReader.read(xml: Array(metadata.utf8))
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isNewer.isSet, request.url.path.segments == [.metadata] else { return nil }
                return ODataResponse(body: .metadata(newer))
            })
        let store = try await edited(studio, through: service)
        isNewer.set()
        let refresh = try await store.maintenance.refreshMetadata { root, model in
            try ODataClient(serviceRoot: root, transport: studio.wire, model: model)
        }
        #expect(refresh.isRebuilt && refresh.refused.isEmpty)
        try await expectSent(refresh.store, studio)
    }

    @Test("stays within its container at any depth until the service removed it")
    func nested() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([try DefiningQuery("boxes", "Boxes?$expand=Slips($expand=Marks)")])
        let mark = "Boxes(1)/Slips(1)/Marks(1)"
        try await store.change(.update, mark, "Mark", ["Text": "mine"])
        try await depot.service.delete("Boxes(1)/Slips(1)")
        try await store.download()
        #expect(try await store.rows(mark).first?["Text"] == "mine")
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == ["The entity was deleted by somebody else."])
        #expect(try await store.changes.discard() == 1)
        try await store.download()
        #expect(try await store.rows("Boxes(1)/Slips").isEmpty)
        // The deletion of the box removes its content without conflicts.
        try await depot.service.change(.create, "Boxes(1)/Slips", "Slip", ["No": 2])
        try await depot.service.change(.create, "Boxes(1)/Slips(2)/Marks", "Mark", ["No": 1, "Text": "blue"])
        try await store.download()
        try await store.change(.update, "Boxes(1)/Slips(2)/Marks(1)", "Mark", ["Text": "mine"])
        try await depot.service.delete("Boxes(1)")
        try await store.download()
        #expect(try await store.rows("Boxes(1)/Slips(2)/Marks(1)").first?["Text"] == "mine")
        #expect(try await store.changes.undoAll() == 1)
        try await store.download()
        #expect(try await store.rows("Boxes").isEmpty)
    }

    @Test("undone after a model change gets no property that was not loaded, and no new one (rule 12)")
    func deletedBeforeMigration() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([
            try DefiningQuery("boxes", "Boxes?$expand=Slips($expand=Marks($select=No))")
        ])
        #expect(try await store.rows("Boxes(1)/Slips(1)/Marks").map { $0["Text"] } == [nil])
        try await store.delete("Boxes(1)")
        try store.close()
        let newer = try await Depot {
            $0.replacingOccurrences(
                of: #"<Property Name="Text" Type="Edm.String"/>"#,
                with: #"<Property Name="Colour" Type="Edm.String"/><Property Name="Text" Type="Edm.String"/>"#)
        }
        let migrated = try await depot.reopen(at: newer).maintenance.refreshMetadata().store
        #expect(try await migrated.changes.undoAll() == 1)
        let mark = try #require(try await migrated.rows("Boxes(1)/Slips(1)/Marks").first)
        #expect(mark["No"] == 1)
        #expect(mark["Colour"] == nil)
        #expect(mark["Text"] == nil)
    }

    @Test("stays if it was created, sent and deleted locally, until its contained changes are sent")
    func removedAfterCreation() async throws {
        let studio = try await Studio()
        let store = try await studio.clone([try DefiningQuery("summer", Self.summer)])
        let album = try await store.changes.provider(with: ChangeOptions(removesCreatedEntity: true))
            .create("Albums", ["Name": "Autumn"])
        #expect(album?["ID"] == -1)
        try await store.change(.create, "Albums(-1)/Pages", "Page", ["Number": 1, "Title": "Leaves"])
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.code } == [])
        #expect(try await studio.service.rows("Albums(3)/Pages").map { $0["Title"] } == ["Leaves"])
        try await store.download()
        #expect(try await store.rows("Albums").count == 1)
    }

    @Test("Rule 6: an action on a new contained entity waits for its creation")
    func action() async throws {
        let studio = try await Studio()
        let isRefusing = LockedFlag()
        let service = Gateway(
            base: try studio.client(),
            before: { request in
                guard isRefusing.isSet, request.method == .create, request.url.description == "Albums(1)/Pages" else {
                    return nil
                }
                throw ODataError(status: 400, code: "No", message: "No.")
            })
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Pages")], through: service)
        try await store.change(.create, "Albums(1)/Pages", "Page", ["Number": 2, "Title": "Two"])
        _ = try await store.execute(
            ODataRequest(.create, try ODataURL(parsing: "Albums(1)/Pages(2)/Studio.Stamp"), body: .parameters([:])))
        isRefusing.set()
        let report = try await store.upload()
        #expect(report.failed.map(\.kind) == [.create])
        #expect(report.waiting.map(\.kind) == [.call])
        isRefusing.clear()
        try await store.changes.retry()
        #expect(try await store.upload().accepted.map(\.kind) == [.create, .call])
        #expect(studio.calls.names == ["Two"])
    }
}
