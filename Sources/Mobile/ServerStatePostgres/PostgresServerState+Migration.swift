import PostgresClient
import ServerState

extension PostgresServerState {
    // MARK: Migration

    /// Brings the tables to the version of this build, in one transaction under a lock, so that several nodes may
    /// start at once. Steps only add, so that nodes of the previous build go on.
    public func migrate(dryRun: Bool) async throws(ServerStateError) -> MigrationReport {
        let known = PostgresSchema.version
        let (given, build, keyCheck) = (given, build, keyCheck)
        do {
            return try await client.transaction { transaction in
                // The time limits of other statements do not hold here (`design-review.md` 30).
                try await transaction.execute([
                    PostgresStatement("set local statement_timeout = 0"),
                    PostgresStatement("set local lock_timeout = '60s'"),
                    PostgresStatement("select pg_advisory_xact_lock($1)", [.integer(StateLock.migration.rawValue)]),
                ])
                let from = try await Self.version(in: transaction)
                guard from <= known else { throw ServerStateError.newerSchema(found: Int(from), known: Int(known)) }
                if from > 0 { try await Self.compare(keyCheck, in: transaction) }
                let steps = PostgresSchema.steps.filter { $0.version > from }
                let report = MigrationReport(from: Int(from), to: Int(known), steps: steps.map(\.name))
                guard !dryRun, !steps.isEmpty else { return report }
                try await transaction.execute(PostgresStatement(PostgresSchema.versions))
                for step in steps {
                    try await transaction.execute(step.statements.map { PostgresStatement($0) })
                    try await transaction.execute(
                        PostgresStatement(
                            "insert into schema_version values ($1, outpost_now($2), $3)",
                            [.integer(step.version), given, .text(build)]))
                }
                if from == 0 {
                    try await transaction.execute(
                        PostgresStatement(
                            """
                            insert into cluster (id, incarnation, began_at, key_check)
                            values (1, 1, outpost_now($1), $2)
                            """, [given, .bytes(keyCheck)]))
                }
                return report
            }
        } catch {
            throw Self.translated(error)
        }
    }

    /// A value by which nodes find that their keys are not those of the database.
    private var keyCheck: [UInt8] { keys.authenticationCode(for: Array("outpost cluster".utf8), .records) }

    private static func compare(_ keyCheck: [UInt8], in transaction: PostgresTransaction) async throws {
        let rows = try await transaction.execute(PostgresStatement("select key_check from cluster"))
        guard try rows.first?.bytes("key_check") == keyCheck else {
            throw ServerStateError.sealedValue(table: "cluster", key: "key_check")
        }
    }

    private static func version(in transaction: PostgresTransaction) async throws -> Int64 {
        let table = try await transaction.execute(
            PostgresStatement("select to_regclass('schema_version') is not null as is_there"))
        guard try table.first?.flag("is_there") == true else { return 0 }
        return try await transaction.execute(
            PostgresStatement("select coalesce(max(version), 0) as version from schema_version")
        ).first?.integer("version") ?? 0
    }

    // MARK: Age

    /// The rows that one call of ``expire(_:)`` removes from each table.
    private static let expirySteps: Int64 = 1000

    /// Removes old rows, at most 1,000 from each table, and whole weeks of repeatable requests.
    public func expire(_ ages: RetentionAges) async throws(ServerStateError) -> Bool {
        let keys = keys
        let remains = try await work { work in
            let (now, limit) = (work.now, PostgresValue.integer(Self.expirySteps))
            let day = now - .seconds(86_400)
            var remains = false
            for (text, moment) in [
                (
                    "delete from once where (kind, id) in (select kind, id from once where expires_at < $1 limit $2)",
                    now
                ),
                (
                    """
                    delete from activation where code_hash in
                    (select code_hash from activation where expires_at < $1 limit $2)
                    """, day
                ), ("delete from approval where id in (select id from approval where expires_at < $1 limit $2)", now),
                (
                    """
                    delete from sign_in where (user_name, address) in
                    (select user_name, address from sign_in where not known and failed_at < $1 limit $2)
                    """, day
                ),
                (
                    """
                    delete from registration where (application, id) in
                    (select application, id from registration where state = 205 and ended_at < $1 limit $2)
                    """, now - .seconds(30 * 86_400)
                ),
                (
                    "delete from part_set where id in (select id from part_set where used_at < $1 limit $2)",
                    now - .seconds(60 * 86_400)
                ),
            ] {
                let count = try await work.change(text, .instant(moment), limit)
                if count >= Int(Self.expirySteps) { remains = true }
            }
            try await work.rows(
                """
                update change_head c set floor = r.newest from (select scope, max(change) as newest from removed_row
                where at < $1 group by scope) r where r.scope = c.scope and r.newest > c.floor
                """, .instant(day))
            try await work.rows("delete from removed_row where at < $1", .instant(day))
            try await PostgresAudit(keys: keys).expire(before: now - ages.audit, limit: Self.expirySteps, in: work)
            return remains
        }
        try await PostgresReplayStore(state: self).dropWeeks(olderThan: ages.replays)
        return remains
    }
}
