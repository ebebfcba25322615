import PostgresClient
import ServerState

/// Jobs with leases by the database's clock.
struct PostgresJobStore: JobStore {
    let state: PostgresServerState

    /// The number of tries after which a job waits for an operator.
    static let tryLimit = 10

    func add(_ job: NewJob) async throws(ServerStateError) {
        try await state.write(
            """
            insert into job as j (kind, target, payload, due_at) values ($1, $2, $3, coalesce($4, outpost_now($5)))
            on conflict (kind, target) do update set payload = coalesce(excluded.payload, j.payload),
            due_at = case when j.tries >= \(Self.tryLimit) then excluded.due_at
            else least(j.due_at, excluded.due_at) end,
            tries = case when j.tries >= \(Self.tryLimit) then 0 else j.tries end,
            added_again = j.lease_until is not null
            """, .text(job.kind.rawValue), .text(job.target), .bytesOrNull(job.payload), .instantOrNull(job.dueAt),
            state.given)
        await state.signal.send([.jobs])
    }

    func claim(
        _ kinds: Set<JobKind>, limit: Int, lease: Duration, owner: String
    ) async throws(ServerStateError) -> [LeasedJob] {
        guard limit > 0 else { return [] }
        // The array is made once: a join with a limited query could claim more than the limit (`design-review.md` 20).
        let rows = try await state.write(
            """
            with clock as materialized (select outpost_now($1) as now),
            due as materialized (select array(
              select id from job where kind = any($2) and due_at <= (select now from clock)
              and tries < \(Self.tryLimit) and (lease_until is null or lease_until <= (select now from clock))
              order by due_at, id limit $3 for update skip locked) as ids),
            fences as (update cluster set fence = greatest(fence, incarnation << 32) + cardinality(due.ids) from due
              where cardinality(due.ids) > 0 returning fence)
            update job set tries = tries + (lease_until is not null)::integer, lease_until = clock.now + $4, owner = $5,
            fence = fences.fence - cardinality(due.ids) + array_position(due.ids, job.id)
            from clock, due, fences where job.id = any(due.ids) returning job.*
            """, state.given, .texts(kinds.map(\.rawValue).sorted()), .number(limit), .integer(lease.microseconds),
            .text(owner))
        do {
            return try rows.compactMap { row -> LeasedJob? in
                guard let kind = JobKind(rawValue: try row.text("kind")) else { return nil }
                return LeasedJob(
                    id: try row.integer("id"), kind: kind, target: try row.text("target"),
                    payload: try row.bytesOrNil("payload"), owner: owner, fence: try row.integer("fence"),
                    leaseUntil: try row.instant("lease_until"), tries: try row.number("tries"))
            }.sorted { $0.fence < $1.fence }
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    /// The condition that a job still belongs to a lease. The lease may have run out, as long as nobody else has the
    /// job.
    private static let isPresent = """
        id = $1 and fence = $2 and lease_until is not null and exists
        (select 1 from cluster where incarnation = $2 >> 32)
        """

    func extend(_ job: LeasedJob, by lease: Duration) async throws(ServerStateError) -> Bool {
        try await state.write(
            "update job set lease_until = outpost_now($3) + $4 where \(Self.isPresent)", .integer(job.id),
            .integer(job.fence), state.given, .integer(lease.microseconds)
        ).changedCount == 1
    }

    func finish(_ job: LeasedJob, _ outcome: JobOutcome) async throws(ServerStateError) -> Bool {
        let (id, fence, given) = (PostgresValue.integer(job.id), PostgresValue.integer(job.fence), state.given)
        let free = "update job set lease_until = null, owner = null, added_again = false"
        let rows: PostgresRows
        switch outcome {
        case .done:
            rows = try await state.write(
                """
                with gone as (delete from job where \(Self.isPresent) and not added_again returning id),
                again as (\(free), tries = 0, error = null, due_at = outpost_now($3)
                  where \(Self.isPresent) and added_again returning id)
                select id from gone union all select id from again
                """, id, fence, given)
        case .again(let due):
            // The payload was for this run. One that was added meanwhile is for the next.
            rows = try await state.write(
                """
                \(free), tries = 0, error = null, payload = case when added_again then payload end,
                due_at = case when added_again then least($4, outpost_now($3)) else $4 end where \(Self.isPresent)
                """, id, fence, given, .instant(due))
        case .failed(let reason, let delay):
            rows = try await state.write(
                """
                \(free), tries = tries + 1, error = $5,
                due_at = outpost_now($3) + case when added_again then 0 else $4 end where \(Self.isPresent)
                """, id, fence, given, .integer(delay.microseconds), .text(String(reason.prefix(1000))))
        case .returned:
            rows = try await state.write("\(free) where \(Self.isPresent)", id, fence)
        }
        return rows.count + rows.changedCount > 0
    }

    func all() async throws(ServerStateError) -> [JobRecord] {
        try await state.all("select * from job order by due_at, id limit 1000") { row in
            try JobKind(rawValue: try row.text("kind")).map { kind in
                JobRecord(
                    id: try row.integer("id"), kind: kind, target: try row.text("target"),
                    payload: try row.bytesOrNil("payload"), dueAt: try row.instant("due_at"),
                    leaseUntil: try row.instantOrNil("lease_until"), owner: try row.textOrNil("owner"),
                    tries: try row.number("tries"), error: try row.textOrNil("error"))
            }
        }.compactMap(\.self)
    }
}

/// Nodes. Their signs of life find lost commits, too.
///
/// Each sign of life writes a random mark. If the next one does not find the mark of the same run, the database lost
/// commits without a new timeline, as after a volume was put back. A new incarnation begins then.
struct PostgresNodeStore: NodeStore {
    let state: PostgresServerState

    func beat(_ id: String, build: String, isDraining: Bool) async throws(ServerStateError) {
        let (run, mark) = (state.run, PostgresServerState.randomBytes())
        let expected = state.marks.withLock { $0[id] ?? [] }
        // The outcome of the transaction may stay unknown, so both marks are good until then.
        state.marks.withLock { $0[id] = expected.union([mark]) }
        let hasLost = try await state.work { work in
            let row = try await work.row("select run, mark from node where id = $1 for update", .text(id))
            try await work.rows(
                """
                insert into node values ($1, $2, $3, $4, $4, $5, $6, $7) on conflict (id) do update set build = $2,
                schema_version = $3, seen_at = $4, draining = $5, run = $6, mark = $7
                """, .text(id), .text(build), .integer(PostgresSchema.version), .instant(work.now),
                .flag(isDraining), .bytes(run), .bytes(mark))
            guard !expected.isEmpty else { return false }
            guard let row else { return true }
            // Another process with the same name proves nothing.
            return try row.bytes("run") == run && !expected.contains(try row.bytes("mark"))
        }
        state.marks.withLock { $0[id] = [mark] }
        if hasLost { _ = try await state.beginIncarnation() }
    }

    func leave(_ id: String) async throws(ServerStateError) {
        state.marks.withLock { $0[id] = nil }
        try await state.write("delete from node where id = $1", .text(id))
    }

    func all() async throws(ServerStateError) -> [NodeRecord] {
        try await state.all(
            "select * from node where seen_at > outpost_now($1) - 300000000 order by id collate \"C\"", state.given
        ) {
            NodeRecord(
                id: try $0.text("id"), build: try $0.text("build"), schemaVersion: try $0.number("schema_version"),
                startedAt: try $0.instant("started_at"), seenAt: try $0.instant("seen_at"),
                isDraining: try $0.flag("draining"))
        }
    }
}
