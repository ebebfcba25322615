import Foundation
import GRDB

/// Jobs in `state.db`.
struct SQLiteJobStore: JobStore {
    let state: SQLiteServerState

    /// The number of tries after which a job waits for an operator.
    static let tryLimit = 10

    func add(_ job: NewJob) async throws(ServerStateError) {
        let due = job.dueAt ?? state.clock()
        try await state.stateFile.write { database in
            try database.execute(
                sql: """
                    insert into job (kind, target, payload, due_at) values (?1, ?2, ?3, ?4)
                    on conflict (kind, target) do update set payload = coalesce(?3, payload),
                    due_at = case when tries >= \(Self.tryLimit) then ?4 else min(due_at, ?4) end,
                    tries = case when tries >= \(Self.tryLimit) then 0 else tries end,
                    added_again = lease_until is not null
                    """, arguments: [job.kind.rawValue, job.target, job.payload.map { Data($0) }, due.rawValue])
        }
        await state.signal.send([.jobs])
    }

    func claim(
        _ kinds: Set<JobKind>, limit: Int, lease: Duration, owner: String
    ) async throws(ServerStateError) -> [LeasedJob] {
        let now = state.clock()
        let until = now + lease
        let names = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        let due = """
            select id from job where kind in (\(names)) and due_at <= ?1 and tries < \(Self.tryLimit)
            and (lease_until is null or lease_until <= ?1) order by due_at, id limit ?2
            """
        let isIdle = try await state.stateFile.read { database in
            try Int64.fetchOne(database, sql: due, arguments: [now.rawValue, 1]) == nil
        }
        guard !isIdle, limit > 0 else { return [] }
        return try await state.stateFile.write { database in
            var jobs: [LeasedJob] = []
            for id in try Int64.fetchAll(database, sql: due, arguments: [now.rawValue, limit]) {
                // A lease that has run out counts as a try: a job that ends its node must not go on for ever.
                let row = try Row.fetchOne(
                    database,
                    sql: """
                        update job set tries = tries + (lease_until is not null), lease_until = ?, owner = ?, fence = ?
                        where id = ? returning *
                        """, arguments: [until.rawValue, owner, try Self.nextFence(in: database), id])
                guard let row, let kind = JobKind(rawValue: row["kind"]) else { continue }
                jobs.append(
                    LeasedJob(
                        id: id, kind: kind, target: row["target"], payload: row.bytes("payload"), owner: owner,
                        fence: row["fence"], leaseUntil: until, tries: row["tries"]))
            }
            return jobs
        }
    }

    /// Takes a fence, which is higher than all before it.
    static func nextFence(in database: Database) throws -> Fence {
        let fence = try Int64.fetchOne(
            database, sql: "update cluster set fence = max(fence, incarnation << 32) + 1 returning fence")
        guard let fence else { throw ServerStateError.damaged(reason: "the table cluster is empty") }
        return fence
    }

    func extend(_ job: LeasedJob, by lease: Duration) async throws(ServerStateError) -> Bool {
        let until = state.clock() + lease
        return try await state.stateFile.write { database in
            guard try Self.isPresent(job, in: database) else { return false }
            try database.execute(
                sql: "update job set lease_until = ? where id = ?", arguments: [until.rawValue, job.id])
            return true
        }
    }

    /// Returns whether a job still belongs to a lease. The lease may have run out, as long as nobody else has the job.
    private static func isPresent(_ job: LeasedJob, in database: Database) throws -> Bool {
        guard try SQLiteServerState.incarnation(in: database).number == job.fence >> 32 else { return false }
        return try Int.fetchOne(
            database, sql: "select 1 from job where id = ? and fence = ? and lease_until is not null",
            arguments: [job.id, job.fence]) != nil
    }

    func finish(_ job: LeasedJob, _ outcome: JobOutcome) async throws(ServerStateError) -> Bool {
        let now = state.clock()
        return try await state.stateFile.write { database in
            guard try Self.isPresent(job, in: database) else { return false }
            let wasAdded =
                try Bool.fetchOne(database, sql: "select added_again from job where id = ?", arguments: [job.id])
                ?? false
            func release(_ assignments: String, _ arguments: StatementArguments) throws {
                try database.execute(
                    sql: """
                        update job set lease_until = null, owner = null, added_again = 0, \(assignments) where id = ?
                        """, arguments: arguments + [job.id])
            }
            switch outcome {
            case .done where !wasAdded:
                try database.execute(sql: "delete from job where id = ?", arguments: [job.id])
            case .done: try release("tries = 0, error = null, due_at = ?", [now.rawValue])
            case .again(let due):
                let moment = wasAdded ? min(due, now) : due
                // The payload was for this run. One that was added meanwhile is for the next.
                try release(
                    "tries = 0, error = null, payload = iif(added_again, payload, null), due_at = ?", [moment.rawValue])
            case .failed(let reason, let delay):
                let due = wasAdded ? now : now + delay
                try release(
                    "tries = tries + 1, error = ?, due_at = ?", [String(reason.prefix(1000)), due.rawValue])
            case .returned: try release("due_at = due_at", [])
            }
            return true
        }
    }

    func all() async throws(ServerStateError) -> [JobRecord] {
        try await state.stateFile.read { database in
            try Row.fetchAll(database, sql: "select * from job order by due_at, id limit 1000").compactMap { row in
                JobKind(rawValue: row["kind"]).map { kind in
                    JobRecord(
                        id: row["id"], kind: kind, target: row["target"], payload: row.bytes("payload"),
                        dueAt: ServerInstant(rawValue: row["due_at"]), leaseUntil: row.moment("lease_until"),
                        owner: row["owner"], tries: row["tries"], error: row["error"])
                }
            }
        }
    }
}

/// Nodes in `state.db`.
struct SQLiteNodeStore: NodeStore {
    let state: SQLiteServerState

    func beat(_ id: String, build: String, isDraining: Bool) async throws(ServerStateError) {
        let now = state.clock()
        try await state.stateFile.write { database in
            try database.execute(
                sql: """
                    insert into node values (?1, ?2, \(SQLiteSchema.version), ?3, ?3, ?4)
                    on conflict (id) do update set build = ?2, schema_version = \(SQLiteSchema.version), seen_at = ?3,
                    draining = ?4
                    """, arguments: [id, build, now.rawValue, isDraining])
        }
    }

    func leave(_ id: String) async throws(ServerStateError) {
        try await state.stateFile.write { database in
            try database.execute(sql: "delete from node where id = ?", arguments: [id])
        }
    }

    func all() async throws(ServerStateError) -> [NodeRecord] {
        let oldest = state.clock() - .seconds(300)
        return try await state.stateFile.read { database in
            try Row.fetchAll(
                database, sql: "select * from node where seen_at > ? order by id", arguments: [oldest.rawValue]
            ).map {
                NodeRecord(
                    id: $0["id"], build: $0["build"], schemaVersion: $0["schema_version"],
                    startedAt: ServerInstant(rawValue: $0["started_at"]),
                    seenAt: ServerInstant(rawValue: $0["seen_at"]), isDraining: $0["draining"])
            }
        }
    }
}

/// Values for one use in `state.db`.
struct SQLiteOnceStore: OnceStore {
    let state: SQLiteServerState

    func use(
        _ id: [UInt8], _ kind: OnceKind, until expiresAt: ServerInstant
    ) async throws(ServerStateError) -> Bool {
        try await count(id, kind, until: expiresAt) == 1
    }

    func count(
        _ id: [UInt8], _ kind: OnceKind, until expiresAt: ServerInstant
    ) async throws(ServerStateError) -> Int {
        try await state.stateFile.write { database in
            try Int.fetchOne(
                database,
                sql: """
                    insert into once values (?, ?, 1, ?) on conflict (kind, id)
                    do update set uses = uses + 1 returning uses
                    """, arguments: [kind.rawValue, Data(id), expiresAt.rawValue]) ?? 0
        }
    }
}
