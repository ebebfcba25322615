import PostgresClient
import ServerState

/// Policies, activation codes and the user directory.
extension PostgresRegistrationStore {
    // MARK: Policies

    func policies(of application: RecordNumber) async throws(ServerStateError) -> [PolicyRecord] {
        try await state.all(
            "select * from policy where application = $1 order by scope, target, name", .integer(application)
        ) {
            PolicyRecord(
                scope: try $0.text("scope"), target: try $0.text("target"), name: try $0.text("name"),
                body: try $0.bytes("body"), version: try $0.integer("version"))
        }
    }

    func setPolicy(
        _ policy: PolicyRecord, of application: RecordNumber
    ) async throws(ServerStateError) -> PolicyRecord {
        try await state.work { work in
            var new = policy
            new.version = try await work.nextChange(of: try await work.name(of: application))
            try await work.rows(
                """
                insert into policy values ($1, $2, $3, $4, $5, $6)
                on conflict (application, scope, target, name) do update set body = $5, version = $6
                """, .integer(application), .text(new.scope), .text(new.target), .text(new.name), .bytes(new.body),
                .integer(new.version))
            return new
        }
    }

    func removePolicy(
        scope: String, target: String, name: String, of application: RecordNumber
    ) async throws(ServerStateError) {
        try await state.work { work in
            let numbers = try await work.name(of: application)
            let count = try await work.change(
                "delete from policy where application = $1 and scope = $2 and target = $3 and name = $4",
                .integer(application), .text(scope), .text(target), .text(name))
            guard count == 1 else { throw ServerStateError.missing(kind: "policy", name: name) }
            try await work.noteRemoval(of: "\(scope)/\(target)/\(name)", from: "policy", scope: numbers)
        }
    }

    // MARK: Activation codes

    func addActivation(_ activation: ActivationRecord) async throws(ServerStateError) {
        try await state.work { work in
            _ = try await work.name(of: activation.application)
            try await work.rows(
                """
                insert into activation values ($1, $2, $3, $4, $5) on conflict (code_hash) do update set
                application = $2, user_name = $3, registration = $4, expires_at = $5
                """, .bytes(activation.hash), .integer(activation.application), .text(activation.userName),
                .textOrNull(activation.registration), .instant(activation.expiresAt))
        }
    }

    func activation(
        _ hash: [UInt8], of application: RecordNumber
    ) async throws(ServerStateError) -> ActivationRecord? {
        try await state.all(
            "select * from activation where code_hash = $1 and application = $2 and expires_at > outpost_now($3)",
            .bytes(hash), .integer(application), state.given
        ) {
            ActivationRecord(
                hash: try $0.bytes("code_hash"), application: try $0.integer("application"),
                userName: try $0.text("user_name"), registration: try $0.textOrNil("registration"),
                expiresAt: try $0.instant("expires_at"))
        }.first
    }

    // MARK: The user directory

    func directoryUsers(of application: RecordNumber) async throws(ServerStateError) -> [DirectoryUserRecord] {
        let sealing = state.sealing
        return try await state.all(
            "select * from directory_user where application = $1 order by name", .integer(application)
        ) { try Self.directoryUser($0, sealing) }
    }

    func directoryUser(
        _ name: String, of application: RecordNumber
    ) async throws(ServerStateError) -> DirectoryUserRecord? {
        let sealing = state.sealing
        return try await state.all(
            "select * from directory_user where application = $1 and name = $2", .integer(application), .text(name)
        ) { try Self.directoryUser($0, sealing) }.first
    }

    func setDirectoryUser(_ user: DirectoryUserRecord) async throws(ServerStateError) {
        guard !user.name.isEmpty, user.name.count <= RegistrationLimits.userNameLength else {
            throw .limitExceeded(name: "The name of the user", limit: RegistrationLimits.userNameLength)
        }
        let sealing = state.sealing
        try await state.work { work in
            let password = try sealing.seal(
                Array(user.password.utf8), table: "directory_user", column: "password",
                key: Self.key(user.application, user.name))
            let change = try await work.nextChange(of: try await work.name(of: user.application))
            try await work.rows(
                """
                insert into directory_user values ($1, $2, $3, $4, $5, $6) on conflict (application, name)
                do update set password = $3, roles = $4, locked = $5, change = $6
                """, .integer(user.application), .text(user.name), .bytes(password),
                .text(RoleList.write(user.roles)), .flag(user.isLocked), .integer(change))
        }
    }

    func removeDirectoryUser(_ name: String, of application: RecordNumber) async throws(ServerStateError) {
        try await state.work { work in
            let scope = try await work.name(of: application)
            let count = try await work.change(
                "delete from directory_user where application = $1 and name = $2", .integer(application), .text(name))
            guard count == 1 else { throw ServerStateError.missing(kind: "directory user", name: name) }
            try await Self.forgetSignIns(of: name, application: scope, in: work)
            try await work.noteRemoval(of: name, from: "directory_user", scope: scope)
        }
    }

    private static func directoryUser(_ row: PostgresRow, _ sealing: PostgresSealing) throws -> DirectoryUserRecord {
        let (application, name) = (try row.integer("application"), try row.text("name"))
        let password = try sealing.openText(
            try row.bytes("password"), table: "directory_user", column: "password", key: key(application, name))
        return DirectoryUserRecord(
            application: application, name: name, password: password ?? "",
            roles: RoleList.read(try row.text("roles")), isLocked: try row.flag("locked"),
            change: try row.integer("change"))
    }
}
