import Foundation
import GRDB
import Secrets

/// Service keys, secrets, sign-in counters, approvals and the audit.
extension SQLiteOperatorStore {
    private static var scope: String { ChangeNumberScope.server }

    // MARK: Service keys

    func serviceKeys(of application: RecordNumber) async throws(ServerStateError) -> [ServiceKeyRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from service_key where application = ? order by id", arguments: [application]
            ).map(Self.serviceKey)
        }
    }

    func serviceKey(_ id: String) async throws(ServerStateError) -> ServiceKeyRecord? {
        let now = state.clock()
        return try await state.stateFile.read { database in
            try Row.fetchOne(
                database, sql: "select * from service_key where id = ? and (expires_at is null or expires_at > ?)",
                arguments: [id, now.rawValue]
            ).map(Self.serviceKey)
        }
    }

    func add(_ key: ServiceKeyRecord) async throws(ServerStateError) -> ServiceKeyRecord {
        let now = state.clock()
        return try await state.stateFile.write { database in
            _ = try SQLiteApplicationStore.name(of: key.application, in: database)
            let isThere = try Int.fetchOne(
                database, sql: "select 1 from service_key where id = ?", arguments: [key.id])
            guard isThere == nil else { throw ServerStateError.alreadyExists(kind: "service key", name: key.id) }
            var new = key
            new.change = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            new.createdAt = now
            try database.execute(
                sql: "insert into service_key values (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    new.id, new.application, Data(new.hash), ListText.write(new.roles), new.expiresAt?.rawValue,
                    new.change, now.rawValue,
                ])
            return new
        }
    }

    func removeServiceKey(_ id: String) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            try database.execute(sql: "delete from service_key where id = ?", arguments: [id])
            guard database.changesCount == 1 else { throw ServerStateError.missing(kind: "service key", name: id) }
            try SQLiteServerState.noteRemoval(
                of: id, from: "service_key", scope: Self.scope, at: now, in: database)
        }
    }

    private static func serviceKey(_ row: Row) -> ServiceKeyRecord {
        ServiceKeyRecord(
            id: row["id"], application: row["application"], hash: row.bytes("key_hash") ?? [],
            roles: ListText.read(row["roles"]), expiresAt: row.moment("expires_at"), change: row["change"],
            createdAt: ServerInstant(rawValue: row["created_at"]))
    }

    // MARK: Secrets

    func secrets() async throws(ServerStateError) -> [StoredSecretName] {
        try await state.stateFile.read { database in
            try Row.fetchAll(database, sql: "select name, version, created_at from secret order by name").map {
                StoredSecretName(
                    name: $0["name"], version: $0["version"], createdAt: ServerInstant(rawValue: $0["created_at"]))
            }
        }
    }

    func secret(_ name: String) async throws(ServerStateError) -> Secret<[UInt8]>? {
        let sealing = sealing
        return try await state.stateFile.read { database in
            let row = try Row.fetchOne(database, sql: "select * from secret where name = ?", arguments: [name])
            guard let row else { return nil }
            let version: Int = row["version"]
            let value = try sealing.open(row["sealed"], table: "secret", column: "sealed", key: "\(name)/\(version)")
            return value.map { Secret($0) }
        }
    }

    func setSecret(_ value: Secret<[UInt8]>?, named name: String) async throws(ServerStateError) {
        let (sealing, now) = (sealing, state.clock())
        try await state.stateFile.write { database in
            guard let value else {
                try database.execute(sql: "delete from secret where name = ?", arguments: [name])
                if database.changesCount > 0 {
                    try SQLiteServerState.noteRemoval(
                        of: name, from: "secret", scope: Self.scope, at: now, in: database)
                }
                return
            }
            let former = try Int.fetchOne(
                database, sql: "select version from secret where name = ?", arguments: [name])
            let version = (former ?? 0) + 1
            let sealed = try sealing.seal(
                value.reveal(), table: "secret", column: "sealed", key: "\(name)/\(version)")
            try database.execute(
                sql: "insert or replace into secret values (?, ?, ?, ?)",
                arguments: [name, version, sealed, now.rawValue])
            _ = try SQLiteServerState.nextChange(of: Self.scope, in: database)
        }
    }

    // MARK: Sign-ins and approvals

    func signIns(
        of user: String, from address: String
    ) async throws(ServerStateError) -> SignInRecord {
        try await state.stateFile.read { database in
            try Row.fetchOne(
                database, sql: "select * from sign_in where user_name = ? and address = ?",
                arguments: [user, address]
            ).map {
                SignInRecord(failures: $0["failures"], failedAt: $0.moment("failed_at"), isKnown: $0["known"])
            } ?? SignInRecord()
        }
    }

    func noteSignIn(
        of user: String, from address: String, hasSucceeded: Bool
    ) async throws(ServerStateError) {
        let now = state.clock()
        if hasSucceeded {
            // Most sign-ins change nothing.
            let known = try await signIns(of: user, from: address)
            guard !known.isKnown || known.failures > 0 else { return }
        }
        try await state.stateFile.write { database in
            let failure = hasSucceeded ? 0 : 1
            try database.execute(
                sql: """
                    insert into sign_in values (?1, ?2, ?3, ?4, ?5) on conflict (user_name, address) do update set
                    failures = case when ?3 = 0 then 0 else failures + 1 end, failed_at = coalesce(?4, failed_at),
                    known = max(known, ?5)
                    """,
                arguments: [user, address, failure, hasSucceeded ? nil : now.rawValue, hasSucceeded])
        }
    }

    func approvals() async throws(ServerStateError) -> [ApprovalRecord] {
        let now = state.clock()
        return try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from approval where expires_at > ? order by id", arguments: [now.rawValue]
            ).map(Self.approval)
        }
    }

    func request(
        action: String, body: [UInt8], by operatorName: String, expiresAt: ServerInstant
    ) async throws(ServerStateError) -> ApprovalRecord {
        try await state.stateFile.write { database in
            try database.execute(
                sql: "insert into approval (action, body, requested_by, expires_at) values (?, ?, ?, ?)",
                arguments: [action, Data(body), operatorName, expiresAt.rawValue])
            return ApprovalRecord(
                id: database.lastInsertedRowID, action: action, body: body, requestedBy: operatorName,
                approvedBy: nil, expiresAt: expiresAt)
        }
    }

    func approve(
        _ id: RecordNumber, by operatorName: String
    ) async throws(ServerStateError) -> ApprovalRecord? {
        let now = state.clock()
        return try await state.stateFile.write { database in
            try Row.fetchOne(
                database,
                sql: """
                    update approval set approved_by = ?1 where id = ?2 and approved_by is null and requested_by <> ?1
                    and expires_at > ?3 returning *
                    """, arguments: [operatorName, id, now.rawValue]
            ).map(Self.approval)
        }
    }

    private static func approval(_ row: Row) -> ApprovalRecord {
        ApprovalRecord(
            id: row["id"], action: row["action"], body: row.bytes("body") ?? [], requestedBy: row["requested_by"],
            approvedBy: row["approved_by"], expiresAt: ServerInstant(rawValue: row["expires_at"]))
    }

    // MARK: Audit

    func audit(_ note: AuditNote) async throws(ServerStateError) -> AuditEntry {
        let (chain, now) = (AuditChain(keys: state.keys), state.clock())
        return try await state.stateFile.write { try chain.append(note, at: now, in: $0) }
    }

    func audit(before number: Int64?, limit: Int) async throws(ServerStateError) -> [AuditEntry] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from audit where number < ? order by number desc limit ?",
                arguments: [number ?? .max, min(max(limit, 1), 1000)]
            ).map(AuditChain.entry)
        }
    }

    func auditHead() async throws(ServerStateError) -> AuditHead {
        let chain = AuditChain(keys: state.keys)
        return try await state.stateFile.read { try chain.head(in: $0) }
    }

    func verifyAudit(logged: AuditHead?) async throws(ServerStateError) -> AuditVerdict {
        let chain = AuditChain(keys: state.keys)
        return try await state.stateFile.read { try chain.verify(logged: logged, in: $0) }
    }

    func replaceInAudit(_ name: String, by pseudonym: String) async throws(ServerStateError) -> Int {
        guard !name.isEmpty else { return 0 }
        let (chain, now) = (AuditChain(keys: state.keys), state.clock())
        return try await state.stateFile.write { try chain.replace(name, by: pseudonym, at: now, in: $0) }
    }
}
