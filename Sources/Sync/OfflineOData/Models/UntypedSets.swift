import Foundation
import GRDB
import ODataModel

/// The names of the sets that a store cannot have, since the service's metadata do not declare their types. The
/// stored metadata leave them out.
enum UntypedSets {
    private static let setting = "service.untyped-sets"

    /// Stores the names that a service's model has.
    static func keep(of model: EntityDataModel, in database: Database) throws {
        let names = try JSONEncoder().encode(model.setsOfUnknownTypes)
        try Settings.set(setting, Array(names), in: database)
    }

    /// The stored names; none in a store that was created without them.
    static func kept(in database: Database) throws -> [String] {
        guard let bytes = try Settings.bytes(setting, in: database) else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(bytes))) ?? []
    }
}

extension OfflineStore.Queries {
    /// Returns the names of entity sets and singletons of the service that cannot be kept offline, since its
    /// metadata do not declare their types.
    ///
    /// - Throws: `StoreError`.
    public func setsOfUnknownTypes() async throws -> [String] {
        try await store.database.read { try UntypedSets.kept(in: $0) }
    }
}
