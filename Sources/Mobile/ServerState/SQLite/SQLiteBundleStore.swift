import Foundation
import GRDB

/// Customization bundles in `intake.db`.
struct SQLiteBundleStore: DeviceBundleStore {
    let state: SQLiteServerState

    func begin(_ key: DeviceBundleKey, fileExtension: String, file: String) async throws(ServerStateError) {
        for text in [key.name, key.version, fileExtension] {
            guard !text.isEmpty, text.count <= DeviceBundleLimits.name else {
                throw .limitExceeded(name: "The name of a bundle", limit: DeviceBundleLimits.name)
            }
        }
        let now = state.clock()
        try await state.intakeFile.write { database in
            try Self.checkNew(key, in: database)
            let count = try Int.fetchOne(
                database, sql: "select count(*) from bundle where application = ?", arguments: [key.application])
            guard (count ?? 0) < DeviceBundleLimits.count else {
                throw ServerStateError.limitExceeded(name: "The number of bundles", limit: DeviceBundleLimits.count)
            }
            try database.execute(
                sql: """
                    insert into bundle (file, application, name, version, extension, created_at)
                    values (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [file, key.application, key.name, key.version, fileExtension, now.rawValue])
        }
    }

    /// Refuses a key that a finished bundle has.
    private static func checkNew(_ key: DeviceBundleKey, in database: Database) throws {
        guard try row(key, in: database) == nil else {
            throw ServerStateError.alreadyExists(kind: "bundle", name: "\(key.name):\(key.version)")
        }
    }

    func append(_ bytes: [UInt8], to file: String, at offset: Int64) async throws(ServerStateError) -> Int64 {
        guard bytes.count <= DeviceBundleLimits.part, offset + Int64(bytes.count) <= DeviceBundleLimits.size else {
            throw .limitExceeded(name: "The bundle", limit: Int(DeviceBundleLimits.size))
        }
        return try await state.intakeFile.write { database in
            let row = try Self.unfinished(file, in: database)
            guard row["size"] == offset else { throw ServerStateError.changed(kind: "bundle", name: file) }
            guard !bytes.isEmpty else { return offset }
            let end = offset + Int64(bytes.count)
            try database.execute(
                sql: "insert into bundle_part (file, start, data) values (?, ?, ?)",
                arguments: [file, offset, Data(bytes)])
            try database.execute(sql: "update bundle set size = ? where file = ?", arguments: [end, file])
            return end
        }
    }

    private static func unfinished(_ file: String, in database: Database) throws -> Row {
        let row = try Row.fetchOne(
            database, sql: "select * from bundle where file = ? and digest is null", arguments: [file])
        guard let row else { throw ServerStateError.missing(kind: "bundle", name: file) }
        return row
    }

    func finish(
        _ file: String, digest: [UInt8], manifest: String?
    ) async throws(ServerStateError) -> DeviceBundleRecord {
        try await state.intakeFile.write { database in
            let row = try Self.unfinished(file, in: database)
            let key = Self.key(row)
            try Self.checkNew(key, in: database)
            try database.execute(
                sql: "update bundle set digest = ?, manifest = ? where file = ?",
                arguments: [Data(digest), manifest, file])
            return try Self.known(key, in: database)
        }
    }

    func abandon(_ file: String) async throws(ServerStateError) {
        try await state.intakeFile.write { database in
            try database.execute(sql: "delete from bundle where file = ? and digest is null", arguments: [file])
        }
    }

    // MARK: Reading

    func bundle(_ key: DeviceBundleKey) async throws(ServerStateError) -> DeviceBundleRecord? {
        try await state.intakeFile.read { try Self.row(key, in: $0).map(Self.record) }
    }

    func bundles(of application: RecordNumber) async throws(ServerStateError) -> [DeviceBundleRecord] {
        try await state.intakeFile.read { database in
            try Row.fetchAll(
                database,
                sql: "select * from bundle where application = ? and digest is not null order by name, version",
                arguments: [application]
            ).map(Self.record)
        }
    }

    func bytes(of key: DeviceBundleKey, from offset: Int64) async throws(ServerStateError) -> [UInt8] {
        try await state.intakeFile.read { database in
            guard let file = try Self.row(key, in: database)?["file"] as String? else { return [] }
            return try Self.bytes(file, from: offset, in: database)
        }
    }

    func bytes(ofFile file: String, from offset: Int64) async throws(ServerStateError) -> [UInt8] {
        try await state.intakeFile.read { try Self.bytes(file, from: offset, in: $0) }
    }

    private static func bytes(_ file: String, from offset: Int64, in database: Database) throws -> [UInt8] {
        let row = try Row.fetchOne(
            database,
            sql: "select start, data from bundle_part where file = ? and start <= ? order by start desc limit 1",
            arguments: [file, offset])
        guard let row, let data = row.bytes("data") else { return [] }
        return Array(data.dropFirst(Int(offset - (row["start"] as Int64))))
    }

    // MARK: Changing

    func setStage(
        _ stage: DeviceBundleStage, _ key: DeviceBundleKey
    ) async throws(ServerStateError) -> DeviceBundleRecord {
        try await state.intakeFile.write { database in
            _ = try Self.known(key, in: database)
            try database.execute(
                sql: """
                    update bundle set stage = ? where application = ? and name = ? and version = ?
                    and digest is not null
                    """, arguments: [stage.rawValue, key.application, key.name, key.version])
            return try Self.known(key, in: database)
        }
    }

    func setDefault(_ key: DeviceBundleKey?, of application: RecordNumber) async throws(ServerStateError) {
        try await state.intakeFile.write { database in
            if let key { _ = try Self.known(key, in: database) }
            try database.execute(
                sql: """
                    update bundle set is_default = (name is ?2 and version is ?3 and digest is not null)
                    where application = ?1
                    """, arguments: [application, key?.name, key?.version])
        }
    }

    func remove(_ key: DeviceBundleKey) async throws(ServerStateError) -> Bool {
        try await state.intakeFile.write { database in
            guard let file = try Self.row(key, in: database)?["file"] as String? else { return false }
            try database.execute(sql: "delete from bundle where file = ?", arguments: [file])
            return true
        }
    }

    /// Removes unfinished bundles whose time is over.
    static func expire(at now: ServerInstant, in database: Database) throws {
        try database.execute(
            sql: "delete from bundle where digest is null and created_at < ?",
            arguments: [(now - DeviceBundleLimits.unfinishedAge).rawValue])
    }

    // MARK: Rows

    private static func row(_ key: DeviceBundleKey, in database: Database) throws -> Row? {
        try Row.fetchOne(
            database,
            sql: "select * from bundle where application = ? and name = ? and version = ? and digest is not null",
            arguments: [key.application, key.name, key.version])
    }

    private static func known(_ key: DeviceBundleKey, in database: Database) throws -> DeviceBundleRecord {
        guard let row = try row(key, in: database) else {
            throw ServerStateError.missing(kind: "bundle", name: "\(key.name):\(key.version)")
        }
        return record(row)
    }

    private static func key(_ row: Row) -> DeviceBundleKey {
        DeviceBundleKey(application: row["application"], name: row["name"], version: row["version"])
    }

    private static func record(_ row: Row) -> DeviceBundleRecord {
        DeviceBundleRecord(
            key: key(row), fileExtension: row["extension"], digest: row.bytes("digest") ?? [], size: row["size"],
            // A stage that this build does not know is the narrowest one.
            stage: DeviceBundleStage(rawValue: row["stage"]) ?? .staged, isDefault: row["is_default"],
            manifest: row["manifest"], createdAt: ServerInstant(rawValue: row["created_at"]))
    }
}
