import Foundation
import GRDB

/// Users and registrations in `state.db`. Settings, policies and the directory are in another file.
struct SQLiteRegistrationStore: RegistrationStore {
    let state: SQLiteServerState

    var sealing: Sealing { Sealing(state.keys) }

    // MARK: Users

    func user(
        of application: RecordNumber, issuer: String, subject: String, makingWith name: String?
    ) async throws(ServerStateError) -> UserRecord? {
        let sql = "select * from app_user where application = ? and issuer = ? and subject = ?"
        let arguments: StatementArguments = [application, issuer, subject]
        let known = try await state.stateFile.read { database in
            try Row.fetchOne(database, sql: sql, arguments: arguments).map(Self.user)
        }
        guard known == nil, let name else { return known }
        let now = state.clock()
        return try await state.stateFile.write { database in
            // Another request may have made the user since.
            if let row = try Row.fetchOne(database, sql: sql, arguments: arguments) { return Self.user(row) }
            let scope = try SQLiteApplicationStore.name(of: application, in: database)
            let change = try SQLiteServerState.nextChange(of: scope, in: database)
            try database.execute(
                sql: """
                    insert into app_user (application, issuer, subject, name, change, created_at)
                    values (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    application, issuer, subject, String(name.prefix(RegistrationLimits.userNameLength)), change,
                    now.rawValue,
                ])
            return try Row.fetchOne(database, sql: sql, arguments: arguments).map(Self.user)
        }
    }

    func user(_ id: RecordNumber) async throws(ServerStateError) -> UserRecord? {
        try await state.stateFile.read { try Self.user(id, in: $0) }
    }

    func users(
        of application: RecordNumber, after id: RecordNumber, changedAfter change: ChangeNumber?
    ) async throws(ServerStateError) -> [UserRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database,
                sql: "select * from app_user where application = ? and id > ? and change > ? order by id limit 1000",
                arguments: [application, id, change ?? -1]
            ).map(Self.user)
        }
    }

    func setLocked(_ isLocked: Bool, user id: RecordNumber) async throws(ServerStateError) -> UserRecord {
        try await state.stateFile.write { database in
            var user = try Self.knownUser(id, in: database)
            let scope = try SQLiteApplicationStore.name(of: user.application, in: database)
            user.isLocked = isLocked
            user.change = try SQLiteServerState.nextChange(of: scope, in: database)
            try database.execute(
                sql: "update app_user set locked = ?, change = ? where id = ?", arguments: [isLocked, user.change, id])
            return user
        }
    }

    func removeUser(_ id: RecordNumber) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            let user = try Self.knownUser(id, in: database)
            let scope = try SQLiteApplicationStore.name(of: user.application, in: database)
            let registrations = "select id from registration where application = ? and app_user = ?"
            try database.execute(
                sql: """
                    delete from policy where application = ? and (scope = 'user' and target = ?
                    or scope = 'registration' and target in (\(registrations)))
                    """, arguments: [user.application, "\(id)", user.application, id])
            try database.execute(
                sql: """
                    delete from activation
                    where application = ? and (user_name = ? or registration in (\(registrations)))
                    """, arguments: [user.application, user.subject, user.application, id])
            try Self.forgetSignIns(of: user.subject, application: scope, in: database)
            try database.execute(sql: "delete from app_user where id = ?", arguments: [id])
            try SQLiteServerState.noteRemoval(of: "\(id)", from: "app_user", scope: scope, at: now, in: database)
        }
    }

    /// Forgets the sign-ins of a user, which are counted under the name of the application too.
    static func forgetSignIns(of subject: String, application: String, in database: Database) throws {
        try database.execute(
            sql: "delete from sign_in where user_name = ?", arguments: ["\(application)/\(subject)"])
    }

    private static func user(_ id: RecordNumber, in database: Database) throws -> UserRecord? {
        try Row.fetchOne(database, sql: "select * from app_user where id = ?", arguments: [id]).map(user)
    }

    private static func knownUser(_ id: RecordNumber, in database: Database) throws -> UserRecord {
        guard let user = try user(id, in: database) else {
            throw ServerStateError.missing(kind: "user", name: "\(id)")
        }
        return user
    }

    private static func user(_ row: Row) -> UserRecord {
        UserRecord(
            id: row["id"], application: row["application"], issuer: row["issuer"], subject: row["subject"],
            name: row["name"], isLocked: row["locked"], change: row["change"],
            createdAt: ServerInstant(rawValue: row["created_at"]))
    }

    // MARK: Registering

    func register(_ new: NewRegistration) async throws(ServerStateError) -> RegistrationOutcome {
        guard !new.id.isEmpty, new.id.count <= RegistrationLimits.idLength else {
            throw .limitExceeded(name: "The identifier", limit: RegistrationLimits.idLength)
        }
        try Self.check(new.settings.map { .set(name: $0.name, value: $0.value, isReadOnly: nil) })
        let (now, sealing) = (state.clock(), sealing)
        return try await state.stateFile.write { database in
            let user = try Self.knownUser(new.user, in: database)
            if let known = try Self.registration(new.id, of: new.application, sealing, in: database) {
                guard known.state == .unregistered else {
                    return try Self.outcome(of: new, known, sealing, at: now, in: database)
                }
                // An identifier is used again by its former user alone.
                guard known.user == new.user else { return .alreadyRegistered }
                try database.execute(
                    sql: "delete from registration where application = ? and id = ?",
                    arguments: [new.application, new.id])
            }
            if let limit = new.devicesPerUser {
                let count = try Int.fetchOne(
                    database, sql: "select count(*) from registration where app_user = ? and state <> 205",
                    arguments: [new.user])
                guard (count ?? 0) < limit else { return .tooManyDevices(limit: limit) }
            }
            if let code = new.activation, let refusal = try Self.use(code, for: new, by: user, at: now, in: database) {
                return refusal
            }
            let scope = try SQLiteApplicationStore.name(of: new.application, in: database)
            let change = try SQLiteServerState.nextChange(of: scope, in: database)
            let key = Self.key(new.application, new.id)
            var device = new.device
            device.pushTarget = nil
            try database.execute(
                sql: """
                    insert into registration (application, id, app_user, security, state, device, push_target,
                    public_key, settings_version, etag, change, created_at)
                    values (?, ?, ?, ?, 203, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    new.application, new.id, new.user, new.security, try Self.text(device),
                    try sealing.seal(
                        new.device.pushTarget.map { Array($0.utf8) }, table: "registration", column: "push_target",
                        key: key), new.publicKey.map { Data($0) }, change, change, change, now.rawValue,
                ])
            for setting in new.settings {
                try database.execute(
                    sql: "insert or replace into setting values (?, ?, ?, ?, ?, ?)",
                    arguments: [
                        new.application, new.id, setting.name, setting.value, setting.isReadOnly, change,
                    ])
            }
            return .created(try Self.known(new.id, of: new.application, sealing, in: database))
        }
    }

    /// Returns the outcome of a request with an identifier that is in use.
    private static func outcome(
        of new: NewRegistration, _ known: RegistrationRecord, _ sealing: Sealing, at now: ServerInstant,
        in database: Database
    ) throws -> RegistrationOutcome {
        guard known.user == new.user else { return .alreadyRegistered }
        if known.publicKey == new.publicKey { return .repeated(known) }
        guard new.replacesKey else { return .alreadyRegistered }
        let scope = try SQLiteApplicationStore.name(of: new.application, in: database)
        let change = try SQLiteServerState.nextChange(of: scope, in: database)
        try database.execute(
            sql: """
                update registration set public_key = ?, certificate_serial = null, certificate_until = null, etag = ?,
                change = ? where application = ? and id = ?
                """,
            arguments: [new.publicKey.map { Data($0) }, change, change, new.application, new.id])
        return .keyReplaced(try Self.known(new.id, of: new.application, sealing, in: database))
    }

    /// Uses an activation code up, or returns the refusal.
    private static func use(
        _ code: [UInt8], for new: NewRegistration, by user: UserRecord, at now: ServerInstant, in database: Database
    ) throws -> RegistrationOutcome? {
        let row = try Row.fetchOne(
            database, sql: "select * from activation where code_hash = ? and application = ? and expires_at > ?",
            arguments: [Data(code), new.application, now.rawValue])
        guard let row else { return .activationInvalid }
        if let registration = row["registration"] as String?, registration != new.id {
            return .activationOfAnotherDevice
        }
        guard row["user_name"] == user.subject else { return .wrongUser }
        try database.execute(
            sql: "update activation set registration = ? where code_hash = ?", arguments: [new.id, Data(code)])
        return nil
    }

    // MARK: Reading

    func registration(
        _ id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord? {
        let sealing = sealing
        return try await state.stateFile.read { try Self.registration(id, of: application, sealing, in: $0) }
    }

    func registrations(_ filter: RegistrationFilter) async throws(ServerStateError) -> [RegistrationRecord] {
        let sealing = sealing
        return try await state.stateFile.read { database in
            var (conditions, arguments): ([String], StatementArguments) = (["1 = 1"], [])
            func require(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
                guard let value else { return }
                conditions.append(condition)
                arguments += [value]
            }
            require("r.application = ?", filter.application)
            require("r.app_user = ?", filter.user)
            require("r.change > ?", filter.changedAfter)
            require("r.id > ?", filter.after)
            return try Row.fetchAll(
                database,
                sql: """
                    select r.*, seen_at from registration r
                    left join last_seen s on s.application = r.application and s.registration = r.id
                    where \(conditions.joined(separator: " and ")) order by r.application, r.id
                    limit \(min(max(filter.limit, 1), 1000))
                    """, arguments: arguments
            ).map { try Self.registration($0, sealing) }
        }
    }

    static func registration(
        _ id: String, of application: RecordNumber, _ sealing: Sealing, in database: Database
    ) throws -> RegistrationRecord? {
        try Row.fetchOne(
            database,
            sql: """
                select r.*, seen_at from registration r
                left join last_seen s on s.application = r.application and s.registration = r.id
                where r.application = ? and r.id = ?
                """, arguments: [application, id]
        ).map { try registration($0, sealing) }
    }

    static func known(
        _ id: String, of application: RecordNumber, _ sealing: Sealing, in database: Database
    ) throws -> RegistrationRecord {
        guard let record = try registration(id, of: application, sealing, in: database) else {
            throw ServerStateError.missing(kind: "registration", name: id)
        }
        return record
    }

    static func key(_ application: RecordNumber, _ id: String) -> String { "\(application)/\(id)" }

    static func text(_ device: DeviceProperties) throws -> String {
        String(decoding: try JSONEncoder().encode(device), as: UTF8.self)
    }

    private static func registration(_ row: Row, _ sealing: Sealing) throws -> RegistrationRecord {
        let (application, id): (RecordNumber, String) = (row["application"], row["id"])
        let text: String = row["device"]
        guard var device = try? JSONDecoder().decode(DeviceProperties.self, from: Data(text.utf8)) else {
            throw ServerStateError.damaged(reason: "the properties of the registration '\(id)' cannot be read")
        }
        let key = key(application, id)
        device.pushTarget = try sealing.openText(
            row["push_target"], table: "registration", column: "push_target", key: key)
        var record = RegistrationRecord(
            application: application, id: id, user: row["app_user"], security: row["security"], device: device,
            publicKey: row.bytes("public_key"), etag: row["etag"], change: row["change"],
            createdAt: ServerInstant(rawValue: row["created_at"]))
        record.state = RegistrationState(rawValue: row["state"]) ?? .unregistered
        record.certificateSerial = row.bytes("certificate_serial")
        record.certificateUntil = row.moment("certificate_until")
        // A lock that this build does not know locks.
        record.lock = DeviceLock(rawValue: row["lock_state"]) ?? .locked
        record.lockVersion = row["lock_version"]
        record.isLockConfirmed = row["lock_confirmed"]
        record.lockConfirmation = try sealing.open(
            row["lock_confirmation"], table: "registration", column: "lock_confirmation", key: key)
        record.settingsVersion = row["settings_version"]
        record.seenAt = row.moment("seen_at")
        return record
    }
}
