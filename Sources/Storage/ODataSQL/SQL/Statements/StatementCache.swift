import GRDB
import ODataModel
import Synchronization

/// Prepared statements that are kept with their connections.
///
/// GRDB keeps a statement as long as its connection exists and cannot discard a single one. Because requests come
/// from untrusted clients, this type limits the number of statements of each connection. When the limit is reached,
/// all statements are discarded, and later requests prepare them again.
enum StatementCache {
    /// The maximum number of statements of a connection.
    static let capacity = 1_000

    private static let connections = Mutex<[ObjectIdentifier: KeptStatements]>([:])

    /// Returns a statement, which may already be prepared.
    static func statement(_ sql: String, in database: Database) throws -> Statement {
        try kept(by: database).statement(sql, in: database)
    }

    /// Returns whether a statement without arguments returns no row. The result is remembered until the database
    /// changes.
    static func isEmpty(_ sql: String, in database: Database) throws -> Bool {
        try kept(by: database).isEmpty(sql, in: database)
    }

    private static func kept(by database: Database) -> KeptStatements {
        let address = ObjectIdentifier(database)
        return connections.withLock { connections in
            // A deallocated connection may have had the same address.
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
/// `@unchecked Sendable`: only the owner of the connection accesses the statements, which is one thread at a time.
private final class KeptStatements: @unchecked Sendable {
    /// A weak reference to a statement that GRDB keeps. GRDB discards a statement that failed, and all statements
    /// when the schema changes or the connection is closed. Strong references would prevent this.
    private struct Reference {
        weak var statement: Statement?
    }

    weak let database: Database?
    private var statements: [ExactText: Reference] = [:]

    /// The state of the database after the changes of all connections.
    private struct State: Equatable {
        /// The changes of other connections.
        var version: Int?
        /// The number of rows that this connection has changed.
        var changes: Int
    }

    /// Whether statements return no row, in a state of the database.
    private var emptiness: (state: State, known: [ExactText: Bool])?

    init(of database: Database) { self.database = database }

    func isEmpty(_ sql: String, in database: Database) throws -> Bool {
        let version = try Int.fetchOne(statement(Pragma.dataVersion.query, in: database))
        let state = State(version: version, changes: database.totalChangesCount)
        if emptiness?.state != state { emptiness = (state, [:]) }
        let key = ExactText(sql)
        if let known = emptiness?.known[key] { return known }
        let isEmpty = try Int.fetchOne(statement(sql, in: database)) == nil
        if let count = emptiness?.known.count, count < StatementCache.capacity { emptiness?.known[key] = isEmpty }
        return isEmpty
    }

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

    /// Returns the text under which GRDB keeps a statement. GRDB compares texts by canonical equivalence, so that a
    /// comment with all non-ASCII characters distinguishes names such as those of two tables.
    private static func distinct(_ sql: String) -> String {
        let others = sql.unicodeScalars.filter { !$0.isASCII }
        if others.isEmpty { return sql }
        return "\(sql) /* \(others.map { String($0.value, radix: 16) }.joined(separator: " ")) */"
    }
}
