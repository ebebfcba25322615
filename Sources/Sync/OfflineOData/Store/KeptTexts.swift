import GRDB
import ODataModel
import ODataSQL

/// The basis for a connection to the service of a store.
///
/// ```swift
/// let store = try await OfflineStore.open(at: directory, protection: protection, connecting: { basis in
///     try ODataClient(serviceRoot: basis.serviceRoot, transport: transport, model: basis.model)
/// })
/// ```
public struct ConnectionBasis: Sendable {
    /// The root of the service.
    public let serviceRoot: String
    /// The service's model, as stored.
    public let model: EntityDataModel
    /// The app's texts by name (``OfflineStore/setKeptText(_:to:)``).
    public let texts: [String: String]
}

extension OfflineStore {
    /// Stores a text that the app needs to connect again. Secrets do not belong here, but in a vault. The text
    /// stays after a change of the user.
    ///
    /// - Parameters:
    ///   - name: The app's name for it.
    ///   - text: The text; `nil` to remove it.
    /// - Throws: `StoreError`.
    public func setKeptText(_ name: String, to text: String?) async throws {
        try await database.write { database in
            if let text {
                try Settings.set(KeptTexts.prefix + name, text, in: database)
            } else {
                try database.execute(
                    sql: "DELETE FROM outpost_setting WHERE name = ?", arguments: [KeptTexts.prefix + name])
            }
        }
    }

    /// Returns the app's texts by name.
    ///
    /// - Throws: `StoreError`.
    public func keptTexts() async throws -> [String: String] {
        try await database.read { try KeptTexts.all(in: $0) }
    }
}

/// The texts of the app among the settings.
enum KeptTexts {
    static let prefix = "app.text."

    static func all(in database: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT name, CAST(value AS TEXT) FROM outpost_setting WHERE substr(name, 1, ?) = ?",
            arguments: [prefix.unicodeScalars.count, prefix])
        var texts: [String: String] = [:]
        for row in rows {
            let name: String = row[0]
            texts[String(name.dropFirst(prefix.count))] = row[1]
        }
        return texts
    }
}
