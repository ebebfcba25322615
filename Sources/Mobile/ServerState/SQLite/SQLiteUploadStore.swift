import Foundation
import GRDB

/// Uploads of devices in `intake.db`.
struct SQLiteUploadStore: DeviceUploadStore {
    let state: SQLiteServerState

    func begin(_ new: NewDeviceUpload) async throws(ServerStateError) -> DeviceUploadRecord {
        let now = state.clock()
        return try await state.intakeFile.write { database in
            guard try Self.record(new.id, in: database) == nil else {
                throw ServerStateError.alreadyExists(kind: "upload", name: new.id)
            }
            let (unfinished, bytes) = try Self.share(of: new, in: database)
            guard unfinished < DeviceUploadLimits.unfinished else {
                throw ServerStateError.limitExceeded(
                    name: "The number of unfinished uploads", limit: DeviceUploadLimits.unfinished)
            }
            guard bytes + (new.announcedSize ?? 0) <= DeviceUploadLimits.bytesOfDevice else {
                throw ServerStateError.limitExceeded(
                    name: "The size of all uploads", limit: Int(DeviceUploadLimits.bytesOfDevice))
            }
            try database.execute(
                sql: """
                    insert into upload (id, application, registration, app_user, kind, content_type, note,
                    consented_at, announced_size, announced_digest, state, created_at, expires_at)
                    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'receiving', ?, ?)
                    """,
                arguments: [
                    new.id, new.application, new.registration, new.user, new.kind.rawValue, new.contentType, new.note,
                    new.consentedAt?.rawValue, new.announcedSize, new.announcedDigest.map { Data($0) }, now.rawValue,
                    new.expiresAt.rawValue,
                ])
            return try Self.known(new.id, in: database)
        }
    }

    /// Returns the number of unfinished uploads of a device, and the bytes of all of them, announced ones included.
    private static func share(of new: NewDeviceUpload, in database: Database) throws -> (Int, Int64) {
        let row = try Row.fetchOne(
            database,
            sql: """
                select count(*) filter (where state = 'receiving') as unfinished,
                coalesce(sum(max(received, case state when 'receiving' then coalesce(announced_size, 0) else 0 end)), 0)
                as bytes from upload where application = ? and registration = ?
                """, arguments: [new.application, new.registration])
        return (row?["unfinished"] ?? 0, row?["bytes"] ?? 0)
    }

    func upload(_ id: String) async throws(ServerStateError) -> DeviceUploadRecord? {
        try await state.intakeFile.read { try Self.record(id, in: $0) }
    }

    func uploads(_ filter: DeviceUploadFilter) async throws(ServerStateError) -> [DeviceUploadRecord] {
        try await state.intakeFile.read { database in
            var (conditions, arguments): ([String], StatementArguments) = (["1 = 1"], [])
            func require(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
                guard let value else { return }
                conditions.append(condition)
                arguments += [value]
            }
            require("application = ?", filter.application)
            require("registration = ?", filter.registration)
            require("kind = ?", filter.kind?.rawValue)
            require("created_at < ?", filter.before?.rawValue)
            return try Row.fetchAll(
                database,
                sql: """
                    select * from upload where \(conditions.joined(separator: " and "))
                    order by created_at desc, id limit \(min(max(filter.limit, 1), 1000))
                    """, arguments: arguments
            ).map { try Self.record($0) }
        }
    }

    func append(_ bytes: [UInt8], to id: String, at offset: Int64) async throws(ServerStateError) -> Int64 {
        guard bytes.count <= DeviceUploadLimits.part else {
            throw .limitExceeded(name: "A part of an upload", limit: DeviceUploadLimits.part)
        }
        return try await state.intakeFile.write { database in
            let record = try Self.known(id, in: database)
            guard record.state == .receiving, record.receivedSize == offset else {
                throw ServerStateError.changed(kind: "upload", name: id)
            }
            guard !bytes.isEmpty else { return offset }
            let end = offset + Int64(bytes.count)
            // The limit holds for devices that announce no size, too.
            let (_, all) = try Self.share(of: record.upload, in: database)
            guard
                all + max(0, end - max(record.receivedSize, record.upload.announcedSize ?? 0))
                    <= DeviceUploadLimits.bytesOfDevice
            else {
                throw ServerStateError.limitExceeded(
                    name: "The size of all uploads", limit: Int(DeviceUploadLimits.bytesOfDevice))
            }
            try database.execute(
                sql: "insert into upload_part (upload, start, data) values (?, ?, ?)",
                arguments: [id, offset, Data(bytes)])
            try database.execute(sql: "update upload set received = ? where id = ?", arguments: [end, id])
            return end
        }
    }

    func finish(
        _ id: String, size: Int64, digest: [UInt8], expiresAt: ServerInstant
    ) async throws(ServerStateError) -> DeviceUploadRecord {
        try await state.intakeFile.write { database in
            let record = try Self.known(id, in: database)
            guard record.state == .receiving else {
                guard record.digest == digest, record.receivedSize == size else {
                    throw ServerStateError.changed(kind: "upload", name: id)
                }
                return record
            }
            guard record.receivedSize == size else { throw ServerStateError.changed(kind: "upload", name: id) }
            try database.execute(
                sql: "update upload set state = 'complete', digest = ?, expires_at = ? where id = ?",
                arguments: [Data(digest), expiresAt.rawValue, id])
            return try Self.known(id, in: database)
        }
    }

    func bytes(of id: String, from offset: Int64) async throws(ServerStateError) -> [UInt8] {
        try await state.intakeFile.read { database in
            let row = try Row.fetchOne(
                database,
                sql: "select start, data from upload_part where upload = ? and start <= ? order by start desc limit 1",
                arguments: [id, offset])
            guard let row, let data = row.bytes("data") else { return [] }
            return Array(data.dropFirst(Int(offset - (row["start"] as Int64))))
        }
    }

    func remove(_ id: String) async throws(ServerStateError) -> Bool {
        try await state.intakeFile.write { database in
            try database.execute(sql: "delete from upload where id = ?", arguments: [id])
            return database.changesCount > 0
        }
    }

    /// The uploads that one call of ``expire(at:in:)`` removes.
    private static let expirySteps = 20

    /// Removes uploads whose time is over.
    ///
    /// - Returns: Whether there may be more.
    static func expire(at now: ServerInstant, in database: Database) throws -> Bool {
        try database.execute(
            sql: "delete from upload where id in (select id from upload where expires_at < ? limit ?)",
            arguments: [now.rawValue, expirySteps])
        return database.changesCount >= expirySteps
    }

    // MARK: Rows

    private static func known(_ id: String, in database: Database) throws -> DeviceUploadRecord {
        guard let record = try record(id, in: database) else {
            throw ServerStateError.missing(kind: "upload", name: id)
        }
        return record
    }

    private static func record(_ id: String, in database: Database) throws -> DeviceUploadRecord? {
        try Row.fetchOne(database, sql: "select * from upload where id = ?", arguments: [id]).map { try record($0) }
    }

    private static func record(_ row: Row) throws -> DeviceUploadRecord {
        let id: String = row["id"]
        guard let kind = DeviceUploadKind(rawValue: row["kind"]), let state = DeviceUploadState(rawValue: row["state"])
        else { throw ServerStateError.damaged(reason: "the upload '\(id)' cannot be read") }
        return DeviceUploadRecord(
            upload: NewDeviceUpload(
                id: id, application: row["application"], registration: row["registration"], user: row["app_user"],
                kind: kind, contentType: row["content_type"], note: row["note"],
                consentedAt: row.moment("consented_at"), announcedSize: row["announced_size"],
                announcedDigest: row.bytes("announced_digest"), expiresAt: ServerInstant(rawValue: row["expires_at"])),
            state: state, receivedSize: row["received"], digest: row.bytes("digest"),
            createdAt: ServerInstant(rawValue: row["created_at"]))
    }
}
