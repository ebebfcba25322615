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
            <NavigationProperty Name="Remarks" Type="Collection(Sales.Remark)" ContainsTarget="true"/>
          </EntityType>
          <EntityType Name="Remark">
            <Key><PropertyRef Name="No"/></Key>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EntityType Name="Line">
            <Key><PropertyRef Name="ID"/><PropertyRef Name="IsActiveEntity"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="IsActiveEntity" Type="Edm.Boolean" Nullable="false"/>
            <Property Name="OfferID" Type="Edm.Int32"/>
            <Property Name="Count" Type="Edm.Int32"/>
            <NavigationProperty Name="Offer" Type="Sales.Offer">
              <ReferentialConstraint Property="OfferID" ReferencedProperty="ID"/>
              <ReferentialConstraint Property="IsActiveEntity" ReferencedProperty="IsActiveEntity"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Step">
            <Key><PropertyRef Name="ID"/><PropertyRef Name="IsActiveEntity"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="IsActiveEntity" Type="Edm.Boolean" Nullable="false"/>
            <Property Name="LineID" Type="Edm.Int32"/>
            <NavigationProperty Name="Line" Type="Sales.Line">
              <ReferentialConstraint Property="LineID" ReferencedProperty="ID"/>
              <ReferentialConstraint Property="IsActiveEntity" ReferencedProperty="IsActiveEntity"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Plain"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Plains" EntityType="Sales.Plain"/>
            <EntitySet Name="Lines" EntityType="Sales.Line">
              <NavigationPropertyBinding Path="Offer" Target="Offers"/>
            </EntitySet>
            <EntitySet Name="Steps" EntityType="Sales.Step">
              <NavigationPropertyBinding Path="Line" Target="Lines"/>
            </EntitySet>
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
            "begin", on: .entity(offer), parameters: [.init("PreserveChanges", .primitive(.boolean))],
            returns: .entity(offer),
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
            // The parts of the draft are deleted with it.
            for set in ["Steps", "Lines"] {
                for part in try call.transaction.entities("\(set)?$filter=IsActiveEntity eq false") {
                    guard case .integer(let number)? = part["ID"] else { continue }
                    try call.transaction.delete("\(set)(ID=\(number),IsActiveEntity=false)")
                }
            }
            try call.transaction.delete("Offers(ID=\(id),IsActiveEntity=false)")
            guard let active = try call.transaction.entity("Offers(ID=\(id),IsActiveEntity=true)") else {
                throw ODataError.notFound("Offers(\(id))")
            }
            return .entity(try call.transaction.update(active, ["Title": draft["Title"] ?? .null]))
        }
        // The lines of a deleted draft have no offer until the offer itself is deleted.
        var options = StoreService.Options()
        options.requiresPrincipals = false
        let service = try await StoreService.open(definition, at: .memory, options: options)
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
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: "http://sales.test/", remote: client)
        try await store.download()
        let draft = try await store.drafts.editServiceDraft(of: ODataURL(parsing: "Offers(ID=7,IsActiveEntity=true)"))
        #expect(draft["Title"] == "first" && draft["IsActiveEntity"] == .boolean(false))
        let address = "Offers(ID=7,IsActiveEntity=false)"
        try await store.update(address, ["Title": "second"])
        let waiting = await #expect(throws: ODataError.self) {
            try await store.drafts.activateServiceDraft(ODataURL(parsing: address))
        }
        #expect(waiting?.status == 409 && waiting?.code == "ChangesWait")
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.drafts.activateServiceDraft(ODataURL(parsing: address))["Title"] == "second")
        #expect(try await store.rows("Offers").map { $0["Title"] } == ["second"])
        try await store.download()
        #expect(try await store.rows("Offers").map { $0["Title"] } == ["second"])
        #expect(try await store.observe.status().pending.isEmpty)
        let without = await #expect(throws: ODataError.self) {
            try await store.drafts.editServiceDraft(of: ODataURL(parsing: "Plains(1)"))
        }
        #expect(without?.status == 501)
    }

    @Test(
        "are not activated while a change of one of their parts is pending",
        arguments: ["a new line", "a changed line", "a deleted line", "a line's step", "a remark", "an active line"])
    func parts(change: String) async throws {
        let service = try await service()
        let client = try ODataClient(
            serviceRoot: "http://sales.test/", transport: LoopbackTransport(ODataHandler(provider: service)))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: "http://sales.test/", remote: client)
        for isActive in [true, false] {
            try await service.create("Lines", ["ID": 1, "IsActiveEntity": .boolean(isActive), "OfferID": 7])
        }
        try await store.download()
        try await store.drafts.editServiceDraft(of: ODataURL(parsing: "Offers(ID=7,IsActiveEntity=true)"))
        let draft = try ODataURL(parsing: "Offers(ID=7,IsActiveEntity=false)")
        let line = "Lines(ID=1,IsActiveEntity=false)"
        switch change {
        case "a new line":
            try await store.create("Lines", ["ID": 2, "IsActiveEntity": .boolean(false), "OfferID": 7])
        case "a changed line": try await store.update(line, ["Count": 3])
        case "a deleted line": try await store.delete(line)
        case "a line's step":
            try await store.create("Steps", ["ID": 1, "IsActiveEntity": .boolean(false), "LineID": 1])
        case "a remark": try await store.change(.create, "\(draft)/Remarks", "Remark", ["No": 1])
        default: try await store.update("Lines(ID=1,IsActiveEntity=true)", ["Count": 3])
        }
        if change != "an active line" {
            let refusal = await #expect(throws: ODataError.self) { try await store.drafts.activateServiceDraft(draft) }
            #expect(refusal?.status == 409)
            let report = try await store.upload()
            #expect(report.failed.map { $0.failure?.message } == [])
        }
        #expect(try await store.drafts.activateServiceDraft(draft)["IsActiveEntity"] == .boolean(true))
    }
}
