import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Synchronization
import Testing

/// Rule 11 for parameters of offline action calls, which no model relates to entities.
@Suite struct CallParameterTests {
    /// A service that assigns the keys of jobs and closes jobs by key.
    private final class Workshop: Sendable {
        let service: StoreService
        let wire: Wire
        private let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("outpost-\(UUID().uuidString)")

        init() async throws {
            var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8)))
            let guid = TypeReference.primitive(.guid)
            try definition.action("Close", parameters: [.init("Job", guid), .init("Others", .collection(guid))]) {
                call in
                let job: ODataGuid = try call.argument("Job")
                let others: [ODataGuid] = try call.argument("Others")
                for key in [job] + others {
                    guard let job = try call.transaction.entity("Jobs(\(key))") else {
                        throw ODataError.notFound("Jobs(\(key))")
                    }
                    _ = try call.transaction.update(job, ["State": "closed"])
                }
                return .none
            }
            definition.before(.insert, "Jobs") { job, _ in
                if job["Title"] == "refused" { throw ODataError(status: 400, code: "Refused", message: "Not this.") }
            }
            service = try await StoreService.open(definition, at: .memory)
            wire = Wire(LoopbackTransport(ODataHandler(provider: service)))
            try await service.create("Jobs", ["Title": "known"])
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        func clone() async throws -> OfflineStore {
            let root = "http://workshop.test/"
            let session = try HTTPSession(wire, serviceRoot: root, configuration: .init(retry: .none))
            let store = try await OfflineStore.create(
                at: directory.appendingPathComponent("clone").path, protection: .unencrypted, serviceRoot: root,
                remote: try ODataClient(serviceRoot: root, transport: session), queries: [])
            try await store.download()
            return store
        }

        private static let metadata = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Workshop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EntityType Name="Job">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Guid" Nullable="false">
                  <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
                </Property>
                <Property Name="Title" Type="Edm.String"/>
                <Property Name="State" Type="Edm.String"/>
              </EntityType>
              <EntityContainer Name="Container"><EntitySet Name="Jobs" EntityType="Workshop.Job"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
    }

    private func close(
        _ store: OfflineStore, _ job: ODataValue, others: [ODataValue] = []
    ) async throws {
        let response = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Close"),
                body: .parameters(["Job": job, "Others": .collection(others)])))
        #expect(response.status == 202)
    }

    private func key(_ title: String, in store: OfflineStore) async throws -> ODataValue {
        try #require(try await store.rows("Jobs?$filter=Title eq '\(title)'").first?["ID"])
    }

    @Test func `temporary keys are sent as the keys that the service has given`() async throws {
        let workshop = try await Workshop()
        let store = try await workshop.clone()
        try await store.create("Jobs", ["Title": "one"])
        try await store.create("Jobs", ["Title": "two"])
        let temporary = try await key("two", in: store)
        let known = try await key("known", in: store)
        try await close(store, try await key("one", in: store), others: [temporary, known])
        #expect(try await store.upload().accepted.map(\.kind) == [.create, .create, .call])
        let closed = try await workshop.service.rows("Jobs?$filter=State eq 'closed'&$orderby=Title")
        #expect(closed.map { $0["Title"] } == ["known", "one", "two"])
        #expect(closed.last?["ID"] != temporary)
    }

    @Test func `a call in one change set with the entity that it names is sent behind it`() async throws {
        let workshop = try await Workshop()
        let store = try await workshop.clone()
        try await store.changes.transaction { changes in
            let job = try changes.create("Jobs", ["Title": "one"])
            try changes.perform(
                ODataRequest(
                    .create, try ODataURL(parsing: "Close"),
                    body: .parameters(["Job": job["ID"] ?? .null, "Others": .collection([])])))
        }
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .call])
        let closed = try await workshop.service.rows("Jobs?$filter=State eq 'closed'")
        #expect(closed.map { $0["Title"] } == ["one"])
    }

    @Test func `a call waits while the entity that it names cannot be created, others go on`() async throws {
        let workshop = try await Workshop()
        let store = try await workshop.clone()
        try await store.create("Jobs", ["Title": "refused"])
        try await close(store, try await key("refused", in: store))
        try await close(store, try await key("known", in: store))
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.call])
        #expect(report.failed.map(\.kind) == [.create])
        #expect(try await store.observe.status().pending.map(\.kind) == [.call])
    }
}
