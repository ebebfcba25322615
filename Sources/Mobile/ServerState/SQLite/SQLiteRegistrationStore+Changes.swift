import Foundation
import GRDB

/// Changes of registrations, and their settings.
extension SQLiteRegistrationStore {
    func update(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?, _ change: RegistrationChange
    ) async throws(ServerStateError) -> RegistrationRecord {
        let sealing = sealing
        return try await state.stateFile.write { database in
            _ = try Self.matching(id, of: application, ifMatch: etag, sealing, in: database)
            _ = try Self.touch(id, application, in: database)
            if let new = change.device {
                var device = new
                device.pushTarget = nil
                let target = try sealing.seal(
                    new.pushTarget.map { Array($0.utf8) }, table: "registration", column: "push_target",
                    key: Self.key(application, id))
                try database.execute(
                    sql: "update registration set device = ?, push_target = ? where application = ? and id = ?",
                    arguments: [try Self.text(device), target, application, id])
            }
            if let key = change.publicKey {
                try database.execute(
                    sql: "update registration set public_key = ? where application = ? and id = ?",
                    arguments: [Data(key), application, id])
            }
            if let certificate = change.certificate {
                try database.execute(
                    sql: """
                        update registration set certificate_serial = ?, certificate_until = ?
                        where application = ? and id = ?
                        """,
                    arguments: [Data(certificate.serial), certificate.until.rawValue, application, id])
            }
            return try Self.known(id, of: application, sealing, in: database)
        }
    }

    func setLock(
        _ lock: DeviceLock, confirmation: [UInt8]?, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord {
        let sealing = sealing
        return try await state.stateFile.write { database in
            _ = try Self.known(id, of: application, sealing, in: database)
            let number = try Self.touch(id, application, in: database)
            let sealed = try sealing.seal(
                confirmation, table: "registration", column: "lock_confirmation", key: Self.key(application, id))
            try database.execute(
                sql: """
                    update registration set lock_state = ?, lock_version = ?, lock_confirmed = 0,
                    lock_confirmation = ?, state = case when ? = 'wipe' then 204 else state end
                    where application = ? and id = ?
                    """,
                arguments: [lock.rawValue, number, sealed, lock.rawValue, application, id])
            return try Self.known(id, of: application, sealing, in: database)
        }
    }

    func confirmLock(
        version: ChangeNumber, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord? {
        let (sealing, now) = (sealing, state.clock())
        return try await state.stateFile.write { database in
            let record = try Self.known(id, of: application, sealing, in: database)
            guard record.lockVersion == version else { return nil }
            guard !record.isLockConfirmed else { return record }
            _ = try Self.touch(id, application, in: database)
            try database.execute(
                sql: "update registration set lock_confirmed = 1 where application = ? and id = ?",
                arguments: [application, id])
            if record.lock == .wipe { try Self.end(id, application, at: now, in: database) }
            return try Self.known(id, of: application, sealing, in: database)
        }
    }

    func unregister(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?
    ) async throws(ServerStateError) {
        let (sealing, now) = (sealing, state.clock())
        try await state.stateFile.write { database in
            let record = try Self.matching(id, of: application, ifMatch: etag, sealing, in: database)
            guard record.state != .unregistered else { return }
            _ = try Self.touch(id, application, in: database)
            try Self.end(id, application, at: now, in: database)
        }
    }

    func noteSeen(_ seen: [RegistrationSeen]) async throws(ServerStateError) {
        guard !seen.isEmpty else { return }
        try await state.stateFile.write { database in
            let statement = try database.cachedStatement(
                sql: """
                    insert into last_seen (application, registration, seen_at)
                    select application, id, ?1 from registration where application = ?2 and id = ?3
                    on conflict (application, registration) do update set seen_at = max(seen_at, excluded.seen_at)
                    """)
            for note in seen {
                try statement.execute(arguments: [note.at.rawValue, note.application, note.id])
            }
        }
    }

    /// Ends a registration: only its row stays for 30 days.
    private static func end(
        _ id: String, _ application: RecordNumber, at now: ServerInstant, in database: Database
    ) throws {
        try database.execute(
            sql: """
                update registration set state = 205, ended_at = ?, public_key = null, certificate_serial = null,
                certificate_until = null, push_target = null where application = ? and id = ?
                """, arguments: [now.rawValue, application, id])
        try database.execute(
            sql: "delete from setting where application = ? and registration = ?", arguments: [application, id])
        try database.execute(
            sql: "delete from policy where application = ? and scope = 'registration' and target = ?",
            arguments: [application, id])
        try database.execute(
            sql: "delete from activation where application = ? and registration = ?", arguments: [application, id])
    }

    /// Gives a registration its next ETag and change number.
    private static func touch(
        _ id: String, _ application: RecordNumber, in database: Database
    ) throws -> ChangeNumber {
        let scope = try SQLiteApplicationStore.name(of: application, in: database)
        let change = try SQLiteServerState.nextChange(of: scope, in: database)
        try database.execute(
            sql: "update registration set etag = ?, change = ? where application = ? and id = ?",
            arguments: [change, change, application, id])
        return change
    }

    private static func matching(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?, _ sealing: Sealing,
        in database: Database
    ) throws -> RegistrationRecord {
        let record = try known(id, of: application, sealing, in: database)
        guard etag == nil || etag == record.etag else {
            throw ServerStateError.changed(kind: "registration", name: id)
        }
        return record
    }

    // MARK: Settings

    func settings(
        of id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> [SettingRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from setting where application = ? and registration = ? order by name",
                arguments: [application, id]
            ).map {
                SettingRecord(
                    name: $0["name"], value: $0["value"], isReadOnly: $0["read_only"], change: $0["change"])
            }
        }
    }

    func changeSettings(
        _ changes: [SettingChange], byDevice: Bool, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> ChangeNumber {
        try Self.check(changes)
        let sealing = sealing
        return try await state.stateFile.write { database in
            let record = try Self.known(id, of: application, sealing, in: database)
            guard !changes.isEmpty else { return record.settingsVersion }
            for change in changes where byDevice {
                let isReadOnly = try Bool.fetchOne(
                    database,
                    sql: "select read_only from setting where application = ? and registration = ? and name = ?",
                    arguments: [application, id, change.name])
                if isReadOnly ?? false { throw ServerStateError.settingNotEditable(name: change.name) }
            }
            let number = try Self.touch(id, application, in: database)
            for change in changes {
                switch change {
                case .set(let name, let value, let isReadOnly):
                    try database.execute(
                        sql: """
                            insert into setting values (?1, ?2, ?3, ?4, coalesce(?5, 0), ?6)
                            on conflict (application, registration, name) do update set value = ?4,
                            read_only = coalesce(?5, read_only), change = ?6
                            """, arguments: [application, id, name, value, byDevice ? nil : isReadOnly, number])
                case .remove(let name):
                    try database.execute(
                        sql: "delete from setting where application = ? and registration = ? and name = ?",
                        arguments: [application, id, name])
                }
            }
            let count = try Int.fetchOne(
                database, sql: "select count(*) from setting where application = ? and registration = ?",
                arguments: [application, id])
            guard (count ?? 0) <= RegistrationLimits.settings else {
                throw ServerStateError.limitExceeded(
                    name: "The number of settings", limit: RegistrationLimits.settings)
            }
            try database.execute(
                sql: "update registration set settings_version = ? where application = ? and id = ?",
                arguments: [number, application, id])
            return number
        }
    }

    /// Checks the sizes of names and values.
    static func check(_ changes: [SettingChange]) throws(ServerStateError) {
        for change in changes {
            guard !change.name.isEmpty, change.name.count <= RegistrationLimits.settingNameLength else {
                throw .limitExceeded(name: "The name of a setting", limit: RegistrationLimits.settingNameLength)
            }
            if case .set(_, let value?, _) = change, value.utf8.count > RegistrationLimits.settingValueBytes {
                throw .limitExceeded(
                    name: "The value of the setting '\(change.name)'", limit: RegistrationLimits.settingValueBytes)
            }
        }
    }
}
