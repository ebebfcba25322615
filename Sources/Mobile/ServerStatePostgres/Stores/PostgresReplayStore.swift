import PostgresClient
import ServerState

/// Repeatable requests, in a partition for each week of their first sending.
struct PostgresReplayStore: ReplayStore {
    let state: PostgresServerState

    /// The age at which a request is forgotten.
    private static let age = Duration.seconds(50 * 86_400)
    /// The time by which a client's clock may be ahead.
    private static let lead = Duration.seconds(86_400)
    /// The tolerance of clocks at the beginning of an incarnation.
    private static let tolerance = Duration.seconds(300)
    /// The number of times that a statement is sent until it sees the commit of another node.
    private static let tries = 5

    func begin(_ request: ReplayRequest) async throws(ServerStateError) -> ReplayDecision {
        for _ in 0..<Self.tries {
            if let decision = try await decide(request) { return decision }
        }
        throw .unavailable(reason: "another node changes the request")
    }

    /// Inserts the request or reads its row, in one statement.
    ///
    /// - Returns: `nil` if another node has inserted the row after the snapshot of the statement.
    private func decide(_ request: ReplayRequest) async throws(ServerStateError) -> ReplayDecision? {
        let key = request.key
        let values: [PostgresValue] = [
            .number(key.week), .bytes(key.owner), .text(key.requestID), .bytes(request.hash), .text(request.node),
            .integer(request.lease.microseconds), .instant(request.firstSent), state.given,
            .integer(Int64.random(in: 1...Int64(Int32.max))), .integer(Self.lead.microseconds),
            .integer(Self.age.microseconds), .integer(Self.tolerance.microseconds),
        ]
        // The fence is of the incarnation and otherwise random: it is compared with that of the same row only.
        let text = """
            with c as materialized (
              select incarnation, began_at, now, $7 > now + $10 as is_ahead, $7 < now - $11 as is_old,
              incarnation = 1 or $7 >= began_at - $12 as is_present
              from cluster, (select outpost_now($8) as now) as clock),
            added as (
              insert into replay (week, owner, request_id, request_hash, state, node, lease_until, fence, received_at)
              select $1, $2, $3, $4, 'received', $5, now + $6, (incarnation << 32) | $9, now from c
              where is_present and not is_ahead and not is_old
              and not exists (select 1 from replay where week = $1 and owner = $2 and request_id = $3)
              on conflict (week, owner, request_id) do nothing returning fence)
            select c.is_ahead, c.is_old, c.is_present, a.fence, r.request_hash, r.status, r.fields, r.body,
            r.lease_until > c.now as is_leased
            from c left join added a on true
            left join replay r on r.week = $1 and r.owner = $2 and r.request_id = $3
            """
        let rows = try await written(text, values, week: key.week)
        do {
            guard let row = rows.first else { throw ServerStateError.damaged(reason: "the table cluster is empty") }
            return try decision(row, request)
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    private func decision(_ row: PostgresRow, _ request: ReplayRequest) throws -> ReplayDecision? {
        if try row.flag("is_ahead") { return .fromFuture }
        if try row.flag("is_old") { return .expired }
        if let hash = try row.bytesOrNil("request_hash") {
            guard hash == request.hash else { return .mismatch }
            guard let status = try row.integerOrNil("status") else {
                return try row.flag("is_leased") ? .underWay : .outcomeUnknown
            }
            let body = try state.sealing.open(
                try row.bytesOrNil("body"), table: "replay", column: "body", key: Self.place(request.key))
            return .answered(
                ReplayAnswer(status: Int(clamping: status), fields: try row.bytesOrNil("fields") ?? [], body: body))
        }
        if let fence = try row.integerOrNil("fence") { return .forward(fence: fence) }
        // In the first incarnation nothing was lost.
        return try row.flag("is_present") ? nil : .outcomeUnknown
    }

    /// Writes, and makes the partition of a week if there is none (`design-review.md` 12).
    private func written(
        _ text: String, _ values: [PostgresValue], week: Int
    ) async throws(ServerStateError) -> PostgresRows {
        do throws(PostgresError) {
            return try await state.client.write(PostgresStatement(text, values))
        } catch {
            guard error.isRefusal("23514") else { throw PostgresServerState.translated(error) }
        }
        try await makeWeeks([week])
        do throws(PostgresError) {
            return try await state.client.write(PostgresStatement(text, values))
        } catch {
            throw PostgresServerState.translated(error)
        }
    }

    func finish(
        _ key: ReplayKey, fence: Fence, _ answer: ReplayAnswer
    ) async throws(ServerStateError) -> Bool {
        let body: [UInt8]?
        do {
            body = try state.sealing.seal(answer.body, table: "replay", column: "body", key: Self.place(key))
        } catch {
            throw PostgresServerState.translated(error)
        }
        return try await state.write(
            """
            update replay set state = 'answered', status = $1, fields = $2, body = $3
            where week = $4 and owner = $5 and request_id = $6 and fence = $7 and state = 'received'
            """, .number(answer.status), .bytes(answer.fields), .bytesOrNull(body), .number(key.week),
            .bytes(key.owner), .text(key.requestID), .integer(fence)
        ).changedCount == 1
    }

    func release(_ key: ReplayKey, fence: Fence) async throws(ServerStateError) -> Bool {
        try await state.write(
            """
            delete from replay where week = $1 and owner = $2 and request_id = $3 and fence = $4 and state = 'received'
            """, .number(key.week), .bytes(key.owner), .text(key.requestID), .integer(fence)
        ).changedCount == 1
    }

    func forget(owners: [[UInt8]]) async throws(ServerStateError) -> Int {
        guard !owners.isEmpty else { return 0 }
        // With its week, an owner is found by the key of each partition.
        let weeks = try await partitions().map { Int64($0.week) }
        return try await state.write(
            "delete from replay where week = any($1) and owner = any($2)", .integers(weeks), .byteLists(owners)
        ).changedCount
    }

    private static func place(_ key: ReplayKey) -> String {
        "\(key.week)/\(Hexadecimal.text(key.owner))/\(key.requestID)"
    }

    // MARK: Weeks

    /// Makes the partitions from 8 weeks back to 2 ahead.
    func makeWeeks() async throws(ServerStateError) {
        let now = ReplayKey(owner: [], requestID: "", firstSent: try await state.now()).week
        try await makeWeeks(Array((now - 8)...(now + 2)))
    }

    private func makeWeeks(_ weeks: [Int]) async throws(ServerStateError) {
        try await state.work { work in
            try await work.lock(.weeks)
            for week in weeks {
                let name = Self.table(week)
                try await work.rows(
                    "create table if not exists \(name) partition of replay for values in (\(week))")
            }
        }
    }

    /// The name of the partition of a week; weeks before 1970 have negative numbers.
    private static func table(_ week: Int) -> String { week < 0 ? "replay_before_\(-week)" : "replay_\(week)" }

    /// Returns the partitions with their weeks.
    private func partitions() async throws(ServerStateError) -> [(week: Int, name: String)] {
        let names = try await state.all(
            """
            select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = 'replay'::regclass
            """
        ) { try $0.text("name") }
        return names.compactMap { name -> (week: Int, name: String)? in
            guard let last = name.split(separator: "_").last, let number = Int(last) else { return nil }
            return (week: name.hasPrefix("replay_before_") ? -number : number, name: name)
        }
    }

    /// Drops the partitions of old weeks.
    func dropWeeks(olderThan age: Duration) async throws(ServerStateError) {
        let oldest = ReplayKey(owner: [], requestID: "", firstSent: try await state.now() - age).week
        let old = try await partitions().filter { $0.week < oldest }.map { $0.name }
        guard !old.isEmpty else { return }
        try await state.work { work in
            try await work.lock(.weeks)
            for name in old { try await work.rows("drop table if exists \(name)") }
        }
    }
}

extension Duration {
    /// The duration in whole microseconds.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflows else { return seconds < 0 ? .min / 4 : .max / 4 }
        return product + attoseconds / 1_000_000_000_000
    }
}

/// Values that may be used once.
struct PostgresOnceStore: OnceStore {
    let state: PostgresServerState

    func use(
        _ id: [UInt8], _ kind: OnceKind, until expiresAt: ServerInstant
    ) async throws(ServerStateError) -> Bool {
        try await state.write(
            "insert into once values ($1, $2, 1, $3) on conflict (kind, id) do nothing", .text(kind.rawValue),
            .bytes(id), .instant(expiresAt)
        ).changedCount == 1
    }

    func count(
        _ id: [UInt8], _ kind: OnceKind, until expiresAt: ServerInstant
    ) async throws(ServerStateError) -> Int {
        let rows = try await state.write(
            """
            insert into once as o values ($1, $2, 1, $3) on conflict (kind, id) do update set uses = o.uses + 1
            returning uses
            """, .text(kind.rawValue), .bytes(id), .instant(expiresAt))
        do {
            return try rows.first?.number("uses") ?? 0
        } catch {
            throw PostgresServerState.translated(error)
        }
    }
}
