import GRDB
import Testing

@testable import ODataSQL

@Suite("Prepared statements belong to their connection")
struct KeptStatementTests {
    /// A weak reference to a statement, which can be released.
    private struct Reference {
        weak var statement: Statement?
    }

    /// Prepares different statements, each once.
    private func prepare(_ numbers: Range<Int>, in database: Database) throws -> [Reference] {
        try numbers.map { Reference(statement: try StatementCache.statement("SELECT \($0)", in: database)) }
    }

    @Test("A frequently used text stays prepared among many others")
    func repeated() throws {
        try DatabaseQueue().read { database in
            _ = try prepare(0..<StatementCache.capacity + 1, in: database)
            let first = try StatementCache.statement("SELECT 'often'", in: database)
            for number in 0..<10 {
                _ = try prepare(-number - 1 ..< -number, in: database)
                #expect(try StatementCache.statement("SELECT 'often'", in: database) === first)
            }
        }
    }

    @Test("A connection limits its cached statements")
    func bounded() throws {
        try DatabaseQueue().read { database in
            let statements = try prepare(0..<3 * StatementCache.capacity + 7, in: database)
            #expect(statements.count { $0.statement != nil } == 7)
            #expect(statements.last?.statement != nil)
        }
    }

    @Test("A statement in use continues when others are released")
    func inUse() throws {
        try DatabaseQueue().read { database in
            let statement = try StatementCache.statement("SELECT 1 UNION ALL SELECT 2", in: database)
            let rows = try Row.fetchCursor(statement)
            #expect(try rows.next()?[0] == 1)
            _ = try prepare(0..<StatementCache.capacity + 1, in: database)
            #expect(try rows.next()?[0] == 2)
            #expect(try rows.next() == nil)
        }
    }

    @Test("Each connection has its own statements, and can be closed with cached ones")
    func connections() throws {
        let (one, other) = (try DatabaseQueue(), try DatabaseQueue())
        let first = try one.read { ObjectIdentifier(try StatementCache.statement("SELECT 1", in: $0)) }
        let second = try other.read { ObjectIdentifier(try StatementCache.statement("SELECT 1", in: $0)) }
        #expect(first != second)
        try one.close()
        try other.close()
    }

    @Test("A cached statement sees a changed schema")
    func changedSchema() throws {
        try DatabaseQueue().write { database in
            try database.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            func columns() throws -> Int? {
                try Row.fetchOne(StatementCache.statement("SELECT * FROM t", in: database))?.count
            }
            #expect(try columns() == 1)
            try database.execute(sql: "ALTER TABLE t ADD COLUMN b")
            #expect(try columns() == 2)
        }
    }

    @Test("A failed statement is not cached")
    func failed() throws {
        try DatabaseQueue().read { database in
            database.add(function: DatabaseFunction("refuse", argumentCount: 0) { _ in throw DatabaseError() })
            for _ in 0..<2 {
                #expect(throws: DatabaseError.self) {
                    try Row.fetchOne(StatementCache.statement("SELECT refuse()", in: database))
                }
            }
            database.add(function: DatabaseFunction("refuse", argumentCount: 0) { _ in 1 })
            let found = try Int.fetchOne(StatementCache.statement("SELECT refuse()", in: database))
            #expect(found == 1)
        }
    }
}
