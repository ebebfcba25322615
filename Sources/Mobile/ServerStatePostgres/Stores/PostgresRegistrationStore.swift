import Foundation
import PostgresClient
import ServerState

/// Users and registrations. Changes, settings, policies and the directory are in other files.
struct PostgresRegistrationStore: RegistrationStore {
    let state: PostgresServerState

    // MARK: Users

    func user(
        of application: RecordNumber, issuer: String, subject: String, makingWith name: String?
    ) async throws(ServerStateError) -> UserRecord? {
        let text = "select * from app_user where application = $1 and issuer = $2 and subject = $3"
        let known = try await state.all(
            text, .integer(application), .text(issuer), .text(subject), each: Self.user
        ).first
        guard known == nil, let name else { return known }
        return try await state.work { work in
            let scope = try await work.name(of: application)
            let change = try await work.nextChange(of: scope)
            let row = try await work.row(
                """
                insert into app_user (application, issuer, subject, name, change, created_at)
                values ($1, $2, $3, $4, $5, $6) on conflict (application, issuer, subject) do nothing returning *
                """, .integer(application), .text(issuer), .text(subject),
                .text(String(name.prefix(RegistrationLimits.userNameLength))), .integer(change), .instant(work.now))
            if let row { return try Self.user(row) }
            // Another request has made the user since.
            return try await work.row(text, .integer(application), .text(issuer), .text(subject)).map(Self.user)
        }
    }

    func user(_ id: RecordNumber) async throws(ServerStateError) -> UserRecord? {
        try await state.all("select * from app_user where id = $1", .integer(id), each: Self.user).first
    }

    func users(
        of application: RecordNumber, after id: RecordNumber, changedAfter change: ChangeNumber?
    ) async throws(ServerStateError) -> [UserRecord] {
        try await state.all(
            "select * from app_user where application = $1 and id > $2 and change > $3 order by id limit 1000",
            .integer(application), .integer(id), .integer(change ?? -1), each: Self.user)
    }

    func setLocked(_ isLocked: Bool, user id: RecordNumber) async throws(ServerStateError) -> UserRecord {
        try await state.work { work in
            let user = try await Self.lockedUser(id, work)
            let change = try await work.nextChange(of: try await work.name(of: user.application))
            let row = try await work.row(
                "update app_user set locked = $1, change = $2 where id = $3 returning *", .flag(isLocked),
                .integer(change), .integer(id))
            guard let row else { throw ServerStateError.missing(kind: "user", name: "\(id)") }
            return try Self.user(row)
        }
    }

    func removeUser(_ id: RecordNumber) async throws(ServerStateError) {
        try await state.work { work in
            let user = try await Self.lockedUser(id, work)
            let scope = try await work.name(of: user.application)
            let registrations = "select id from registration where application = $1 and app_user = $2"
            try await work.rows(
                """
                delete from policy where application = $1 and (scope = 'user' and target = $3
                or scope = 'registration' and target in (\(registrations)))
                """, .integer(user.application), .integer(id), .text("\(id)"))
            try await work.rows(
                """
                delete from activation
                where application = $1 and (user_name = $3 or registration in (\(registrations)))
                """, .integer(user.application), .integer(id), .text(user.subject))
            try await Self.forgetSignIns(of: user.subject, application: scope, in: work)
            try await work.rows("delete from app_user where id = $1", .integer(id))
            try await work.noteRemoval(of: "\(id)", from: "app_user", scope: scope)
        }
    }

    /// Forgets the sign-ins of a user, which are counted under the name of the application too.
    static func forgetSignIns(of subject: String, application: String, in work: StateWork) async throws {
        try await work.rows("delete from sign_in where user_name = $1", .text("\(application)/\(subject)"))
    }

    /// Returns a user, and locks it: registrations of one user are made one after the other.
    private static func lockedUser(_ id: RecordNumber, _ work: StateWork) async throws -> UserRecord {
        let row = try await work.row("select * from app_user where id = $1 for update", .integer(id))
        guard let row else { throw ServerStateError.missing(kind: "user", name: "\(id)") }
        return try user(row)
    }

    private static func user(_ row: PostgresRow) throws -> UserRecord {
        UserRecord(
            id: try row.integer("id"), application: try row.integer("application"), issuer: try row.text("issuer"),
            subject: try row.text("subject"), name: try row.text("name"), isLocked: try row.flag("locked"),
            change: try row.integer("change"), createdAt: try row.instant("created_at"))
    }

    // MARK: Registering

    func register(_ new: NewRegistration) async throws(ServerStateError) -> RegistrationOutcome {
        guard !new.id.isEmpty, new.id.count <= RegistrationLimits.idLength else {
            throw .limitExceeded(name: "The identifier", limit: RegistrationLimits.idLength)
        }
        try Self.check(new.settings.map { .set(name: $0.name, value: $0.value, isReadOnly: nil) })
        let sealing = state.sealing
        return try await state.work { work in
            let user = try await Self.lockedUser(new.user, work)
            if let known = try await Self.locked(new.id, of: new.application, sealing, in: work) {
                guard known.state == .unregistered else {
                    return try await Self.outcome(of: new, known, sealing, in: work)
                }
                // An identifier is used again by its former user alone.
                guard known.user == new.user else { return .alreadyRegistered }
                try await work.rows(
                    "delete from registration where application = $1 and id = $2", .integer(new.application),
                    .text(new.id))
            }
            if let limit = new.devicesPerUser {
                let count = try await work.row(
                    "select count(*) as number from registration where app_user = $1 and state <> 205",
                    .integer(new.user))
                guard try count?.number("number") ?? 0 < limit else { return .tooManyDevices(limit: limit) }
            }
            if let code = new.activation, let refusal = try await Self.use(code, for: new, by: user, work) {
                return refusal
            }
            return .created(try await Self.insert(new, sealing, in: work))
        }
    }

    private static func insert(
        _ new: NewRegistration, _ sealing: PostgresSealing, in work: StateWork
    ) async throws -> RegistrationRecord {
        var device = new.device
        device.pushTarget = nil
        let target = try sealing.seal(
            new.device.pushTarget.map { Array($0.utf8) }, table: "registration", column: "push_target",
            key: key(new.application, new.id))
        let text = try text(device)
        let change = PostgresValue.integer(try await work.nextChange(of: try await work.name(of: new.application)))
        // A second registration with the identifier at once is refused here, and finds the first one in its next try.
        try await work.rows(
            """
            insert into registration (application, id, app_user, security, state, device, push_target, public_key,
            settings_version, etag, change, created_at) values ($1, $2, $3, $4, 203, $5, $6, $7, $8, $8, $8, $9)
            """, .integer(new.application), .text(new.id), .integer(new.user), .text(new.security), .text(text),
            .bytesOrNull(target), .bytesOrNull(new.publicKey), change, .instant(work.now))
        for setting in new.settings {
            try await work.rows(
                """
                insert into setting values ($1, $2, $3, $4, $5, $6) on conflict (application, registration, name)
                do update set value = $4, read_only = $5, change = $6
                """, .integer(new.application), .text(new.id), .text(setting.name), .textOrNull(setting.value),
                .flag(setting.isReadOnly), change)
        }
        return try await known(new.id, of: new.application, sealing, in: work)
    }

    /// Returns the outcome of a request with an identifier that is in use.
    private static func outcome(
        of new: NewRegistration, _ known: RegistrationRecord, _ sealing: PostgresSealing, in work: StateWork
    ) async throws -> RegistrationOutcome {
        guard known.user == new.user else { return .alreadyRegistered }
        if known.publicKey == new.publicKey { return .repeated(known) }
        guard new.replacesKey else { return .alreadyRegistered }
        let change = try await work.nextChange(of: try await work.name(of: new.application))
        try await work.rows(
            """
            update registration set public_key = $1, certificate_serial = null, certificate_until = null, etag = $2,
            change = $2 where application = $3 and id = $4
            """, .bytesOrNull(new.publicKey), .integer(change), .integer(new.application), .text(new.id))
        return .keyReplaced(try await Self.known(new.id, of: new.application, sealing, in: work))
    }

    /// Uses an activation code up, or returns the refusal.
    private static func use(
        _ code: [UInt8], for new: NewRegistration, by user: UserRecord, _ work: StateWork
    ) async throws -> RegistrationOutcome? {
        let row = try await work.row(
            "select * from activation where code_hash = $1 and application = $2 and expires_at > $3 for update",
            .bytes(code), .integer(new.application), .instant(work.now))
        guard let row else { return .activationInvalid }
        if let registration = try row.textOrNil("registration"), registration != new.id {
            return .activationOfAnotherDevice
        }
        guard try row.text("user_name") == user.subject else { return .wrongUser }
        try await work.rows("update activation set registration = $1 where code_hash = $2", .text(new.id), .bytes(code))
        return nil
    }

    // MARK: Reading

    private static let select = """
        select r.*, s.seen_at from registration r
        left join last_seen s on s.application = r.application and s.registration = r.id
        """

    func registration(
        _ id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord? {
        let sealing = state.sealing
        return try await state.all(
            "\(Self.select) where r.application = $1 and r.id = $2", .integer(application), .text(id)
        ) { try Self.registration($0, sealing) }.first
    }

    func registrations(_ filter: RegistrationFilter) async throws(ServerStateError) -> [RegistrationRecord] {
        let sealing = state.sealing
        return try await state.all(
            """
            \(Self.select) where ($1::bigint is null or r.application = $1) and ($2::bigint is null or r.app_user = $2)
            and ($3::bigint is null or r.change > $3) and ($4::text is null or r.id > $4)
            order by r.application, r.id limit $5
            """, .integerOrNull(filter.application), .integerOrNull(filter.user), .integerOrNull(filter.changedAfter),
            .textOrNull(filter.after), .number(min(max(filter.limit, 1), 1000))
        ) { try Self.registration($0, sealing) }
    }

    /// Returns a registration, and locks it; `nil` if there is none.
    static func locked(
        _ id: String, of application: RecordNumber, _ sealing: PostgresSealing, in work: StateWork
    ) async throws -> RegistrationRecord? {
        try await work.row(
            "\(select) where r.application = $1 and r.id = $2 for update of r", .integer(application), .text(id)
        ).map { try registration($0, sealing) }
    }

    static func known(
        _ id: String, of application: RecordNumber, _ sealing: PostgresSealing, in work: StateWork
    ) async throws -> RegistrationRecord {
        guard let record = try await locked(id, of: application, sealing, in: work) else {
            throw ServerStateError.missing(kind: "registration", name: id)
        }
        return record
    }

    static func key(_ application: RecordNumber, _ id: String) -> String { "\(application)/\(id)" }

    static func text(_ device: DeviceProperties) throws -> String {
        String(decoding: try JSONEncoder().encode(device), as: UTF8.self)
    }

    private static func registration(_ row: PostgresRow, _ sealing: PostgresSealing) throws -> RegistrationRecord {
        let (application, id) = (try row.integer("application"), try row.text("id"))
        guard var device = try? JSONDecoder().decode(DeviceProperties.self, from: Data(try row.text("device").utf8))
        else {
            throw ServerStateError.damaged(reason: "the properties of the registration '\(id)' cannot be read")
        }
        let key = key(application, id)
        device.pushTarget = try sealing.openText(
            try row.bytesOrNil("push_target"), table: "registration", column: "push_target", key: key)
        var record = RegistrationRecord(
            application: application, id: id, user: try row.integer("app_user"), security: try row.text("security"),
            device: device, publicKey: try row.bytesOrNil("public_key"), etag: try row.integer("etag"),
            change: try row.integer("change"), createdAt: try row.instant("created_at"))
        record.state = RegistrationState(rawValue: try row.number("state")) ?? .unregistered
        record.certificateSerial = try row.bytesOrNil("certificate_serial")
        record.certificateUntil = try row.instantOrNil("certificate_until")
        // A lock that this build does not know locks.
        record.lock = DeviceLock(rawValue: try row.text("lock_state")) ?? .locked
        record.lockVersion = try row.integer("lock_version")
        record.isLockConfirmed = try row.flag("lock_confirmed")
        record.lockConfirmation = try sealing.open(
            try row.bytesOrNil("lock_confirmation"), table: "registration", column: "lock_confirmation", key: key)
        record.settingsVersion = try row.integer("settings_version")
        record.seenAt = try row.instantOrNil("seen_at")
        return record
    }
}
