import GRDB
import ODataModel
import ODataSQL

/// What a connection to the service of a store is made from.
///
/// ```swift
/// let store = try await OfflineStore.open(at: directory, protection: protection, connecting: { basis in
///     try ODataClient(serviceRoot: basis.serviceRoot, transport: transport, model: basis.model)
/// })
/// ```
public struct ConnectionBasis: Sendable {
    /// The root of the service that the store was made for.
    public let serviceRoot: String
    /// The service's model, as kept with the store.
    public let model: EntityDataModel
    /// What the app keeps with the store, by name (``OfflineStore/setKeptText(_:to:)``).
    public let texts: [String: String]
}

extension OfflineStore {
    /// Keeps a text with the store, for whatever the app needs in order to connect again: not for secrets, which belong in a
    /// vault. It stays when the store is given to another user.
    ///
    /// - Parameters:
    ///   - name: The app's name for it.
    ///   - text: The text; `nil` to forget it.
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

    /// The texts that the app keeps with the store, by name.
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
