import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

/// A service of tickets with actions that change their bound entity.
final class Desk: Sendable {
    let service: StoreService
    let wire: Wire
    /// The executed actions, in order.
    let calls = LockedNames()
    private let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("outpost-\(UUID().uuidString)")

    /// - Parameter alteration: a closure that changes the metadata of the service.
    init(_ alteration: (String) -> String = { $0 }) async throws {
        var definition = ServiceDefinition(
            model: try CSDLReader.read(xml: Array(alteration(Self.metadata).utf8)))
        // Some clients do not support ETags, so the metadata must not require them.
        definition.givesETagsToAll = true
        let ticket = QualifiedName("Desk", "Ticket")
        let calls = calls
        try definition.action("Close", on: .entity(ticket)) { call in
            let ticket = try call.boundEntity()
            if ticket["Text"] == "" { throw ODataError(status: 400, code: "NoText", message: "Say why.") }
            _ = try call.transaction.update(ticket, ["State": "closed"])
            calls.append("Close")
            return .none
        }
        try definition.action("Reopen", on: .entity(ticket), returns: .entity(ticket), in: "Tickets") { call in
            let ticket = try call.transaction.update(call.boundEntity(), ["State": "reopened"])
            calls.append("Reopen")
            return .entity(ticket)
        }
        try definition.action("Touch", on: .entity(ticket)) { call in
            let ticket = try call.boundEntity()
            _ = try call.transaction.update(ticket, ["State": ticket["State"] ?? .null])
            calls.append("Touch")
            return .none
        }
        service = try await StoreService.open(definition, at: .memory)
        wire = Wire(LoopbackTransport(ODataHandler(provider: service)))
        try await service.create("Tickets", ["ID": 1, "State": "open", "Text": "first"])
        try await service.create("Tickets", ["ID": 2, "State": "open", "Text": ""])
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func client() throws -> ODataClient {
        let root = "http://desk.test/"
        let session = try HTTPSession(wire, serviceRoot: root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: root, transport: session)
    }

    /// Creates a downloaded store.
    ///
    /// - Parameters:
    ///   - isPlain: whether the service does not recognise repeated requests.
    ///   - before: a closure that may answer or refuse a request before it reaches the service.
    ///   - around: a closure that wraps the provider.
    func clone(
        _ queries: [DefiningQuery] = [], hasETags: Bool = true, isPlain: Bool = false,
        before: (@Sendable (ODataRequest) async throws -> ODataResponse?)? = nil,
        around: (any ODataProvider) -> any ODataProvider = { $0 }
    ) async throws -> OfflineODataProvider {
        var remote: any ODataProvider = try client()
        if isPlain || !hasETags { remote = PlainService(base: remote, hasETags: hasETags) }
        if let before { remote = Gateway(base: remote, before: before) }
        var options = OfflineODataProvider.Options()
        // The option stands for the confirmation in an earlier response.
        if !isPlain { options.service.supportsRepeatableRequests = true }
        let store = try await OfflineODataProvider.create(
            at: directory.appendingPathComponent("clone").path, protection: .unencrypted,
            serviceRoot: "http://desk.test/", remote: around(remote), queries: queries, options: options)
        try await store.download()
        await wire.mend()
        return store
    }

    /// Opens the store that ``clone(_:hasETags:isPlain:before:around:)`` created, with another service.
    func reopen(at other: Desk) async throws -> OfflineODataProvider {
        let client = try other.client()
        return try await OfflineODataProvider.open(
            at: directory.appendingPathComponent("clone").path, protection: .unencrypted, connect: { _, _ in client })
    }

    func ticket(_ id: Int = 1) async throws -> ODataEntity {
        try #require(try await service.rows("Tickets(\(id))").first)
    }

    /// Returns the call of an action on a ticket.
    static func request(_ action: String, on ticket: Int = 1) throws -> ODataRequest {
        ODataRequest(
            .create, try ODataURL(parsing: "Tickets(\(ticket))/Desk.\(action)"), body: .parameters([:]))
    }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Desk" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Ticket">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
            <Property Name="State" Type="Edm.String"/>
            <Property Name="Text" Type="Edm.String"/>
          </EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Tickets" EntityType="Desk.Ticket"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}

extension ODataProvider {
    /// Calls an action on a ticket; a store executes it with the next upload.
    func call(_ action: String, onTicket ticket: Int = 1) async throws {
        #expect(try await execute(Desk.request(action, on: ticket)).status == 202)
    }
}
