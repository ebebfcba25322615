import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore
import ObjectAPI
import OfflineOData
import Synchronization
import WireFaults

/// A service of the package `Crm` in memory, with a wire that loses answers when told to, and databases of it.
final class CrmService: Sendable {
    let service: StoreService
    private let directory: URL
    private let faults = Mutex<@Sendable (HTTPRequest) -> WireFault?>({ _ in nil })
    private let refusal = Mutex<@Sendable (ODataRequest) -> ODataError?>({ _ in nil })
    private let requests = Mutex<[HTTPRequest]>([])
    /// The identifications of accepted changes.
    private let accepted = Mutex<Set<String>>([])

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        var options = StoreService.Options()
        options.requiresPrincipals = false
        var definition = ServiceDefinition(model: CrmMetadata.model)
        definition.givesETagsToAll = true
        try definition.action(
            "ChangeLastName", on: .entity(Customer.typeName),
            parameters: [.init("OldName", .primitive(.string)), .init("NewName", .primitive(.string))]
        ) { call in
            let name: String = try call.argument("NewName")
            _ = try call.transaction.update(try call.boundEntity(), ["LastName": .string(name)])
            return .none
        }
        service = try await StoreService.open(definition, at: .memory, options: options)
        try await addCustomer("Smith", city: "Dublin")
        try await addCustomer("Jones", city: "Cork")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static let root = "http://crm.test/"

    /// The address of a database's files.
    func path(_ name: String = "crm") -> String { directory.appendingPathComponent(name).path }

    // MARK: Rows at the service

    func addCustomer(_ name: String, city: String) async throws {
        let shape = try service.model.requiredShape(ofSet: "Customers")
        _ = try await DataService(service).create(
            ODataEntity(shape: shape, ["LastName": .string(name), "City": .string(city), "Region": "West"]),
            in: "Customers"
        )
    }

    func rows(_ query: String) async throws -> [ODataEntity] {
        try await DataService(service).entities(ODataURL(parsing: query))
    }

    func names() async throws -> [String] {
        try await rows("Customers?$orderby=ID").compactMap { $0["LastName"]?.lexicalText }
    }

    // MARK: Faults

    /// Selects the fault of each message from now on.
    func cut(_ plan: @escaping @Sendable (HTTPRequest) -> WireFault?) { faults.withLock { $0 = plan } }

    /// Loses the answers of all changes from now on.
    func loseAnswers() { cut { $0.method == .get ? nil : .resetAfterAct } }

    /// Selects the refusals of changes from now on.
    func refuse(_ plan: @escaping @Sendable (ODataRequest) -> ODataError?) { refusal.withLock { $0 = plan } }

    /// The refusal of some changes. A repeat of accepted changes is never refused, since the service recognises it.
    private func refusal(of changes: [ODataRequest]) -> ODataError? {
        let ids = Set(changes.compactMap(\.repeatability?.requestID))
        if !ids.isEmpty, accepted.withLock({ $0.isSuperset(of: ids) }) { return nil }
        for change in changes {
            if let error = refusal.withLock({ $0(change) }) { return error }
        }
        accepted.withLock { $0.formUnion(ids) }
        return nil
    }

    /// Refuses all changes from now on.
    func refuseAll() {
        refuse { _ in ODataError(status: 400, code: "Rejected", message: "Not like this.") }
    }

    /// Removes all faults and refusals.
    func mend() {
        cut { _ in nil }
        refuse { _ in nil }
    }

    /// The changes that reached the wire since the last call.
    func takeChanges() -> [HTTPRequest] {
        requests.withLock { requests in
            defer { requests = [] }
            return requests.filter { $0.method != .get }
        }
    }

    // MARK: Databases

    /// Opens a database that is connected to the service.
    func database(
        _ name: String = "crm", knowing state: (inout StatedCapabilities) -> Void = { _ in }
    ) async throws -> CrmDatabase {
        var profile = DatabaseProfile(protection: .unencrypted)
        // As if an earlier response had confirmed that the service recognises repeated requests.
        profile.storeOptions.service.capabilities.supportsRepeatableRequests = true
        state(&profile.storeOptions.service.capabilities)
        var synchronization = SynchronizationProfile { [self] _ in try client() }
        synchronization.serviceRoot = Self.root
        return try await CrmDatabase.open(at: path(name), profile, synchronization: synchronization)
    }

    /// Opens a database and downloads the rows.
    func synchronized(_ name: String = "crm") async throws -> CrmDatabase {
        let database = try await database(name)
        try await database.synchronize()
        _ = takeChanges()
        return database
    }

    private func client() throws -> ODataClient {
        let handler = ODataHandler(
            provider: RefusingService(base: service) { [self] in
                refusal(of: $0)
            })
        let wire = FaultyTransport(LoopbackTransport(handler)) { [self] _, request in
            requests.withLock { $0.append(request) }
            return faults.withLock { $0(request) }
        }
        let session = try HTTPSession(wire, serviceRoot: Self.root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: Self.root, transport: session)
    }
}

/// A service that refuses some changes, also within batches.
private struct RefusingService: ProviderWrapper {
    let base: any ODataProvider
    let refusal: @Sendable ([ODataRequest]) -> ODataError?

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var changes = [request]
        if case .batch(let items) = request.body { changes = items.map(\.request) }
        changes.removeAll { $0.method == .read }
        if let error = refusal(changes) { throw error }
        return try await base.execute(request)
    }
}
