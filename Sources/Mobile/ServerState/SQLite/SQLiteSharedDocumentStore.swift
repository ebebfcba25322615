import Foundation
import GRDB

/// Shared JSON documents in `state.db`.
struct SQLiteSharedDocumentStore: SharedDocumentStore {
    let state: SQLiteServerState

    private var sealing: Sealing { Sealing(state.keys) }

    func document(
        _ key: SharedDocumentKey
    ) async throws(ServerStateError) -> (record: SharedDocumentRecord, body: [UInt8])? {
        let sealing = sealing
        return try await state.stateFile.read { database in
            guard let row = try Self.row(key, in: database) else { return nil }
            let record = Self.record(row)
            let body = try sealing.open(
                row["sealed"], table: "storage_item", column: "sealed", key: Self.place(key, record.version))
            return (record, body ?? [])
        }
    }

    func documents(
        of application: RecordNumber, scope: SharedDocumentScope, owner: String
    ) async throws(ServerStateError) -> [SharedDocumentRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    select application, scope, owner, name, version, size, updated_at from storage_item
                    where application = ? and scope = ? and owner = ? order by name
                    """, arguments: [application, scope.rawValue, owner]
            ).map(Self.record)
        }
    }

    func documents(of application: RecordNumber) async throws(ServerStateError) -> [SharedDocumentRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    select application, scope, owner, name, version, size, updated_at from storage_item
                    where application = ? order by scope, owner, name
                    """, arguments: [application]
            ).map(Self.record)
        }
    }

    func put(
        _ body: [UInt8], _ key: SharedDocumentKey, when condition: SharedDocumentCondition
    ) async throws(ServerStateError) -> (record: SharedDocumentRecord, isNew: Bool) {
        guard body.count <= SharedDocumentLimits.size else {
            throw .limitExceeded(name: "The document", limit: SharedDocumentLimits.size)
        }
        guard !key.name.isEmpty, key.name.count <= SharedDocumentLimits.name else {
            throw .limitExceeded(name: "The name", limit: SharedDocumentLimits.name)
        }
        let (now, sealing) = (state.clock(), sealing)
        return try await state.stateFile.write { database in
            let application = try SQLiteApplicationStore.name(of: key.application, in: database)
            try Self.checkOwner(key, in: database)
            let known = try Self.row(key, in: database).map(Self.record)
            try Self.check(condition, known, key: key)
            if known == nil {
                let count = try Int.fetchOne(
                    database,
                    sql: "select count(*) from storage_item where application = ? and scope = ? and owner = ?",
                    arguments: [key.application, key.scope.rawValue, key.owner])
                guard (count ?? 0) < SharedDocumentLimits.count else {
                    throw ServerStateError.limitExceeded(
                        name: "The number of documents", limit: SharedDocumentLimits.count)
                }
            }
            let version = try SQLiteServerState.nextChange(of: application, in: database)
            let sealed = try sealing.seal(
                body, table: "storage_item", column: "sealed", key: Self.place(key, version))
            try database.execute(
                sql: "insert or replace into storage_item values (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    key.application, key.scope.rawValue, key.owner, key.name, version, body.count, sealed,
                    now.rawValue,
                ])
            let record = SharedDocumentRecord(key: key, version: version, size: body.count, updatedAt: now)
            return (record, known == nil)
        }
    }

    func remove(_ key: SharedDocumentKey, _ condition: SharedDocumentCondition) async throws(ServerStateError) {
        try await state.stateFile.write { database in
            guard let row = try Self.row(key, in: database) else {
                throw ServerStateError.missing(kind: "document", name: key.name)
            }
            try Self.check(condition, Self.record(row), key: key)
            try database.execute(
                sql: "delete from storage_item where application = ? and scope = ? and owner = ? and name = ?",
                arguments: Self.arguments(key))
        }
    }

    // MARK: Rows

    private static func check(
        _ condition: SharedDocumentCondition, _ known: SharedDocumentRecord?, key: SharedDocumentKey
    ) throws {
        let holds =
            switch condition {
            case .none: true
            case .version(let version): known?.version == version
            case .exists: known != nil
            case .isMissing: known == nil
            }
        guard holds else { throw ServerStateError.changed(kind: "document", name: key.name) }
    }

    /// Refuses documents of users and registrations that do not exist, which nothing would remove.
    private static func checkOwner(_ key: SharedDocumentKey, in database: Database) throws {
        let sql: String
        switch key.scope {
        case .application:
            guard key.owner.isEmpty else { throw ServerStateError.missing(kind: "owner", name: key.owner) }
            return
        case .user: sql = "select 1 from app_user where application = ? and id = cast(? as integer)"
        case .device: sql = "select 1 from registration where application = ? and id = ? and state <> 205"
        }
        guard try Int.fetchOne(database, sql: sql, arguments: [key.application, key.owner]) != nil else {
            throw ServerStateError.missing(kind: key.scope == .user ? "user" : "registration", name: key.owner)
        }
    }

    private static func arguments(_ key: SharedDocumentKey) -> StatementArguments {
        [key.application, key.scope.rawValue, key.owner, key.name]
    }

    private static func row(_ key: SharedDocumentKey, in database: Database) throws -> Row? {
        try Row.fetchOne(
            database,
            sql: "select * from storage_item where application = ? and scope = ? and owner = ? and name = ?",
            arguments: arguments(key))
    }

    private static func record(_ row: Row) -> SharedDocumentRecord {
        SharedDocumentRecord(
            key: SharedDocumentKey(
                application: row["application"],
                // A scope that this build does not know is the narrowest one.
                scope: SharedDocumentScope(rawValue: row["scope"]) ?? .device, owner: row["owner"], name: row["name"]),
            version: row["version"], size: row["size"], updatedAt: ServerInstant(rawValue: row["updated_at"]))
    }

    /// The place of the content, with which an older content cannot be put back.
    private static func place(_ key: SharedDocumentKey, _ version: ChangeNumber) -> String {
        "\(key.application)/\(key.scope.rawValue)/\(key.owner.utf8.count)/\(key.owner)/\(key.name)/\(version)"
    }
}
