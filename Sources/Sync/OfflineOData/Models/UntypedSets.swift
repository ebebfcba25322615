import Foundation
import GRDB
import ODataModel

/// The names of the sets that a store cannot have, since the service's metadata do not declare their types. The metadata that
/// a store keeps are without them.
enum UntypedSets {
    private static let setting = "service.untyped-sets"

    /// Keeps the names that a service's model has.
    static func keep(of model: EntityDataModel, in database: Database) throws {
        let names = try JSONEncoder().encode(model.setsOfUnknownTypes)
        try Settings.set(setting, Array(names), in: database)
    }

    /// The names that were kept; none in a store that was made without them.
    static func kept(in database: Database) throws -> [String] {
        guard let bytes = try Settings.bytes(setting, in: database) else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(bytes))) ?? []
    }
}

extension OfflineStore.Queries {
    /// Returns the names of entity sets and singletons of the service that cannot be kept offline, since its metadata do not declare
    /// their types.
    ///
    /// - Throws: `StoreError`.
    public func setsOfUnknownTypes() async throws -> [String] {
        try await store.database.read { try UntypedSets.kept(in: $0) }
    }
}
