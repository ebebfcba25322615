import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import ObjectAPI
import OfflineOData
import Synchronization
import WireFaults

/// A service of the package `Desk` in memory, which writes a log record for each change that it refuses, and databases
/// of it.
final class DeskService: Sendable {
    let service: StoreService
    private let directory: URL
    private let refusal = Mutex<ODataError?>(nil)
    private let readRefusal = Mutex<ODataError?>(nil)
    private let requests = Mutex<[HTTPRequest]>([])
    private let writesRecords = Mutex(true)

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        var options = StoreService.Options()
        options.requiresPrincipals = false
        var definition = ServiceDefinition(model: DeskMetadata.model)
        definition.givesETagsToAll = true
        service = try await StoreService.open(definition, at: .memory, options: options)
        for (title, area) in [("Lamp", "North"), ("Door", "North"), ("Roof", "South"), ("Wall", "West")] {
            try await add("Tickets", ["Title": .string(title), "Area": .string(area)])
        }
        for (owner, text) in [("ada", "of Ada"), ("bob", "of Bob")] {
            try await add("Notes", ["Owner": .string(owner), "Text": .string(text)])
        }
        try await add("Passes", ["Code": .string(Self.token)])
        let day = try ODataValue(lexical: "2021-05-01", type: .date)
        for kind: Int64 in [1, 2, 3] {
            try await add("Parts", ["Kind": .integer(kind), "Since": day])
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static let root = "http://desk.test/"
    /// The value of a session key, which must be in no file.
    static let token = "session-secret-4711"

    /// The address of a database's files.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    // MARK: Rows at the service

    @discardableResult
    func add(_ set: String, _ values: [String: ODataValue]) async throws -> ODataEntity {
        let shape = try service.model.requiredShape(ofSet: set)
        return try await DataService(service).create(ODataEntity(shape: shape, values), in: set)
    }

    func rows(_ query: String) async throws -> [ODataEntity] {
        try await DataService(service).entities(ODataURL(parsing: query))
    }

    // MARK: Faults

    /// Refuses each change from now on, with a log record unless the service writes none.
    func refuse(_ error: ODataError?, writingRecords: Bool = true) {
        writesRecords.withLock { $0 = writingRecords }
        refusal.withLock { $0 = error }
    }

    /// Refuses each read from now on.
    func refuseReads(_ error: ODataError?) { readRefusal.withLock { $0 = error } }

    /// The requests that reached the wire since the last call.
    func takeRequests() -> [HTTPRequest] {
        requests.withLock { requests in
            defer { requests = [] }
            return requests
        }
    }

    // MARK: Databases

    func database(
        _ name: String = "desk", environment: EngineEnvironment = .system,
        _ edit: (inout SynchronizationProfile) -> Void = { _ in }
    ) async throws -> DeskDatabase {
        var profile = DatabaseProfile(protection: .unencrypted)
        profile.storeOptions.runtime.environment = environment
        profile.storeOptions.service.capabilities.supportsRepeatableRequests = true
        var synchronization = SynchronizationProfile { [self] _ in try client() }
        synchronization.serviceRoot = Self.root
        edit(&synchronization)
        return try await DeskDatabase.open(at: path(name), profile, synchronization: synchronization)
    }

    private func client() throws -> ODataClient {
        let provider = RecordingService(store: service) { [self] request in
            guard request.method != .read else { return (readRefusal.withLock { $0 }, false) }
            return (refusal.withLock { $0 }, writesRecords.withLock { $0 })
        }
        let wire = FaultyTransport(LoopbackTransport(ODataHandler(provider: provider))) { [self] _, request in
            requests.withLock { $0.append(request) }
            return nil
        }
        let session = try HTTPSession(wire, serviceRoot: Self.root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: Self.root, transport: session)
    }
}

/// A service that refuses some requests, and writes a log record for each refused change.
private struct RecordingService: ProviderWrapper {
    let store: StoreService
    let refusal: @Sendable (ODataRequest) -> (error: ODataError?, writesRecord: Bool)

    var base: any ODataProvider { store }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var parts = [request]
        if case .batch(let items) = request.body { parts = items.map(\.request) }
        for part in parts {
            let (error, writesRecord) = refusal(part)
            // A deletion of a log record is never refused.
            guard let error, !part.url.description.contains("LogRecords") else { continue }
            if writesRecord { try await record(error, part) }
            throw error
        }
        return try await base.execute(request)
    }

    private func record(_ error: ODataError, _ request: ODataRequest) async throws {
        let shape = try store.model.requiredShape(ofSet: "LogRecords")
        let url = request.url.description
        let key = url.split(separator: "(").dropFirst().first?.split(separator: ")").first.map(String.init) ?? ""
        _ = try await DataService(store).create(
            ODataEntity(
                shape: shape,
                [
                    "Operation": .string("\(request.method)"), "Component": "Ticket", "EntityKey": .string(key),
                    "Message": .string(error.message), "Level": "ERROR", "Code": .integer(Int64(error.status)),
                    "EisCode": .string(error.code),
                    "RequestId": request.repeatability.map { .string($0.requestID) } ?? .null,
                ]), in: "LogRecords")
    }
}
