import Foundation
import GRDB
import Secrets

/// Operators and their sessions in `state.db`.
struct SQLiteOperatorStore: OperatorStore {
    let state: SQLiteServerState

    var sealing: Sealing { Sealing(state.keys) }
    private static let scope = ChangeNumberScope.server

    func all() async throws(ServerStateError) -> [OperatorRecord] {
        let sealing = sealing
        return try await state.stateFile.read { database in
            try Row.fetchAll(database, sql: "select * from operator order by name")
                .map { try Self.record($0, sealing) }
        }
    }

    func named(_ name: String) async throws(ServerStateError) -> OperatorRecord? {
        let sealing = sealing
        return try await state.stateFile.read { try Self.find(name, sealing, in: $0) }
    }

    func withID(_ id: RecordNumber) async throws(ServerStateError) -> OperatorRecord? {
        let sealing = sealing
        return try await state.stateFile.read { database in
            try Row.fetchOne(database, sql: "select * from operator where id = ?", arguments: [id])
                .map { try Self.record($0, sealing) }
        }
    }

    func add(_ record: OperatorRecord) async throws(ServerStateError) -> OperatorRecord {
        let (sealing, now) = (sealing, state.clock())
        return try await state.stateFile.write { database in
            guard try Self.find(record.name, sealing, in: database) == nil else {
                throw ServerStateError.alreadyExists(kind: "operator", name: record.name)
            }
            let change = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            let (password, totp) = try Self.sealed(record.password, record.totp, of: record.name, with: sealing)
            try database.execute(
                sql: """
                    insert into operator (name, kind, password, totp, role, locked, etag, change, created_at)
                    values (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    record.name, record.kind, password, totp, record.role.rawValue, record.isLocked, change, change,
                    now.rawValue,
                ])
            return try Self.known(record.name, sealing, in: database)
        }
    }

    func update(
        _ name: String, ifMatch etag: ChangeNumber?, _ change: OperatorChange
    ) async throws(ServerStateError) -> OperatorRecord {
        let sealing = sealing
        return try await state.stateFile.write { database in
            let known = try Self.known(name, sealing, in: database)
            guard etag == nil || etag == known.etag else {
                throw ServerStateError.changed(kind: "operator", name: name)
            }
            let number = try SQLiteServerState.nextChange(of: Self.scope, in: database)
            let resets = change.resetsCredentials
            let (password, totp) = try Self.sealed(
                change.password ?? (resets ? nil : known.password), change.totp ?? (resets ? nil : known.totp),
                of: name, with: sealing)
            try database.execute(
                sql: """
                    update operator set password = ?, totp = ?, role = ?, locked = ?, etag = ?, change = ? where id = ?
                    """,
                arguments: [
                    password, totp, (change.role ?? known.role).rawValue, change.isLocked ?? known.isLocked, number,
                    number, known.id,
                ])
            if resets || change.password != nil || change.totp != nil || change.isLocked == true {
                try database.execute(sql: "delete from operator_session where operator = ?", arguments: [known.id])
            }
            return try Self.known(name, sealing, in: database)
        }
    }

    func remove(_ name: String) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            try database.execute(sql: "delete from operator where name = ?", arguments: [name])
            guard database.changesCount == 1 else { throw ServerStateError.missing(kind: "operator", name: name) }
            try SQLiteServerState.noteRemoval(
                of: name, from: "operator", scope: Self.scope, at: now, in: database)
        }
    }

    func takeTOTPStep(_ step: Int64, of id: RecordNumber) async throws(ServerStateError) -> Bool {
        try await state.stateFile.write { database in
            try database.execute(
                sql: "update operator set totp_step = ?1 where id = ?2 and totp_step < ?1", arguments: [step, id])
            return database.changesCount == 1
        }
    }

    // MARK: Sessions

    func begin(_ session: OperatorSession) async throws(ServerStateError) {
        try await state.stateFile.write { database in
            try database.execute(
                sql: "insert into operator_session values (?, ?, ?, ?, ?, ?)",
                arguments: [
                    Data(session.tokenHash), session.operatorID, session.createdAt.rawValue, session.seenAt.rawValue,
                    session.confirmedAt?.rawValue, session.address,
                ])
        }
    }

    func session(
        _ tokenHash: [UInt8], idle: Duration, length: Duration
    ) async throws(ServerStateError) -> OperatorSession? {
        let now = state.clock()
        return try await state.stateFile.write { database in
            try database.execute(
                sql: "delete from operator_session where seen_at < ? or created_at < ?",
                arguments: [(now - idle).rawValue, (now - length).rawValue])
            return try Row.fetchOne(
                database,
                sql: """
                    update operator_session set seen_at = ? where token_hash = ? and exists
                    (select 1 from operator o where o.id = operator and o.locked = 0) returning *
                    """, arguments: [now.rawValue, Data(tokenHash)]
            ).map { row in
                OperatorSession(
                    tokenHash: tokenHash, operatorID: row["operator"],
                    createdAt: ServerInstant(rawValue: row["created_at"]), seenAt: now,
                    confirmedAt: row.moment("confirmed_at"), address: row["address"])
            }
        }
    }

    func confirm(_ tokenHash: [UInt8]) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            try database.execute(
                sql: "update operator_session set confirmed_at = ? where token_hash = ?",
                arguments: [now.rawValue, Data(tokenHash)])
        }
    }

    func end(_ tokenHash: [UInt8]) async throws(ServerStateError) {
        try await state.stateFile.write { database in
            try database.execute(
                sql: "delete from operator_session where token_hash = ?", arguments: [Data(tokenHash)])
        }
    }

    // MARK: Rows

    private static func find(_ name: String, _ sealing: Sealing, in database: Database) throws -> OperatorRecord? {
        try Row.fetchOne(database, sql: "select * from operator where name = ?", arguments: [name])
            .map { try record($0, sealing) }
    }

    private static func known(_ name: String, _ sealing: Sealing, in database: Database) throws -> OperatorRecord {
        guard let record = try find(name, sealing, in: database) else {
            throw ServerStateError.missing(kind: "operator", name: name)
        }
        return record
    }

    private static func sealed(
        _ password: String?, _ totp: [UInt8]?, of name: String, with sealing: Sealing
    ) throws -> (Data?, Data?) {
        (
            try sealing.seal(password.map { Array($0.utf8) }, table: "operator", column: "password", key: name),
            try sealing.seal(totp, table: "operator", column: "totp", key: name)
        )
    }

    private static func record(_ row: Row, _ sealing: Sealing) throws -> OperatorRecord {
        let name: String = row["name"]
        return OperatorRecord(
            id: row["id"], name: name, kind: row["kind"],
            password: try sealing.openText(row["password"], table: "operator", column: "password", key: name),
            totp: try sealing.open(row["totp"], table: "operator", column: "totp", key: name),
            totpStep: row["totp_step"], role: OperatorRole(rawValue: row["role"]) ?? .viewer,
            isLocked: row["locked"], etag: row["etag"], change: row["change"],
            createdAt: ServerInstant(rawValue: row["created_at"]))
    }
}
