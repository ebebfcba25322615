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

/// A service of the package `Depot` in memory, whose objects are changed by actions, and databases of it.
final class DepotService: Sendable {
    let service: StoreService
    private let directory: URL
    private let losesAnswers = Mutex(false)
    private let messages = Mutex<[ODataRequest]>([])
    private let noted = Notes()

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        var options = StoreService.Options()
        options.requiresPrincipals = false
        service = try await StoreService.open(Self.definition(noted), at: .memory, options: options)
    }

    /// The values of parameters that are no attributes.
    private final class Notes: Sendable {
        private let values = Mutex<[String]>([])
        var all: [String] { values.withLock { $0 } }
        func add(_ value: String) { values.withLock { $0.append(value) } }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static let root = "http://depot.test/"

    private static func definition(_ notes: Notes) throws -> ServiceDefinition {
        var definition = ServiceDefinition(model: DepotMetadata.model)
        definition.givesETagsToAll = true
        try definition.action(
            "RegisterParcel",
            parameters: [
                .init("Name", .primitive(.string), isNullable: true),
                .init("Weight", .primitive(.decimal), isNullable: true), .init("promoCode", .primitive(.string)),
            ], returns: .entity(Parcel.typeName), in: "Parcels"
        ) { call in
            let name: String = try call.argument("Name")
            guard name != "Refused" else { throw ODataError(status: 400, code: "Rejected", message: "Not like this.") }
            notes.add(try call.argument("promoCode"))
            let parcel = try call.transaction.newEntity(
                in: "Parcels", ["Title": .string(name), "Weight": call.arguments["Weight"] ?? .null])
            return .entity(try call.transaction.create(parcel, in: "Parcels"))
        }
        try definition.action(
            "MoveParcel", on: .entity(Parcel.typeName),
            parameters: [
                .init("To", .primitive(.string), isNullable: true),
                .init("What", .primitive(.string), isNullable: true),
            ], returns: .entity(Parcel.typeName), in: "Parcels"
        ) { call in
            let title: String = try call.argument("What")
            return .entity(
                try call.transaction.update(
                    try call.boundEntity(), ["Shelf": call.arguments["To"] ?? .null, "Title": .string(title + "!")]))
        }
        try definition.action(
            "ScrapParcel", on: .entity(Parcel.typeName),
            parameters: [
                .init("Number", .primitive(.int64), isNullable: true),
                .init("reason", .primitive(.string), isNullable: true, isOptional: true),
            ]
        ) { call in
            let number: Int64 = try call.argument("Number")
            let reason: String? = try call.argument("reason")
            notes.add(reason ?? "no reason")
            try call.transaction.delete("Parcels(\(number))")
            return .none
        }
        try definition.action(
            "AddTruck", on: .collection(Truck.typeName), parameters: [.init("Plate", .primitive(.string))]
        ) { call in
            let plate: String = try call.argument("Plate")
            let truck = try call.transaction.newEntity(
                in: "Trucks", ["Plate": .string(plate.uppercased()), "Color": "grey"])
            _ = try call.transaction.create(truck, in: "Trucks")
            return .none
        }
        try definition.action(
            "PaintTruck", on: .entity(Truck.typeName),
            parameters: [.init("Color", .primitive(.string), isNullable: true)]
        ) { call in
            _ = try call.transaction.update(try call.boundEntity(), ["Color": call.arguments["Color"] ?? .null])
            return .none
        }
        try definition.action(
            "RetireTruck", on: .entity(Truck.typeName), parameters: [.init("remark", .primitive(.string))]
        ) { call in
            notes.add(try call.argument("remark"))
            _ = try call.transaction.update(try call.boundEntity(), ["Color": "rust"])
            return .none
        }
        try definition.action("TakeStock", parameters: [.init("count", .primitive(.int32))]) { call in
            let count: Int64 = try call.argument("count")
            notes.add("stock \(count)")
            return .none
        }
        return definition
    }

    // MARK: At the service

    /// The values that actions got and that are no attributes.
    var remarks: [String] { noted.all }

    func rows(_ query: String) async throws -> [ODataEntity] {
        try await DataService(service).entities(ODataURL(parsing: query))
    }

    func add(_ set: String, _ properties: [String: ODataValue]) async throws {
        let shape = try service.model.requiredShape(ofSet: set)
        _ = try await DataService(service).create(ODataEntity(shape: shape, properties), in: set)
    }

    /// The bytes of a stream.
    func bytes(_ url: String) async throws -> [UInt8] {
        guard case .raw(let bytes, _) = try await service.execute(ODataRequest(.read, ODataURL(parsing: url))).body
        else {
            return []
        }
        return try await bytes.collect(limit: 1 << 28)
    }

    /// The paths of the changes that reached the service since the last call.
    func takePaths() -> [String] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages.map { "\($0.method) \($0.url.path)" }
        }
    }

    /// Loses the answers of changes, or no longer.
    func loseAnswers(_ loses: Bool) { losesAnswers.withLock { $0 = loses } }

    // MARK: Databases

    func database(_ name: String = "depot") async throws -> DepotDatabase {
        var synchronization = SynchronizationProfile { [self] _ in try client() }
        synchronization.serviceRoot = Self.root
        return try await DepotDatabase.open(
            at: directory.appendingPathComponent(name).path, DatabaseProfile(protection: .unencrypted),
            synchronization: synchronization)
    }

    func synchronized(_ name: String = "depot") async throws -> DepotDatabase {
        let database = try await database(name)
        try await database.synchronize()
        _ = takePaths()
        return database
    }

    private func client() throws -> ODataClient {
        let recording = RecordingService(base: service) { [self] request in messages.withLock { $0.append(request) } }
        let wire = FaultyTransport(LoopbackTransport(ODataHandler(provider: recording))) { [self] _, request in
            request.method != .get && losesAnswers.withLock { $0 } ? .resetAfterAct : nil
        }
        let session = try HTTPSession(wire, serviceRoot: Self.root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: Self.root, transport: session)
    }
}

/// A service that notes the changes that reach it, also within batches.
private struct RecordingService: ProviderWrapper {
    let base: any ODataProvider
    let note: @Sendable (ODataRequest) -> Void

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if case .batch(let items) = request.body {
            for item in items where item.request.method != .read { note(item.request) }
        } else if request.method != .read {
            note(request)
        }
        return try await base.execute(request)
    }
}
