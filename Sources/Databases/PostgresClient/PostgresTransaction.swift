import Synchronization

/// The isolation of a transaction.
public enum PostgresIsolation: Hashable, Sendable {
    /// Each statement sees all commits before it.
    case readCommitted
    /// All statements see one snapshot, and write nothing.
    case snapshot

    var begin: PostgresStatement {
        switch self {
        case .readCommitted: PostgresStatement("begin")
        case .snapshot: PostgresStatement("begin isolation level repeatable read read only")
        }
    }
}

/// A transaction under way. It is valid within the closure of ``PostgresClient/transaction(_:repeating:_:)``.
///
/// ```swift
/// try await client.transaction { transaction in
///     try await transaction.execute(PostgresStatement("delete from job where id = $1", [.integer(7)]))
/// }
/// ```
public final class PostgresTransaction: Sendable {
    private struct State {
        var hasBegun = false
        var hasEnded = false
    }

    private let lease: Lease
    private let thread: PollThread
    private let isolation: PostgresIsolation
    private let state = Mutex(State())

    init(_ lease: Lease, on thread: PollThread, _ isolation: PostgresIsolation) {
        self.lease = lease
        self.thread = thread
        self.isolation = isolation
    }

    /// Executes a statement.
    ///
    /// - Throws: ``PostgresError``. After an error the transaction can only end.
    @discardableResult
    public func execute(_ statement: PostgresStatement) async throws(PostgresError) -> PostgresRows {
        guard let rows = try await execute([statement]).last else {
            throw .unexpectedResult(reason: "the statement has no result")
        }
        return rows
    }

    /// Executes statements in one round trip.
    ///
    /// - Throws: ``PostgresError``. After an error the transaction can only end.
    @discardableResult
    public func execute(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresRows] {
        for statement in statements { try statement.check() }
        let isFirst = try begin()
        // The beginning travels with the first statements: if it fails, they are not executed.
        let rows = try await send((isFirst ? [isolation.begin] : []) + statements)
        return isFirst ? Array(rows.dropFirst()) : rows
    }

    private func begin() throws(PostgresError) -> Bool {
        let (isFirst, isOver) = state.withLock { state in
            defer { state.hasBegun = true }
            return (!state.hasBegun, state.hasEnded)
        }
        guard !isOver else { throw .misused(reason: "the transaction has ended") }
        return isFirst
    }

    private func send(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresRows] {
        let request = Request(statements: statements, deadline: .now, isInTransaction: true)
        return try await request.ticket.value { [thread, lease] in
            if !thread.post(.work(request, lease)) { request.ticket.fill(.failure(.closed)) }
        }
    }

    /// Loads rows with COPY in binary form, which is several times as fast as inserting them.
    ///
    /// - Parameters:
    ///   - target: The table with its columns, such as `stage (key, body)`. Their types are those of the values.
    ///   - rows: The rows.
    /// - Returns: The number of rows.
    /// - Throws: ``PostgresError``.
    @discardableResult
    public func copy(into target: String, _ rows: [[PostgresValue]]) async throws(PostgresError) -> Int {
        if try begin() { _ = try await send([isolation.begin]) }
        let request = CopyRequest(
            text: "copy \(target) from stdin (format binary)", pieces: CopyData.pieces(of: rows))
        return try await request.ticket.value { [thread, lease] in
            if !thread.post(.copy(request, lease)) { request.ticket.fill(.failure(.closed)) }
        }
    }

    func commit() async throws(PostgresError) {
        let hasBegun = state.withLock { $0.hasBegun }
        guard hasBegun else { return }
        // A transaction in which a statement failed is rolled back, and the server calls that a success.
        guard try await send([PostgresStatement("commit")]).last?.command == "COMMIT" else {
            throw .refused(sqlState: "25P02", reason: "a statement of the transaction failed", constraint: nil)
        }
    }

    /// Gives the connection back. A transaction that is still open is rolled back.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst { thread.post(.release(lease)) }
    }
}

/// The binary form of COPY.
enum CopyData {
    /// The size from which on a piece is full.
    private static let pieceSize = 1 << 16

    static func pieces(of rows: [[PostgresValue]]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var piece = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        for row in rows {
            piece += Int16(clamping: row.count).bigEndianBytes
            for value in row {
                guard let binary = value.binary else {
                    piece += Int32(-1).bigEndianBytes
                    continue
                }
                piece += Int32(clamping: binary.count).bigEndianBytes
                piece += binary
            }
            if piece.count > pieceSize {
                pieces.append(piece)
                piece = []
            }
        }
        pieces.append(piece + Int16(-1).bigEndianBytes)
        return pieces
    }
}
