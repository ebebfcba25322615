import GRDB
import OfflineOData
import Synchronization

/// The SQL statements that a store runs on its queue of changes: its work, whatever the machine.
final class QueueStatements: Sendable {
    private let statements = Mutex<[String]>([])

    /// Options of a store whose statements are kept here.
    var options: OfflineStore.Options {
        var options = OfflineStore.Options()
        options.runtime.trace = .statements { statement in
            // What triggers do is told as a comment.
            guard statement.contains("outpost_queue"), !statement.hasPrefix("--") else { return }
            self.statements.withLock { $0.append(statement) }
        }
        return options
    }

    /// How many there were since they were last cleared.
    var count: Int { statements.withLock { $0.count } }

    func clear() { statements.withLock { $0 = [] } }

    /// How many of them, by SQLite's own plan, go through the whole queue.
    func scans(in store: OfflineStore) async throws -> Int {
        let all = statements.withLock { $0 }
        return try await DatabaseQueue(path: store.directory + "/store.db").read { database in
            var isScan: [String: Bool] = [:]
            for sql in Set(all) {
                let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                plan.setUncheckedArguments(StatementArguments())
                isScan[sql] = try Row.fetchAll(plan).contains { step in
                    let detail: String = step["detail"]
                    return detail.hasPrefix("SCAN outpost_queue")
                }
            }
            return all.filter { isScan[$0] ?? false }.count
        }
    }
}
