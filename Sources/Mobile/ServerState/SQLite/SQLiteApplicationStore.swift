import Crypto
import Foundation
import GRDB

/// Applications in `state.db`.
struct SQLiteApplicationStore: ApplicationStore {
    let state: SQLiteServerState

    private static let scope = ChangeNumberScope.server

    func all() async throws(ServerStateError) -> [ApplicationRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(database, sql: "select * from application order by name").map(Self.application)
        }
    }

    func application(named name: String) async throws(ServerStateError) -> ApplicationRecord? {
        try await state.stateFile.read { try Self.application(named: name, in: $0) }
    }

    func add(
        named name: String, title: String, domain: String, state applicationState: ApplicationState
    ) async throws(ServerStateError) -> ApplicationRecord {
        let now = state.clock()
        return try await state.stateFile.write { database in
            guard try Self.application(named: name, in: database) == nil else {
                throw ServerStateError.alreadyExists(kind: "application", name: name)
            }
            let change = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            try database.execute(
                sql: """
                    insert into application (name, domain, title, state, etag, change, created_at)
                    values (?, ?, ?, ?, ?, ?, ?)
                    """, arguments: [name, domain, title, applicationState.rawValue, change, change, now.rawValue])
            return try Self.known(name, in: database)
        }
    }

    func update(
        _ name: String, ifMatch etag: ChangeNumber?, _ change: ApplicationChange
    ) async throws(ServerStateError) -> ApplicationRecord {
        try await state.stateFile.write { database in
            let record = try Self.matching(name, etag, in: database)
            let number = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            try database.execute(
                sql: "update application set title = ?, domain = ?, state = ?, etag = ?, change = ? where id = ?",
                arguments: [
                    change.title ?? record.title, change.domain ?? record.domain,
                    (change.state ?? record.state).rawValue, number, number, record.id,
                ])
            return try Self.known(name, in: database)
        }
    }

    func remove(_ name: String, ifMatch etag: ChangeNumber?) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            let record = try Self.matching(name, etag, in: database)
            try database.execute(sql: "delete from application where id = ?", arguments: [record.id])
            try SQLiteServerState.noteRemoval(
                of: name, from: "application", scope: Self.scope, at: now, in: database)
        }
    }

    func configurations(of application: RecordNumber) async throws(ServerStateError) -> [ConfigurationRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from configuration where application = ? order by version desc",
                arguments: [application]
            ).map(Self.configuration)
        }
    }

    func configuration(
        _ version: Int, of application: RecordNumber
    ) async throws(ServerStateError) -> ConfigurationRecord? {
        try await state.stateFile.read { database in
            try Row.fetchOne(
                database, sql: "select * from configuration where application = ? and version = ?",
                arguments: [application, version]
            ).map(Self.configuration)
        }
    }

    func addConfiguration(
        _ body: [UInt8], to application: RecordNumber, by author: String
    ) async throws(ServerStateError) -> ConfigurationRecord {
        let now = state.clock()
        let hash = Data(SHA256.hash(data: body))
        return try await state.stateFile.write { database in
            _ = try Self.name(of: application, in: database)
            let newest = try Row.fetchOne(
                database, sql: "select * from configuration where application = ? order by version desc limit 1",
                arguments: [application]
            ).map(Self.configuration)
            if let newest, newest.hash.elementsEqual(hash) { return newest }
            let change = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            let version = (newest?.version ?? 0) + 1
            try database.execute(
                sql: "insert into configuration values (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    application, version, Data(body), hash, ConfigurationState.draft.rawValue, author, now.rawValue,
                    change,
                ])
            return ConfigurationRecord(
                application: application, version: version, body: body, hash: Array(hash), state: .draft,
                createdBy: author, createdAt: now, change: change)
        }
    }

    func activate(
        _ version: Int, of application: RecordNumber, ifActive active: Int?
    ) async throws(ServerStateError) -> ApplicationRecord {
        try await state.stateFile.write { database in
            let name = try Self.name(of: application, in: database)
            let record = try Self.known(name, in: database)
            guard active == nil || active == record.activeVersion else {
                throw ServerStateError.changed(kind: "application", name: name)
            }
            let change = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            try database.execute(
                sql:
                    "update configuration set state = 'retired', change = ? where application = ? and state = 'active'",
                arguments: [change, application])
            try database.execute(
                sql: "update configuration set state = 'active', change = ? where application = ? and version = ?",
                arguments: [change, application, version])
            guard database.changesCount == 1 else {
                throw ServerStateError.missing(kind: "configuration", name: "\(name) \(version)")
            }
            try database.execute(
                sql: "update application set active_version = ?, etag = ?, change = ? where id = ?",
                arguments: [version, change, change, application])
            return try Self.known(name, in: database)
        }
    }

    // MARK: Rows

    /// Returns the name of an application, which is the scope of its change numbers.
    static func name(of application: RecordNumber, in database: Database) throws -> String {
        let name = try String.fetchOne(
            database, sql: "select name from application where id = ?", arguments: [application])
        guard let name else { throw ServerStateError.missing(kind: "application", name: "\(application)") }
        return name
    }

    private static func application(named name: String, in database: Database) throws -> ApplicationRecord? {
        try Row.fetchOne(database, sql: "select * from application where name = ?", arguments: [name])
            .map(application)
    }

    private static func known(_ name: String, in database: Database) throws -> ApplicationRecord {
        guard let record = try application(named: name, in: database) else {
            throw ServerStateError.missing(kind: "application", name: name)
        }
        return record
    }

    private static func matching(
        _ name: String, _ etag: ChangeNumber?, in database: Database
    ) throws -> ApplicationRecord {
        let record = try known(name, in: database)
        guard etag == nil || etag == record.etag else {
            throw ServerStateError.changed(kind: "application", name: name)
        }
        return record
    }

    private static func application(_ row: Row) -> ApplicationRecord {
        ApplicationRecord(
            id: row["id"], name: row["name"], domain: row["domain"], title: row["title"],
            state: ApplicationState(rawValue: row["state"]) ?? .suspended, activeVersion: row["active_version"],
            etag: row["etag"], change: row["change"], createdAt: ServerInstant(rawValue: row["created_at"]))
    }

    private static func configuration(_ row: Row) -> ConfigurationRecord {
        ConfigurationRecord(
            application: row["application"], version: row["version"], body: row.bytes("body") ?? [],
            hash: row.bytes("hash") ?? [], state: ConfigurationState(rawValue: row["state"]) ?? .retired,
            createdBy: row["created_by"], createdAt: ServerInstant(rawValue: row["created_at"]),
            change: row["change"])
    }
}
