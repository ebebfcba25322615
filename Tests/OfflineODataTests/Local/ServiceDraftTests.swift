import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

@Suite("Drafts that the service keeps")
struct ServiceDraftTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Sales" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Offer">
            <Key><PropertyRef Name="ID"/><PropertyRef Name="IsActiveEntity"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="IsActiveEntity" Type="Edm.Boolean" Nullable="false"/>
            <Property Name="Title" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Plain"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Plains" EntityType="Sales.Plain"/>
            <EntitySet Name="Offers" EntityType="Sales.Offer">
              <Annotation Term="com.sap.vocabularies.Common.v1.DraftRoot"><Record>
                <PropertyValue Property="ActivationAction" String="Sales.finish"/>
                <PropertyValue Property="EditAction" String="Sales.begin"/>
              </Record></Annotation>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func service() async throws -> StoreService {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8)))
        let offer = QualifiedName("Sales", "Offer")
        try definition.action(
            "begin", on: .entity(offer), [.init("PreserveChanges", .primitive(.boolean))], returns: .entity(offer),
            in: "Offers"
        ) { call in
            let active = try call.boundEntity()
            return .entity(
                try call.transaction.create(
                    try call.transaction.newEntity(
                        in: "Offers",
                        [
                            "ID": active["ID"] ?? .null, "IsActiveEntity": .boolean(false),
                            "Title": active["Title"] ?? .null,
                        ]), in: "Offers"))
        }
        try definition.action("finish", on: .entity(offer), returns: .entity(offer), in: "Offers") { call in
            let draft = try call.boundEntity()
            guard case .integer(let id)? = draft["ID"] else { throw ODataError.notFound("ID") }
            try call.transaction.delete("Offers(ID=\(id),IsActiveEntity=false)")
            guard let active = try call.transaction.entity("Offers(ID=\(id),IsActiveEntity=true)") else {
                throw ODataError.notFound("Offers(\(id))")
            }
            return .entity(try call.transaction.update(active, ["Title": draft["Title"] ?? .null]))
        }
        let service = try await StoreService.open(definition, at: .memory)
        try await service.create("Offers", ["ID": 7, "IsActiveEntity": .boolean(true), "Title": "first"])
        return service
    }

    @Test("are made, changed offline, and activated by the actions that the set names")
    func lifeCycle() async throws {
        let service = try await service()
        let client = try ODataClient(
            serviceRoot: "http://sales.test/", transport: LoopbackTransport(ODataHandler(provider: service)))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try await OfflineODataProvider.create(
            at: path, protection: .unencrypted, serviceRoot: "http://sales.test/", remote: client)
        try await store.download()
        let draft = try await store.editServiceDraft(of: ODataURL(parsing: "Offers(ID=7,IsActiveEntity=true)"))
        #expect(draft["Title"] == "first" && draft["IsActiveEntity"] == .boolean(false))
        let address = "Offers(ID=7,IsActiveEntity=false)"
        try await store.update(address, ["Title": "second"])
        let waiting = await #expect(throws: ODataError.self) {
            try await store.activateServiceDraft(ODataURL(parsing: address))
        }
        #expect(waiting?.status == 409 && waiting?.code == "ChangesWait")
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.activateServiceDraft(ODataURL(parsing: address))["Title"] == "second")
        #expect(try await store.rows("Offers").map { $0["Title"] } == ["second"])
        try await store.download()
        #expect(try await store.rows("Offers").map { $0["Title"] } == ["second"])
        #expect(try await store.status().pending.isEmpty)
        let without = await #expect(throws: ODataError.self) {
            try await store.editServiceDraft(of: ODataURL(parsing: "Plains(1)"))
        }
        #expect(without?.status == 501)
    }
}
