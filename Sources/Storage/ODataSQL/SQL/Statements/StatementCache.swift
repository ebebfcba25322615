import GRDB
import ODataModel
import Synchronization

/// Prepared statements that are kept with their connections.
///
/// GRDB keeps a statement as long as its connection lives, and cannot be told to let go of a single one. Requests come from
/// anybody, so that it is counted here what a connection keeps: where that is too much all of it goes, and what is
/// asked for again is prepared once more. However many odd queries came before, one that is asked often is kept.
enum StatementCache {
    /// How many statements a connection keeps.
    static let capacity = 1_000

    private static let connections = Mutex<[ObjectIdentifier: KeptStatements]>([:])

    /// A statement, prepared before where it could be kept.
    static func statement(_ sql: String, in database: Database) throws -> Statement {
        try kept(by: database).statement(sql, in: database)
    }

    private static func kept(by database: Database) -> KeptStatements {
        let address = ObjectIdentifier(database)
        return connections.withLock { connections in
            // The address may have been that of another one, which is gone.
            if let known = connections[address], known.database === database { return known }
            connections = connections.filter { $0.value.database != nil }
            let made = KeptStatements(of: database)
            connections[address] = made
            return made
        }
    }
}

/// The statements of one connection.
///
/// `@unchecked Sendable`: the statements are touched only by who has the connection, which is one at a time.
private final class KeptStatements: @unchecked Sendable {
    /// A statement that GRDB keeps. It lets go of one that failed, and of all when the schema changes or the connection is
    /// closed, which could not be while somebody else held them.
    private struct Reference {
        weak var statement: Statement?
    }

    weak let database: Database?
    private var statements: [ExactText: Reference] = [:]

    init(of database: Database) { self.database = database }

    func statement(_ sql: String, in database: Database) throws -> Statement {
        let key = ExactText(sql)
        if let known = statements[key]?.statement { return known }
        if statements.count >= StatementCache.capacity {
            database.clearSchemaCache()
            statements = [:]
        }
        let made = try database.cachedStatement(sql: Self.distinct(sql))
        statements[key] = Reference(statement: made)
        return made
    }

    /// The text under which GRDB keeps a statement. GRDB compares texts as Unicode does: names that are only written alike, such as
    /// those of two tables, are told apart by a comment with all characters beyond ASCII.
    private static func distinct(_ sql: String) -> String {
        let others = sql.unicodeScalars.filter { !$0.isASCII }
        if others.isEmpty { return sql }
        return "\(sql) /* \(others.map { String($0.value, radix: 16) }.joined(separator: " ")) */"
    }
}
