import Foundation
import GRDB

/// Repeatable requests in `state.db`.
struct SQLiteReplayStore: ReplayStore {
    let state: SQLiteServerState

    private var sealing: Sealing { Sealing(state.keys) }

    /// The age at which a request is forgotten.
    private static let age = Duration.seconds(50 * 86_400)
    /// The time by which a client's clock may be ahead.
    private static let lead = Duration.seconds(86_400)
    /// The tolerance of clocks at the beginning of an incarnation.
    private static let tolerance = Duration.seconds(300)

    func begin(_ request: ReplayRequest) async throws(ServerStateError) -> ReplayDecision {
        let now = state.clock()
        guard request.firstSent <= now + Self.lead else { return .fromFuture }
        guard request.firstSent >= now - Self.age else { return .expired }
        let (sealing, key) = (sealing, request.key)
        return try await state.stateFile.write { database in
            let row = try Row.fetchOne(
                database, sql: "select * from replay where week = ? and owner = ? and request_id = ?",
                arguments: [key.week, Data(key.owner), key.requestID])
            if let row { return try Self.decision(row, request, at: now, with: sealing) }
            let incarnation = try SQLiteServerState.incarnation(in: database)
            // In the first incarnation nothing was lost.
            guard incarnation.number == 1 || request.firstSent >= incarnation.beganAt - Self.tolerance else {
                return .outcomeUnknown
            }
            let fence = try SQLiteJobStore.nextFence(in: database)
            try database.execute(
                sql: """
                    insert into replay (week, owner, request_id, request_hash, state, node, lease_until, fence,
                    received_at) values (?, ?, ?, ?, 'received', ?, ?, ?, ?)
                    """,
                arguments: [
                    key.week, Data(key.owner), key.requestID, Data(request.hash), request.node,
                    (now + request.lease).rawValue, fence, now.rawValue,
                ])
            return .forward(fence: fence)
        }
    }

    private static func decision(
        _ row: Row, _ request: ReplayRequest, at now: ServerInstant, with sealing: Sealing
    ) throws -> ReplayDecision {
        guard row.bytes("request_hash") == request.hash else { return .mismatch }
        if let status = row["status"] as Int? {
            let key = place(request.key)
            return .answered(
                ReplayAnswer(
                    status: status, fields: row.bytes("fields") ?? [],
                    body: try sealing.open(row["body"], table: "replay", column: "body", key: key)))
        }
        return (row["lease_until"] as Int64) > now.rawValue ? .underWay : .outcomeUnknown
    }

    func finish(
        _ key: ReplayKey, fence: Fence, _ answer: ReplayAnswer
    ) async throws(ServerStateError) -> Bool {
        let sealing = sealing
        return try await state.stateFile.write { database in
            let body = try sealing.seal(answer.body, table: "replay", column: "body", key: Self.place(key))
            try database.execute(
                sql: """
                    update replay set state = 'answered', status = ?, fields = ?, body = ?
                    where week = ? and owner = ? and request_id = ? and fence = ? and state = 'received'
                    """,
                arguments: [
                    answer.status, Data(answer.fields), body, key.week, Data(key.owner), key.requestID, fence,
                ])
            return database.changesCount == 1
        }
    }

    func release(_ key: ReplayKey, fence: Fence) async throws(ServerStateError) -> Bool {
        try await state.stateFile.write { database in
            try database.execute(
                sql: """
                    delete from replay where week = ? and owner = ? and request_id = ? and fence = ?
                    and state = 'received'
                    """, arguments: [key.week, Data(key.owner), key.requestID, fence])
            return database.changesCount == 1
        }
    }

    func forget(owners: [[UInt8]]) async throws(ServerStateError) -> Int {
        try await state.stateFile.write { database in
            var count = 0
            for owner in owners {
                try database.execute(sql: "delete from replay where owner = ?", arguments: [Data(owner)])
                count += database.changesCount
            }
            return count
        }
    }

    private static func place(_ key: ReplayKey) -> String {
        "\(key.week)/\(SQLiteFeedStore.hexadecimal(key.owner))/\(key.requestID)"
    }
}
