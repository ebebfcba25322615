import PostgresClient
import ServerState

/// Changes of registrations, and their settings.
extension PostgresRegistrationStore {
    func update(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?, _ change: RegistrationChange
    ) async throws(ServerStateError) -> RegistrationRecord {
        let sealing = state.sealing
        return try await state.work { work in
            _ = try await Self.matching(id, of: application, ifMatch: etag, sealing, in: work)
            let place: [PostgresValue] = [.integer(application), .text(id)]
            if let new = change.device {
                var device = new
                device.pushTarget = nil
                let target = try sealing.seal(
                    new.pushTarget.map { Array($0.utf8) }, table: "registration", column: "push_target",
                    key: Self.key(application, id))
                try await work.rows(
                    "update registration set device = $3, push_target = $4 where application = $1 and id = $2",
                    place[0], place[1], .text(try Self.text(device)), .bytesOrNull(target))
            }
            if let key = change.publicKey {
                try await work.rows(
                    "update registration set public_key = $3 where application = $1 and id = $2", place[0], place[1],
                    .bytes(key))
            }
            if let certificate = change.certificate {
                try await work.rows(
                    """
                    update registration set certificate_serial = $3, certificate_until = $4
                    where application = $1 and id = $2
                    """, place[0], place[1], .bytes(certificate.serial), .instant(certificate.until))
            }
            _ = try await Self.touch(id, application, in: work)
            return try await Self.known(id, of: application, sealing, in: work)
        }
    }

    func setLock(
        _ lock: DeviceLock, confirmation: [UInt8]?, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord {
        let sealing = state.sealing
        return try await state.work { work in
            _ = try await Self.known(id, of: application, sealing, in: work)
            let sealed = try sealing.seal(
                confirmation, table: "registration", column: "lock_confirmation", key: Self.key(application, id))
            let number = try await Self.touch(id, application, in: work)
            try await work.rows(
                """
                update registration set lock_state = $3, lock_version = $4, lock_confirmed = false,
                lock_confirmation = $5, state = case when $3 = 'wipe' then 204 else state end
                where application = $1 and id = $2
                """, .integer(application), .text(id), .text(lock.rawValue), .integer(number), .bytesOrNull(sealed))
            return try await Self.known(id, of: application, sealing, in: work)
        }
    }

    func confirmLock(
        version: ChangeNumber, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord? {
        let sealing = state.sealing
        return try await state.work { work in
            let record = try await Self.known(id, of: application, sealing, in: work)
            guard record.lockVersion == version else { return nil }
            guard !record.isLockConfirmed else { return record }
            try await work.rows(
                "update registration set lock_confirmed = true where application = $1 and id = $2",
                .integer(application), .text(id))
            if record.lock == .wipe { try await Self.end(id, application, in: work) }
            _ = try await Self.touch(id, application, in: work)
            return try await Self.known(id, of: application, sealing, in: work)
        }
    }

    func unregister(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?
    ) async throws(ServerStateError) {
        let sealing = state.sealing
        try await state.work { work in
            let record = try await Self.matching(id, of: application, ifMatch: etag, sealing, in: work)
            guard record.state != .unregistered else { return }
            try await Self.end(id, application, in: work)
            _ = try await Self.touch(id, application, in: work)
        }
    }

    func noteSeen(_ seen: [RegistrationSeen]) async throws(ServerStateError) {
        guard !seen.isEmpty else { return }
        // In one order on all nodes, so that two of them do not wait for each other.
        try await state.write(
            """
            insert into last_seen as l (application, registration, seen_at)
            select r.application, r.id, max(n.at) from unnest($1, $2, $3) as n (application, id, at)
            join registration r on r.application = n.application and r.id = n.id
            group by r.application, r.id order by r.application, r.id
            on conflict (application, registration) do update set seen_at = greatest(l.seen_at, excluded.seen_at)
            """, .integers(seen.map(\.application)), .texts(seen.map(\.id)), .integers(seen.map(\.at.rawValue)))
    }

    /// Ends a registration: only its row stays for 30 days.
    private static func end(_ id: String, _ application: RecordNumber, in work: StateWork) async throws {
        let place: (PostgresValue, PostgresValue) = (.integer(application), .text(id))
        try await work.rows(
            """
            update registration set state = 205, ended_at = $3, public_key = null, certificate_serial = null,
            certificate_until = null, push_target = null where application = $1 and id = $2
            """, place.0, place.1, .instant(work.now))
        for text in [
            "delete from setting where application = $1 and registration = $2",
            "delete from policy where application = $1 and scope = 'registration' and target = $2",
            "delete from activation where application = $1 and registration = $2",
        ] { try await work.rows(text, place.0, place.1) }
    }

    /// Gives a registration its next ETag and change number.
    private static func touch(
        _ id: String, _ application: RecordNumber, in work: StateWork
    ) async throws -> ChangeNumber {
        let change = try await work.nextChange(of: try await work.name(of: application))
        try await work.rows(
            "update registration set etag = $1, change = $1 where application = $2 and id = $3", .integer(change),
            .integer(application), .text(id))
        return change
    }

    private static func matching(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?, _ sealing: PostgresSealing,
        in work: StateWork
    ) async throws -> RegistrationRecord {
        let record = try await known(id, of: application, sealing, in: work)
        guard etag == nil || etag == record.etag else {
            throw ServerStateError.changed(kind: "registration", name: id)
        }
        return record
    }

    // MARK: Settings

    func settings(
        of id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> [SettingRecord] {
        try await state.all(
            "select * from setting where application = $1 and registration = $2 order by name", .integer(application),
            .text(id)
        ) {
            SettingRecord(
                name: try $0.text("name"), value: try $0.textOrNil("value"), isReadOnly: try $0.flag("read_only"),
                change: try $0.integer("change"))
        }
    }

    func changeSettings(
        _ changes: [SettingChange], byDevice: Bool, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> ChangeNumber {
        try Self.check(changes)
        let sealing = state.sealing
        return try await state.work { work in
            let record = try await Self.known(id, of: application, sealing, in: work)
            guard !changes.isEmpty else { return record.settingsVersion }
            let place: (PostgresValue, PostgresValue) = (.integer(application), .text(id))
            for change in changes where byDevice {
                let row = try await work.row(
                    "select read_only from setting where application = $1 and registration = $2 and name = $3",
                    place.0, place.1, .text(change.name))
                if try row?.flag("read_only") ?? false {
                    throw ServerStateError.settingNotEditable(name: change.name)
                }
            }
            let number = try await Self.touch(id, application, in: work)
            for change in changes {
                switch change {
                case .set(let name, let value, let isReadOnly):
                    let mark = byDevice ? nil : isReadOnly
                    try await work.rows(
                        """
                        insert into setting as s values ($1, $2, $3, $4, coalesce($5, false), $6)
                        on conflict (application, registration, name) do update set value = $4,
                        read_only = coalesce($5, s.read_only), change = $6
                        """, place.0, place.1, .text(name), .textOrNull(value), mark.map { .flag($0) } ?? .null,
                        .integer(number))
                case .remove(let name):
                    try await work.rows(
                        "delete from setting where application = $1 and registration = $2 and name = $3", place.0,
                        place.1, .text(name))
                }
            }
            let count = try await work.row(
                "select count(*) as number from setting where application = $1 and registration = $2", place.0, place.1)
            guard try count?.number("number") ?? 0 <= RegistrationLimits.settings else {
                throw ServerStateError.limitExceeded(
                    name: "The number of settings", limit: RegistrationLimits.settings)
            }
            try await work.rows(
                "update registration set settings_version = $3 where application = $1 and id = $2", place.0, place.1,
                .integer(number))
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
