import Foundation
import GRDB

/// Policies, activation codes and the user directory.
extension SQLiteRegistrationStore {
    // MARK: Policies

    func policies(of application: RecordNumber) async throws(ServerStateError) -> [PolicyRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from policy where application = ? order by scope, target, name",
                arguments: [application]
            ).map {
                PolicyRecord(
                    scope: $0["scope"], target: $0["target"], name: $0["name"], body: $0.bytes("body") ?? [],
                    version: $0["version"])
            }
        }
    }

    func setPolicy(
        _ policy: PolicyRecord, of application: RecordNumber
    ) async throws(ServerStateError) -> PolicyRecord {
        try await state.stateFile.write { database in
            let scope = try SQLiteApplicationStore.name(of: application, in: database)
            var new = policy
            new.version = try SQLiteServerState.nextChange(of: scope, in: database)
            try database.execute(
                sql: """
                    insert into policy values (?1, ?2, ?3, ?4, ?5, ?6)
                    on conflict (application, scope, target, name) do update set body = ?5, version = ?6
                    """,
                arguments: [application, new.scope, new.target, new.name, Data(new.body), new.version])
            return new
        }
    }

    func removePolicy(
        scope: String, target: String, name: String, of application: RecordNumber
    ) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            let numbers = try SQLiteApplicationStore.name(of: application, in: database)
            try database.execute(
                sql: "delete from policy where application = ? and scope = ? and target = ? and name = ?",
                arguments: [application, scope, target, name])
            guard database.changesCount == 1 else { throw ServerStateError.missing(kind: "policy", name: name) }
            try SQLiteServerState.noteRemoval(
                of: "\(scope)/\(target)/\(name)", from: "policy", scope: numbers, at: now, in: database)
        }
    }

    // MARK: Activation codes

    func addActivation(_ activation: ActivationRecord) async throws(ServerStateError) {
        try await state.stateFile.write { database in
            _ = try SQLiteApplicationStore.name(of: activation.application, in: database)
            try database.execute(
                sql: "insert or replace into activation values (?, ?, ?, ?, ?)",
                arguments: [
                    Data(activation.hash), activation.application, activation.userName, activation.registration,
                    activation.expiresAt.rawValue,
                ])
        }
    }

    func activation(
        _ hash: [UInt8], of application: RecordNumber
    ) async throws(ServerStateError) -> ActivationRecord? {
        let now = state.clock()
        return try await state.stateFile.read { database in
            try Row.fetchOne(
                database, sql: "select * from activation where code_hash = ? and application = ? and expires_at > ?",
                arguments: [Data(hash), application, now.rawValue]
            ).map {
                ActivationRecord(
                    hash: $0.bytes("code_hash") ?? [], application: $0["application"], userName: $0["user_name"],
                    registration: $0["registration"], expiresAt: ServerInstant(rawValue: $0["expires_at"]))
            }
        }
    }

    // MARK: The user directory

    func directoryUsers(of application: RecordNumber) async throws(ServerStateError) -> [DirectoryUserRecord] {
        let sealing = sealing
        return try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from directory_user where application = ? order by name",
                arguments: [application]
            ).map { try Self.directoryUser($0, sealing) }
        }
    }

    func directoryUser(
        _ name: String, of application: RecordNumber
    ) async throws(ServerStateError) -> DirectoryUserRecord? {
        let sealing = sealing
        return try await state.stateFile.read { database in
            try Row.fetchOne(
                database, sql: "select * from directory_user where application = ? and name = ?",
                arguments: [application, name]
            ).map { try Self.directoryUser($0, sealing) }
        }
    }

    func setDirectoryUser(_ user: DirectoryUserRecord) async throws(ServerStateError) {
        guard !user.name.isEmpty, user.name.count <= RegistrationLimits.userNameLength else {
            throw .limitExceeded(name: "The name of the user", limit: RegistrationLimits.userNameLength)
        }
        let sealing = sealing
        try await state.stateFile.write { database in
            let scope = try SQLiteApplicationStore.name(of: user.application, in: database)
            let change = try SQLiteServerState.nextChange(of: scope, in: database)
            let password = try sealing.seal(
                Array(user.password.utf8), table: "directory_user", column: "password",
                key: Self.key(user.application, user.name))
            try database.execute(
                sql: "insert or replace into directory_user values (?, ?, ?, ?, ?, ?)",
                arguments: [
                    user.application, user.name, password, ListText.write(user.roles), user.isLocked, change,
                ])
        }
    }

    func removeDirectoryUser(_ name: String, of application: RecordNumber) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            let scope = try SQLiteApplicationStore.name(of: application, in: database)
            try database.execute(
                sql: "delete from directory_user where application = ? and name = ?", arguments: [application, name])
            guard database.changesCount == 1 else {
                throw ServerStateError.missing(kind: "directory user", name: name)
            }
            try Self.forgetSignIns(of: name, application: scope, in: database)
            try SQLiteServerState.noteRemoval(
                of: name, from: "directory_user", scope: scope, at: now, in: database)
        }
    }

    private static func directoryUser(_ row: Row, _ sealing: Sealing) throws -> DirectoryUserRecord {
        let (application, name): (RecordNumber, String) = (row["application"], row["name"])
        let password = try sealing.openText(
            row["password"], table: "directory_user", column: "password", key: key(application, name))
        return DirectoryUserRecord(
            application: application, name: name, password: password ?? "", roles: ListText.read(row["roles"]),
            isLocked: row["locked"], change: row["change"])
    }
}
