import GRDB
import ODataSQL
import ODataService

/// The treatment of the previous user's pending changes when a store is handed over.
///
/// ```swift
/// let before = try ODataClient(
///     serviceRoot: root, transport: transport, authentication: .basic(user: "bob", password: password))
/// try await store.users.switch(to: "anna", pending: .upload(through: before))
/// ```
public enum PendingChanges: Sendable {
    /// The store stays with the previous user if there are any.
    case refuse
    /// They are sent first, for the previous user: `through` is a connection with that user's credentials. The
    /// upload uses the options of the store, as ``OfflineStore/upload(options:)`` does. The store stays with the
    /// previous user if one of them is not accepted, or is older than
    /// ``OfflineStore/SyncOptions/localChangeExpiry``.
    case upload(through: any ODataProvider)
    /// They are lost, and so are drafts and other data that only the store has.
    case discard
}

extension OfflineStore {
    /// The users of the store.
    public var users: Users { Users(store: self) }

    /// The users of a store that several people share, one at a time.
    ///
    /// ```swift
    /// if try await store.users.current() != "anna" {
    ///     try await store.users.switch(to: "anna", pending: .upload(through: client))
    ///     try await store.download()
    /// }
    /// ```
    public struct Users: Sendable {
        let store: OfflineStore
    }

    static let userSetting = "user.current"
    fileprivate static let logSetting = "user.logHasOthers"
}

extension OfflineStore.Users {
    /// Returns the user of the store; `nil` if there never was one.
    ///
    /// - Throws: `StoreError`.
    public func current() async throws -> String? {
        try await store.database.read { try Settings.text(OfflineStore.userSetting, in: $0) }
    }

    /// Hands a store that several users share over to one of them.
    ///
    /// For the first user, and for the current one, nothing else happens. For another user, the pending changes
    /// are settled. Then all data that the service gave to the previous user are removed in one transaction:
    /// rows, delta links, archive and events. The defining queries stay, not loaded; a download fills them for
    /// the new user. Removed data are overwritten in the file.
    ///
    /// Rows of shared queries (``DefiningQuery/isShared``) stay, with the properties, streams and relations that
    /// these queries bring and nothing else, and the next download brings only changes. Properties from other
    /// queries are removed, and so are discarded changes.
    ///
    /// Drafts and entities of client-only sets exist nowhere else. If there are any, the store stays with the
    /// previous user unless `pending` discards, which removes them too. Activate the drafts, or remove all of it
    /// by ``OfflineStore/Drafts/purgeClientOnlyData()``.
    ///
    /// A concurrent read sees the rows of one user, never of both.
    ///
    /// - Parameters:
    ///   - user: The new user of the store.
    ///   - pending: The treatment of the previous user's changes.
    /// - Returns: Whether the user changed.
    /// - Throws: ``UserSwitchError`` (−10425) with the previous user, who then still has the store;
    ///   ``OfflineError/busy(processID:)``; `StoreError`.
    @discardableResult
    public func `switch`(to user: String, pending: PendingChanges = .refuse) async throws -> Bool {
        guard let previous = try await current() else {
            try await store.database.write { try Settings.set(OfflineStore.userSetting, user, in: $0) }
            return false
        }
        guard previous != user else { return false }
        try await leave(previous, for: user, pending)
        return true
    }

    /// Takes the store from its user, and gives it to nobody: everything that the service gave to the user is removed, as by
    /// ``switch(to:pending:)``. The next one is named by that.
    ///
    /// - Parameter pending: the treatment of the user's changes.
    /// - Returns: whether the store had a user.
    /// - Throws: as ``switch(to:pending:)``.
    @discardableResult
    public func remove(pending: PendingChanges = .refuse) async throws -> Bool {
        guard let previous = try await current() else { return false }
        try await leave(previous, for: nil, pending)
        return true
    }

    /// Removes what the service gave to the user of the store, and sets the next one.
    private func leave(_ previous: String, for user: String?, _ pending: PendingChanges) async throws {
        // No upload or download of the previous user may continue after the change.
        let lock = try SyncLock(path: StoreFiles.lock(in: store.directory))
        defer { withExtendedLifetime(lock) {} }
        if case .upload(let remote) = pending { try await store.uploadAll(of: previous, to: remote) }
        let discards = if case .discard = pending { true } else { false }
        try await store.database.write { [store] database in
            // Counted in the transaction that removes them: no edit comes in between.
            let waiting = try store.queue.requests(in: database).count
            guard waiting == 0 || discards else {
                throw UserSwitchError.changesWait(previousUser: previous, count: waiting)
            }
            let own = try LocalModel.countRows(of: store.model, in: database)
            guard own == 0 || discards else {
                throw UserSwitchError.localEntitiesRemain(previousUser: previous, count: own)
            }
            if try QueryTable.all(in: database).contains(where: { $0.isShared && $0.isLoaded }) {
                if waiting > 0 { try store.takeBackAll(in: database) }
                try PrivateData(mapping: store.mapping, indexes: store.propertyIndexes).remove(in: database)
            } else {
                try ServiceData.remove(in: database)
            }
            if let user {
                try Settings.set(OfflineStore.userSetting, user, in: database)
            } else {
                try Settings.remove(OfflineStore.userSetting, in: database)
            }
            try Settings.set(OfflineStore.logSetting, "yes", in: database)
            let event = user == nil ? "the store was taken from its user" : "the store was given to another user"
            try Events.add("user", event, environment: store.environment, in: database)
        }
        store.sessionParameters.withLock { $0 = [:] }
        await store.emptyLog()
    }
}

extension OfflineStore {
    /// Undoes all changes, including those with an unknown outcome. Their server versions come with the next
    /// download, which compares all rows.
    fileprivate func takeBackAll(in database: Database) throws {
        var sets: Set<String> = []
        for request in try queue.requests(in: database) where request.state == .sending || request.state == .inDoubt {
            if let set = request.touchedRow?.set { sets.insert(set) }
            try queue.markPending(request.id, forgetsIdentification: true, in: database)
        }
        try undoAll(in: database)
        for query in try QueryTable.all(in: database) where !sets.isDisjoint(with: query.sets(in: mapping)) {
            try QueryTable.requireComparison(of: query, in: database)
        }
    }

    /// Empties the log, which may still have pages with the removed data. If a connection reads from it for too
    /// long, the next synchronisation or change of the user does it.
    func emptyLog() async {
        try? await database.pool.writeWithoutTransaction { database in
            guard try Settings.text(Self.logSetting, in: database) == "yes" else { return }
            _ = try database.checkpoint(.truncate)
            try Settings.set(Self.logSetting, "no", in: database)
        }
    }

    fileprivate func uploadAll(of previous: String, to remote: any ODataProvider) async throws {
        var reason = "some were refused or are in doubt"
        let former = progressChannel.state
        progressChannel.begin(.upload(folds: false))
        defer { progressChannel.enter(former) }
        do {
            _ = try await upload(to: RefusingProvider(base: options.assumingOffset(of: remote)), UploadOptions())
        } catch {
            reason = "\(error)"
        }
        let remaining = try await database.read { [queue] in try queue.requests(in: $0).count }
        guard remaining == 0 else {
            throw UserSwitchError.uploadFailed(previousUser: previous, remaining: remaining, reason: reason)
        }
        progressChannel.report(SyncProgress(phase: .finished))
    }
}

/// All data in a store that came from the service, or are about them, except its metadata.
enum ServiceData {
    /// The tables that belong to the store and not to a user.
    static let kept: Set = ["outpost_setting", "outpost_query"]

    /// Empties all other tables, and marks every defining query as not loaded.
    ///
    /// The tables are listed from the file, so that none can be forgotten.
    static func remove(in database: Database) throws {
        // Overwrites deleted data; this is the default only on Debian.
        try database.setPragma(.secureDelete, "ON")
        let tables = try StoreTable.all(in: database)
        for table in tables where !table.isVirtual && !kept.contains(table.name) {
            try database.execute(sql: "DELETE FROM \(table.name.sqlIdentifier)")
        }
        // The words of removed rows are still in the pages of search indexes.
        for table in tables where table.isVirtual { try table.removeWords(in: database) }
        try removeParameters(in: database)
        try database.execute(
            sql: """
                UPDATE outpost_query SET is_loaded = 0, next_link = NULL, delta_link = NULL, last_download = NULL;
                INSERT INTO \(OfflineLayout.hiddenOwnerTable)(id) SELECT id FROM outpost_query;
                """)
    }

    /// Removes the parameter values of the previous user's queries.
    static func removeParameters(in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM outpost_setting WHERE name LIKE ? || '%'", arguments: [QueryParameters.prefix])
    }
}

/// A table of a store's file, as SQLite lists it.
struct StoreTable {
    let name: String
    let isVirtual: Bool

    /// Removes a search index, with its triggers.
    func drop(in database: Database) throws {
        let triggers = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ?",
            arguments: [name.unicodeScalars.count + 1, "\(name)$"])
        for trigger in triggers { try database.execute(sql: "DROP TRIGGER \(trigger.sqlIdentifier)") }
        try database.execute(sql: "DROP TABLE \(name.sqlIdentifier)")
    }

    /// Empties a search index.
    func removeWords(in database: Database) throws {
        let table = name.sqlIdentifier
        try database.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('delete-all')")
    }

    /// All tables except SQLite's own and those behind virtual tables, which change with them.
    static func all(in database: Database) throws -> [StoreTable] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')")
        return rows.map { StoreTable(name: $0["name"], isVirtual: $0["type"] == "virtual") }
            .filter { !$0.name.hasPrefix("sqlite_") }
    }
}
