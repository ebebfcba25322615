import GRDB
import OfflineOData
import Synchronization

/// The SQL statements that a store runs on its queue. They measure work independently of the machine.
final class QueueStatements: Sendable {
    private let statements = Mutex<[String]>([])

    /// The options of a store that records its statements here.
    var options: OfflineODataProvider.Options {
        var options = OfflineODataProvider.Options()
        options.trace = .statements { statement in
            // SQLite reports statements of triggers as comments.
            guard statement.contains("outpost_queue"), !statement.hasPrefix("--") else { return }
            self.statements.withLock { $0.append(statement) }
        }
        return options
    }

    /// The number of statements since the last call of ``clear()``.
    var count: Int { statements.withLock { $0.count } }

    func clear() { statements.withLock { $0 = [] } }

    /// Returns the number of statements that scan the whole queue according to their query plan.
    func scans(in store: OfflineODataProvider) async throws -> Int {
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
