import PostgresClient
import Secrets
import ServerState

/// Service keys, secrets, sign-in counters, approvals and the audit.
extension PostgresOperatorStore {
    private static var scope: String { ChangeNumberScope.server }

    // MARK: Service keys

    func serviceKeys(of application: RecordNumber) async throws(ServerStateError) -> [ServiceKeyRecord] {
        try await state.all(
            "select * from service_key where application = $1 order by id", .integer(application),
            each: Self.serviceKey)
    }

    func serviceKey(_ id: String) async throws(ServerStateError) -> ServiceKeyRecord? {
        try await state.all(
            "select * from service_key where id = $1 and (expires_at is null or expires_at > outpost_now($2))",
            .text(id), state.given, each: Self.serviceKey
        ).first
    }

    func add(_ key: ServiceKeyRecord) async throws(ServerStateError) -> ServiceKeyRecord {
        try await state.work { work in
            _ = try await work.name(of: key.application)
            let change = try await work.nextChange(of: Self.scope)
            let row = try await work.row(
                "insert into service_key values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing returning *",
                .text(key.id), .integer(key.application), .bytes(key.hash), .text(RoleList.write(key.roles)),
                .instantOrNull(key.expiresAt), .integer(change), .instant(work.now))
            guard let row else { throw ServerStateError.alreadyExists(kind: "service key", name: key.id) }
            return try Self.serviceKey(row)
        }
    }

    func removeServiceKey(_ id: String) async throws(ServerStateError) {
        try await state.work { work in
            let count = try await work.change("delete from service_key where id = $1", .text(id))
            guard count == 1 else { throw ServerStateError.missing(kind: "service key", name: id) }
            try await work.noteRemoval(of: id, from: "service_key", scope: Self.scope)
        }
    }

    private static func serviceKey(_ row: PostgresRow) throws -> ServiceKeyRecord {
        ServiceKeyRecord(
            id: try row.text("id"), application: try row.integer("application"), hash: try row.bytes("key_hash"),
            roles: RoleList.read(try row.text("roles")), expiresAt: try row.instantOrNil("expires_at"),
            change: try row.integer("change"), createdAt: try row.instant("created_at"))
    }

    // MARK: Secrets

    func secrets() async throws(ServerStateError) -> [StoredSecretName] {
        try await state.all("select name, version, created_at from secret order by name") {
            StoredSecretName(
                name: try $0.text("name"), version: try $0.number("version"), createdAt: try $0.instant("created_at"))
        }
    }

    func secret(_ name: String) async throws(ServerStateError) -> Secret<[UInt8]>? {
        let sealing = state.sealing
        return try await state.all("select version, sealed from secret where name = $1", .text(name)) { row in
            let version = try row.integer("version")
            return try sealing.open(
                try row.bytes("sealed"), table: "secret", column: "sealed", key: "\(name)/\(version)"
            ).map { Secret($0) }
        }.compactMap(\.self).first
    }

    func setSecret(_ value: Secret<[UInt8]>?, named name: String) async throws(ServerStateError) {
        let sealing = state.sealing
        try await state.work { work in
            guard let value else {
                let count = try await work.change("delete from secret where name = $1", .text(name))
                if count > 0 { try await work.noteRemoval(of: name, from: "secret", scope: Self.scope) }
                return
            }
            let former = try await work.row("select version from secret where name = $1 for update", .text(name))
            let version = (try former?.integer("version") ?? 0) + 1
            let sealed = try sealing.seal(
                value.reveal(), table: "secret", column: "sealed", key: "\(name)/\(version)")
            if former == nil {
                // A second value at once is refused here, and finds the first one in its next try.
                try await work.rows(
                    "insert into secret values ($1, $2, $3, $4)", .text(name), .integer(version), .bytes(sealed),
                    .instant(work.now))
            } else {
                try await work.rows(
                    "update secret set version = $2, sealed = $3, created_at = $4 where name = $1", .text(name),
                    .integer(version), .bytes(sealed), .instant(work.now))
            }
            _ = try await work.nextChange(of: Self.scope)
        }
    }

    // MARK: Sign-ins and approvals

    func signIns(
        of user: String, from address: String
    ) async throws(ServerStateError) -> SignInRecord {
        try await state.all(
            "select * from sign_in where user_name = $1 and address = $2", .text(user), .text(address)
        ) {
            SignInRecord(
                failures: try $0.number("failures"), failedAt: try $0.instantOrNil("failed_at"),
                isKnown: try $0.flag("known"))
        }.first ?? SignInRecord()
    }

    func noteSignIn(
        of user: String, from address: String, hasSucceeded: Bool
    ) async throws(ServerStateError) {
        if hasSucceeded {
            // Most sign-ins change nothing.
            let known = try await signIns(of: user, from: address)
            guard !known.isKnown || known.failures > 0 else { return }
        }
        try await state.write(
            """
            insert into sign_in as s values ($1, $2, case when $3 then 0 else 1 end,
            case when $3 then null else outpost_now($4) end, $3) on conflict (user_name, address) do update set
            failures = case when $3 then 0 else s.failures + 1 end,
            failed_at = coalesce(excluded.failed_at, s.failed_at), known = s.known or $3
            """, .text(user), .text(address), .flag(hasSucceeded), state.given)
    }

    func approvals() async throws(ServerStateError) -> [ApprovalRecord] {
        try await state.all(
            "select * from approval where expires_at > outpost_now($1) order by id", state.given, each: Self.approval)
    }

    func request(
        action: String, body: [UInt8], by operatorName: String, expiresAt: ServerInstant
    ) async throws(ServerStateError) -> ApprovalRecord {
        let rows = try await state.write(
            "insert into approval (action, body, requested_by, expires_at) values ($1, $2, $3, $4) returning *",
            .text(action), .bytes(body), .text(operatorName), .instant(expiresAt))
        do {
            guard let row = rows.first else { throw ServerStateError.damaged(reason: "no approval was stored") }
            return try Self.approval(row)
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    func approve(
        _ id: RecordNumber, by operatorName: String
    ) async throws(ServerStateError) -> ApprovalRecord? {
        let rows = try await state.write(
            """
            update approval set approved_by = $1 where id = $2 and approved_by is null and requested_by <> $1
            and expires_at > outpost_now($3) returning *
            """, .text(operatorName), .integer(id), state.given)
        do {
            return try rows.first.map(Self.approval)
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    private static func approval(_ row: PostgresRow) throws -> ApprovalRecord {
        ApprovalRecord(
            id: try row.integer("id"), action: try row.text("action"), body: try row.bytes("body"),
            requestedBy: try row.text("requested_by"), approvedBy: try row.textOrNil("approved_by"),
            expiresAt: try row.instant("expires_at"))
    }

    // MARK: Audit

    func audit(_ note: AuditNote) async throws(ServerStateError) -> AuditEntry {
        let audit = PostgresAudit(keys: state.keys)
        return try await state.work { try await audit.append(note, in: $0) }
    }

    func audit(before number: Int64?, limit: Int) async throws(ServerStateError) -> [AuditEntry] {
        try await state.all(
            "select * from audit where number < $1 order by number desc limit $2", .integer(number ?? .max),
            .number(min(max(limit, 1), 1000)), each: PostgresAudit.entry)
    }

    func auditHead() async throws(ServerStateError) -> AuditHead {
        let audit = PostgresAudit(keys: state.keys)
        return try await state.snapshot { try await audit.head(in: $0) }
    }

    func verifyAudit(logged: AuditHead?) async throws(ServerStateError) -> AuditVerdict {
        let audit = PostgresAudit(keys: state.keys)
        return try await state.snapshot { try await audit.verify(logged: logged, in: $0) }
    }

    func replaceInAudit(_ name: String, by pseudonym: String) async throws(ServerStateError) -> Int {
        guard !name.isEmpty else { return 0 }
        let audit = PostgresAudit(keys: state.keys)
        return try await state.work { try await audit.replace(name, by: pseudonym, in: $0) }
    }
}
