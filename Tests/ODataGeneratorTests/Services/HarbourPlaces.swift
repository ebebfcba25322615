import Foundation
import ODataHTTP
import ODataModel
import ODataService
import ODataStore
import OfflineOData

/// The providers behind the same generated types.
enum HarbourPlace: String, CaseIterable, Sendable {
    case localStore, clientOfAServer, offlineStore

    /// Returns a harbour service in a store, with implementations of its operations.
    static func store() async throws -> StoreService {
        var definition = ServiceDefinition(model: try HarbourMetadata.model.withoutOperations())
        definition.givesETagsToAll = true
        let ship = TypeReference.entity(Ship.typeName)
        let position = TypeReference.complex(Position.typeName)
        try definition.action(
            "Move", on: .entity(Ship.typeName),
            parameters: [
                .init("to", position), .init("Reason", .primitive(.string), isNullable: true, isOptional: true),
            ],
            returns: ship
        ) { call in
            var berth: Position = try call.argument("to")
            if let reason: String = try call.argument("Reason") { berth.quay = reason }
            return .entity(try call.transaction.update(try call.boundEntity(), ["Berth": berth.odataValue]))
        }
        try definition.action("Close", on: .collection(Ship.typeName)) { call in
            for ship in try call.boundEntities() { try call.transaction.delete(ship.control.id ?? "") }
            return .none
        }
        try definition.action("Tow", on: .collection(Ship.typeName), returns: .collection(ship)) { call in
            .entities(try call.boundEntities().filter { $0["Name"] != .string("Fram") })
        }
        try definition.function(
            "Similar", on: .entity(Ship.typeName), parameters: [.init("kind", .enumeration(ShipKind.typeName))],
            returns: .collection(ship)
        ) { call in
            let kind: ShipKind = try call.argument("kind")
            return .query("Ships?$filter=Kind eq Harbour.ShipKind'\(kind.memberNames)'")
        }
        try definition.function("Label", on: .entity(Party.typeName), returns: .primitive(.string)) { call in
            .value(.string("Party \(try call.boundEntity().read("Name") as String)"))
        }
        try definition.function("Remarks", on: .entity(Ship.typeName), returns: .collection(.primitive(.string))) { _ in
            .value(.collection(["new", "fast"]))
        }
        try definition.function(
            "FreeBerths",
            parameters: [.init("minLength", .typeDefinition(QualifiedName("Harbour", "Metres"), .decimal))],
            returns: .collection(position)
        ) { call in
            let length: ODataDecimal = try call.argument("minLength")
            let berth = Position {
                $0.quay = "\(length)"; $0.number = 3
            }
            return .value(.collection([berth.odataValue]))
        }
        try definition.function("Oldest", returns: ship, in: "Ships") { call in
            guard let first = try call.transaction.entities("Ships?$orderby=Built&$top=1").first else { return .none }
            return .entity(first)
        }
        try definition.action("Reset") { call in
            for ship in try call.transaction.entities("Ships") { try call.transaction.delete(ship.control.id ?? "") }
            return .none
        }
        return try await StoreService.open(definition, at: .memory)
    }

    /// Runs a body with a harbour of this kind. `sync` transfers local changes to the service.
    func with(
        _ body: (_ harbour: HarbourService, _ sync: () async throws -> Void) async throws -> Void
    ) async throws {
        let store = try await Self.store()
        guard self != .localStore else { return try await body(HarbourService(store)) {} }
        let handler = try ODataHandler(provider: store, serviceRoot: "/harbour/")
        try await withServedClient(at: "/harbour/", handler.handle) { client, root in
            if self == .clientOfAServer { return try await body(HarbourService(client)) {} }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let offline = try await OfflineStore.create(
                at: folder.path, protection: .unencrypted, serviceRoot: root, remote: client)
            try await offline.download()
            try await body(HarbourService(offline)) {
                if let refused = try await offline.sync().upload.failed.first {
                    throw UploadRefused(text: "\(refused)")
                }
            }
            try offline.close()
        }
    }

    struct UploadRefused: Error {
        var text: String
    }
}

extension EntityDataModel {
    /// Returns the same types and sets without operations, so that implementations can be registered.
    func withoutOperations() throws -> EntityDataModel {
        var schemas = schemas
        for index in schemas.indices {
            schemas[index].operations = []
            schemas[index].container?.operationImports = []
        }
        return try EntityDataModel(schemas: schemas, version: version)
    }
}
