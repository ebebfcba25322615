import PostgresClient
import ServerState

/// Operators and their sessions.
struct PostgresOperatorStore: OperatorStore {
    let state: PostgresServerState

    private static let scope = ChangeNumberScope.server

    func all() async throws(ServerStateError) -> [OperatorRecord] {
        let sealing = state.sealing
        return try await state.all("select * from operator order by name") { try Self.record($0, sealing) }
    }

    func named(_ name: String) async throws(ServerStateError) -> OperatorRecord? {
        let sealing = state.sealing
        return try await state.all("select * from operator where name = $1", .text(name)) {
            try Self.record($0, sealing)
        }.first
    }

    func withID(_ id: RecordNumber) async throws(ServerStateError) -> OperatorRecord? {
        let sealing = state.sealing
        return try await state.all("select * from operator where id = $1", .integer(id)) {
            try Self.record($0, sealing)
        }.first
    }

    func add(_ record: OperatorRecord) async throws(ServerStateError) -> OperatorRecord {
        let sealing = state.sealing
        return try await state.work { work in
            let (password, totp) = try Self.sealed(record.password, record.totp, of: record.name, with: sealing)
            let change = try await work.nextChange(of: Self.scope)
            let row = try await work.row(
                """
                insert into operator (name, kind, password, totp, role, locked, etag, change, created_at)
                values ($1, $2, $3, $4, $5, $6, $7, $7, $8) on conflict (name) do nothing returning *
                """, .text(record.name), .text(record.kind), .bytesOrNull(password), .bytesOrNull(totp),
                .text(record.role.rawValue), .flag(record.isLocked), .integer(change), .instant(work.now))
            guard let row else { throw ServerStateError.alreadyExists(kind: "operator", name: record.name) }
            return try Self.record(row, sealing)
        }
    }

    func update(
        _ name: String, ifMatch etag: ChangeNumber?, _ change: OperatorChange
    ) async throws(ServerStateError) -> OperatorRecord {
        let sealing = state.sealing
        return try await state.work { work in
            let found = try await work.row("select * from operator where name = $1 for update", .text(name))
            guard let found else { throw ServerStateError.missing(kind: "operator", name: name) }
            let known = try Self.record(found, sealing)
            guard etag == nil || etag == known.etag else {
                throw ServerStateError.changed(kind: "operator", name: name)
            }
            let resets = change.resetsCredentials
            let (password, totp) = try Self.sealed(
                change.password ?? (resets ? nil : known.password), change.totp ?? (resets ? nil : known.totp),
                of: name, with: sealing)
            if resets || change.password != nil || change.totp != nil || change.isLocked == true {
                try await work.rows("delete from operator_session where operator = $1", .integer(known.id))
            }
            let number = try await work.nextChange(of: Self.scope)
            let row = try await work.row(
                """
                update operator set password = $1, totp = $2, role = $3, locked = $4, etag = $5, change = $5
                where id = $6 returning *
                """, .bytesOrNull(password), .bytesOrNull(totp), .text((change.role ?? known.role).rawValue),
                .flag(change.isLocked ?? known.isLocked), .integer(number), .integer(known.id))
            guard let row else { throw ServerStateError.missing(kind: "operator", name: name) }
            return try Self.record(row, sealing)
        }
    }

    func remove(_ name: String) async throws(ServerStateError) {
        try await state.work { work in
            let count = try await work.change("delete from operator where name = $1", .text(name))
            guard count == 1 else { throw ServerStateError.missing(kind: "operator", name: name) }
            try await work.noteRemoval(of: name, from: "operator", scope: Self.scope)
        }
    }

    func takeTOTPStep(_ step: Int64, of id: RecordNumber) async throws(ServerStateError) -> Bool {
        try await state.write(
            "update operator set totp_step = $1 where id = $2 and totp_step < $1", .integer(step), .integer(id)
        ).changedCount == 1
    }

    // MARK: Sessions

    func begin(_ session: OperatorSession) async throws(ServerStateError) {
        try await state.write(
            "insert into operator_session values ($1, $2, $3, $4, $5, $6)", .bytes(session.tokenHash),
            .integer(session.operatorID), .instant(session.createdAt), .instant(session.seenAt),
            .instantOrNull(session.confirmedAt), .text(session.address))
    }

    func session(
        _ tokenHash: [UInt8], idle: Duration, length: Duration
    ) async throws(ServerStateError) -> OperatorSession? {
        let rows = try await state.write(
            """
            with clock as materialized (select outpost_now($1) as now),
            old as (delete from operator_session s using clock
              where s.seen_at < clock.now - $3 or s.created_at < clock.now - $4)
            update operator_session s set seen_at = clock.now from clock where s.token_hash = $2
            and s.seen_at >= clock.now - $3 and s.created_at >= clock.now - $4
            and exists (select 1 from operator o where o.id = s.operator and not o.locked) returning s.*
            """, state.given, .bytes(tokenHash), .integer(idle.microseconds), .integer(length.microseconds))
        do {
            return try rows.first.map { row in
                OperatorSession(
                    tokenHash: tokenHash, operatorID: try row.integer("operator"),
                    createdAt: try row.instant("created_at"), seenAt: try row.instant("seen_at"),
                    confirmedAt: try row.instantOrNil("confirmed_at"), address: try row.text("address"))
            }
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    func confirm(_ tokenHash: [UInt8]) async throws(ServerStateError) {
        try await state.write(
            "update operator_session set confirmed_at = outpost_now($1) where token_hash = $2", state.given,
            .bytes(tokenHash))
    }

    func end(_ tokenHash: [UInt8]) async throws(ServerStateError) {
        try await state.write("delete from operator_session where token_hash = $1", .bytes(tokenHash))
    }

    // MARK: Rows

    private static func sealed(
        _ password: String?, _ totp: [UInt8]?, of name: String, with sealing: PostgresSealing
    ) throws -> ([UInt8]?, [UInt8]?) {
        (
            try sealing.seal(password.map { Array($0.utf8) }, table: "operator", column: "password", key: name),
            try sealing.seal(totp, table: "operator", column: "totp", key: name)
        )
    }

    private static func record(_ row: PostgresRow, _ sealing: PostgresSealing) throws -> OperatorRecord {
        let name = try row.text("name")
        return OperatorRecord(
            id: try row.integer("id"), name: name, kind: try row.text("kind"),
            password: try sealing.openText(
                try row.bytesOrNil("password"), table: "operator", column: "password", key: name),
            totp: try sealing.open(try row.bytesOrNil("totp"), table: "operator", column: "totp", key: name),
            totpStep: try row.integer("totp_step"), role: OperatorRole(rawValue: try row.text("role")) ?? .viewer,
            isLocked: try row.flag("locked"), etag: try row.integer("etag"), change: try row.integer("change"),
            createdAt: try row.instant("created_at"))
    }
}
