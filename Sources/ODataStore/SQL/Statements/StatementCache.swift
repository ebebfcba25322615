import GRDB
import Synchronization

/// Prepared statements that are kept with their connections.
///
/// GRDB keeps a statement as long as its connection lives. Requests come from anybody, so that only so many texts are
/// let in; what comes later is prepared each time.
enum StatementCache {
    /// How many texts are kept.
    static let capacity = 1_000
    private static let texts = Mutex<Set<String>>([])

    /// A statement, prepared before where it could be kept.
    static func statement(_ sql: String, in database: Database) throws -> Statement {
        let isKept = texts.withLock { texts in
            if texts.contains(sql) { return true }
            guard texts.count < capacity else { return false }
            texts.insert(sql)
            return true
        }
        return isKept ? try database.cachedStatement(sql: sql) : try database.makeStatement(sql: sql)
    }
}
