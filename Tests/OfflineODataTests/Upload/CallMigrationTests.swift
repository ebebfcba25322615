import Foundation
import GRDB
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

/// The effect of a new service model on pending calls.
@Suite("Rule 6: the call of an action that the service changed or removed")
struct CallMigrationTests {
    /// A service with a print action.
    private final class Press: Sendable {
        let service: StoreService

        init(_ parameters: [(name: String, type: TypeReference)]) async throws {
            var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8)))
            try definition.action("Print", parameters: parameters.map { .init($0.name, $0.type) }) { _ in .none }
            service = try await StoreService.open(definition, at: .memory)
        }

        func client() throws -> ODataClient {
            let root = "http://press.test/"
            let session = try HTTPSession(
                LoopbackTransport(ODataHandler(provider: service)), serviceRoot: root,
                configuration: .init(retry: .none))
            return try ODataClient(serviceRoot: root, transport: session)
        }

        private static let metadata = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Press" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EntityType Name="Sheet">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
                <Property Name="Text" Type="Edm.String"/>
              </EntityType>
              <EntityContainer Name="Container"><EntitySet Name="Sheets" EntityType="Press.Sheet"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
    }

    private static let copies: [(name: String, type: TypeReference)] = [
        ("Copies", .primitive(.int32)), ("Colour", .primitive(.string)),
    ]

    private func clone(_ press: Press) async throws -> OfflineStore {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: "http://press.test/", remote: try press.client(),
            queries: [])
        try await store.download()
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Print"), body: .parameters(["Copies": 3, "Colour": "red"])))
        try await store.create("Sheets", ["ID": 1, "Text": "first"])
        return store
    }

    @Test(
        "is archived with its parameters, and the rest continues",
        arguments: [
            [("Copies", TypeReference.primitive(.guid)), ("Colour", .primitive(.string))],
            [("Copies", .primitive(.int32))],
        ])
    func archived(parameters: [(String, TypeReference)]) async throws {
        let store = try await clone(try await Press(Self.copies))
        defer { try? FileManager.default.removeItem(atPath: store.directory) }
        let newer = try await Press(parameters.map { (name: $0.0, type: $0.1) })
        let path = store.directory
        try store.close()
        let client = try newer.client()
        let opened = try await OfflineStore.open(
            at: path, protection: .unencrypted, connect: { _, _ in client })
        let migrated = try await opened.maintenance.refreshMetadata { _, _ in client }.store
        let failed = try await migrated.observe.status().failed
        #expect(failed.map(\.kind) == [.call])
        #expect(failed.map(\.failure?.code) == ["ModelChanged"])
        #expect(try await migrated.rows("ErrorArchive").first?["RequestBody"] == #"{"Colour":"red","Copies":3}"#)
        #expect(try await migrated.upload().accepted.map(\.entitySet) == ["Sheets"])
        try migrated.close()
    }

    @Test("stays if the model still has the action, or gives it more parameters")
    func kept() async throws {
        let store = try await clone(try await Press(Self.copies))
        defer { try? FileManager.default.removeItem(atPath: store.directory) }
        let newer = try await Press([("Copies", .primitive(.int64)), ("Colour", .primitive(.string))])
        let path = store.directory
        try store.close()
        let client = try newer.client()
        let opened = try await OfflineStore.open(
            at: path, protection: .unencrypted, connect: { _, _ in client })
        let migrated = try await opened.maintenance.refreshMetadata { _, _ in client }.store
        #expect(try await migrated.upload().accepted.count == 2)
        try migrated.close()
    }

    @Test("does not block the queue if an earlier version left it there")
    func leftThere() async throws {
        let store = try await clone(try await Press(Self.copies))
        defer { try? FileManager.default.removeItem(atPath: store.directory) }
        try await DatabaseQueue(path: store.directory + "/store.db").write { database in
            try database.execute(
                sql: "UPDATE outpost_queue SET detail = json_set(detail, '$.parameters', ?) WHERE kind = 'call'",
                arguments: [#"{"Copies":"three"}"#])
        }
        let report = try await store.upload()
        #expect(report.failed.map(\.failure?.code) == ["ModelChanged"])
        #expect(report.accepted.map(\.entitySet) == ["Sheets"])
        try store.close()
    }
}
