import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

@Suite("Changes of dynamic properties")
struct DynamicChangeTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
        <Property Name="At" Type="Edm.DateTimeOffset"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """
    private static let root = "http://things.test/"

    /// Returns a service with one entity, and a store of it.
    private func things(
        hasETags: Bool = true, _ gateway: (any ODataProvider) -> any ODataProvider = { $0 }
    ) async throws -> (service: StoreService, store: OfflineStore, folder: Folder) {
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        try await service.create("Things", ["ID": 1, "Text": "a", "Colour": "red", "Weight": 5])
        let client = try ODataClient(
            serviceRoot: Self.root, transport: LoopbackTransport(ODataHandler(provider: service)))
        let folder = Folder()
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: Self.root,
            remote: gateway(PlainService(base: client, hasETags: hasETags)))
        try await store.download()
        return (service, store, folder)
    }

    /// Returns a service that loses the first change before or after its execution.
    private func lossy(_ base: any ODataProvider, hasActed: Bool) -> Gateway {
        let isLost = LockedFlag()
        let lose: @Sendable (ODataRequest) throws -> Void = { request in
            guard request.method == .update, !isLost.isSet else { return }
            isLost.set()
            throw ODataError(status: 504, code: "Gateway", message: "The service did not answer.")
        }
        guard hasActed else {
            return Gateway(
                base: base,
                before: { request in
                    try lose(request)
                    return nil
                })
        }
        return Gateway(
            base: base,
            after: { request, response in
                try lose(request)
                return response
            })
    }

    @Test("Removing a dynamic property is sent, as null or by replacing the entity", arguments: [false, true])
    func removed(replaces: Bool) async throws {
        let (service, store, folder) = try await things()
        defer { withExtendedLifetime(folder) {} }
        if replaces {
            let shape = try #require(store.model.shape(ofSet: "Things"))
            let thing = ODataEntity(shape: shape, ["ID": 1, "Text": "a", "Weight": 5])
            _ = try await store.execute(
                ODataRequest(.replace, try ODataURL(parsing: "Things(1)"), body: .entity(thing)))
        } else {
            try await store.update("Things(1)", ["Colour": .null])
        }
        #expect(try await store.observe.status().pending.map { $0.changes.dynamicProperties } == [["Colour": .null]])
        #expect(try await store.rows("Things(1)").first?.dynamicProperties == ["Weight": 5])
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await service.rows("Things(1)").first?.dynamicProperties == ["Weight": 5])
        #expect(try await store.rows("Things(1)").first?.dynamicProperties == ["Weight": 5])
        try await store.download()
        #expect(try await store.rows("Things(1)").first?.dynamicProperties == ["Weight": 5])
    }

    @Test("Removing a dynamic property can be undone")
    func undone() async throws {
        let (_, store, folder) = try await things()
        defer { withExtendedLifetime(folder) {} }
        try await store.update("Things(1)", ["Colour": .null, "Text": "b"])
        #expect(try await store.changes.undo([ODataURL(parsing: "Things(1)")]) == 1)
        #expect(try await store.rows("Things(1)").first?.dynamicProperties == ["Colour": "red", "Weight": 5])
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("A dynamic property that never arrived is sent again, also without ETags", arguments: [false, true])
    func lost(hasETags: Bool) async throws {
        let (service, store, folder) = try await things(hasETags: hasETags) { lossy($0, hasActed: false) }
        defer { withExtendedLifetime(folder) {} }
        try await store.update("Things(1)", ["Colour": "blue"])
        await #expect(throws: ODataError.self) { try await store.upload() }
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await service.rows("Things(1)").first?["Colour"] == "blue")
        #expect(try await store.rows("Things(1)").first?["Colour"] == "blue")
    }

    @Test(
        "A change of the same dynamic property by others is a conflict, also without ETags",
        arguments: [false, true])
    func conflict(hasETags: Bool) async throws {
        let (service, store, folder) = try await things(hasETags: hasETags)
        defer { withExtendedLifetime(folder) {} }
        // The entities have the property, get it for the first time, or were not changed at the service.
        try await service.create("Things", ["ID": 2, "Text": "b"])
        try await service.create("Things", ["ID": 3, "Text": "c", "Colour": "red"])
        try await store.download()
        for id in 1...3 { try await store.update("Things(\(id))", ["Colour": "blue"]) }
        for id in 1...2 { try await service.update("Things(\(id))", ["Colour": "green"]) }
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == ["Things(1)", "Things(2)"])
        #expect(report.accepted.map(\.entityText) == ["Things(3)"])
        #expect(try await service.rows("Things?$orderby=ID").map { $0["Colour"] } == ["green", "green", "blue"])
    }

    @Test("An instant that the service returns with another offset equals the sent one")
    func offset() async throws {
        let (service, store, folder) = try await things(hasETags: false) { base in
            var gateway = lossy(base, hasActed: true)
            let lose = gateway.after
            gateway.after = { request, response in
                var response = try await lose(request, response)
                guard case .entity(var entity) = response.body, case .dateTimeOffset(let at)? = entity["At"] else {
                    return response
                }
                entity["At"] = .dateTimeOffset(ODataDateTimeOffset(seconds: at.seconds))
                entity.markUnchanged()
                response.body = .entity(entity)
                return response
            }
            return gateway
        }
        defer { withExtendedLifetime(folder) {} }
        let at = try #require(ODataDateTimeOffset("2026-11-27T10:00:00+02:00"))
        try await store.update("Things(1)", ["At": .dateTimeOffset(at)])
        await #expect(throws: ODataError.self) { try await store.upload() }
        let report = try await store.upload()
        #expect(report.failed.map(\.entityText) == [])
        #expect(report.accepted.count == 1)
        #expect(try await service.rows("Things(1)").first?["At"] == .dateTimeOffset(at))
    }
}
