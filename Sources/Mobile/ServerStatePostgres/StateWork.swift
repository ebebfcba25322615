import PostgresClient
import ServerState

/// A transaction of the driver: its statements, the clock of the database and the incarnation.
struct StateWork: Sendable {
    let transaction: PostgresTransaction
    /// The moment of the beginning by the clock of the database.
    let now: ServerInstant
    /// The incarnation at the beginning.
    let incarnation: Incarnation

    /// The lowest number of the incarnation.
    var base: Int64 { incarnation.number << 32 }

    /// Executes a statement, and returns its rows.
    @discardableResult
    func rows(_ text: String, _ values: PostgresValue...) async throws(PostgresError) -> PostgresRows {
        try await transaction.execute(PostgresStatement(text, values))
    }

    /// Executes a statement, and returns its first row.
    func row(_ text: String, _ values: PostgresValue...) async throws(PostgresError) -> PostgresRow? {
        try await transaction.execute(PostgresStatement(text, values)).first
    }

    /// Executes a statement, and returns the number of rows that it changed.
    func change(_ text: String, _ values: PostgresValue...) async throws(PostgresError) -> Int {
        try await transaction.execute(PostgresStatement(text, values)).changedCount
    }

    /// Takes the next change number of a scope. The row of the scope is locked until the end of the transaction, so
    /// numbers are taken as late as possible (`design-review.md` 19).
    func nextChange(of scope: String) async throws -> ChangeNumber {
        let row = try await row(
            """
            insert into change_head as c (scope, head) values ($1, $2 + 1)
            on conflict (scope) do update set head = greatest(c.head, $2) + 1 returning head
            """, .text(scope), .integer(base))
        guard let row else { throw ServerStateError.damaged(reason: "no change number was given") }
        return try row.integer("head")
    }

    /// Notes a removal in its scope.
    func noteRemoval(of key: String, from table: String, scope: String) async throws {
        let change = try await nextChange(of: scope)
        try await rows(
            "insert into removed_row values ($1, $2, $3, $4, $5)", .text(scope), .integer(change), .text(table),
            .text(key), .instant(now))
    }

    /// Returns the name of an application, which is the scope of its change numbers. The application stays until the
    /// end of the transaction.
    func name(of application: RecordNumber) async throws -> String {
        let row = try await row("select name from application where id = $1 for key share", .integer(application))
        guard let row else { throw ServerStateError.missing(kind: "application", name: "\(application)") }
        return try row.text("name")
    }

    /// Waits for other transactions that hold the lock of a name, and holds it until the end.
    func lock(_ name: StateLock) async throws(PostgresError) {
        try await rows("select pg_advisory_xact_lock($1)", .integer(name.rawValue))
    }
}

/// The locks of transactions that no row stands for.
enum StateLock: Int64 {
    case migration = 0x6F75_7470_0001
    case audit = 0x6F75_7470_0002
    case weeks = 0x6F75_7470_0003
}

extension PostgresValue {
    static func instant(_ instant: ServerInstant) -> PostgresValue { .integer(instant.rawValue) }
    static func instantOrNull(_ instant: ServerInstant?) -> PostgresValue { instant.map { .instant($0) } ?? .null }
    static func textOrNull(_ text: String?) -> PostgresValue { text.map { .text($0) } ?? .null }
    static func bytesOrNull(_ bytes: [UInt8]?) -> PostgresValue { bytes.map { .bytes($0) } ?? .null }
    static func integerOrNull(_ number: Int64?) -> PostgresValue { number.map { .integer($0) } ?? .null }
    static func number(_ number: Int) -> PostgresValue { .integer(Int64(number)) }
    /// A tag or another value of 64 bits without an order.
    static func bits(_ bits: UInt64) -> PostgresValue { .integer(Int64(bitPattern: bits)) }
}

extension PostgresRow {
    func instant(_ name: String) throws(PostgresError) -> ServerInstant {
        ServerInstant(rawValue: try integer(name))
    }

    func instantOrNil(_ name: String) throws(PostgresError) -> ServerInstant? {
        try integerOrNil(name).map { ServerInstant(rawValue: $0) }
    }

    func number(_ name: String) throws(PostgresError) -> Int { Int(clamping: try integer(name)) }
}
