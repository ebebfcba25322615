import Synchronization

/// A notice of the server.
public enum PostgresNotice: Hashable, Sendable {
    /// The connection for notices was made. Notices before it may be lost, so a reader looks for itself.
    case connected
    /// A message of a channel.
    case message(channel: String, payload: String)
}

/// A client for PostgreSQL on libpq. One thread of its own serves all connections; no caller blocks a thread.
///
/// Single statements travel in pipeline mode over a few connections. A transaction leases a connection.
///
/// ```swift
/// let client = try PostgresClient(try PostgresConfiguration(url: "postgres:///outpost"))
/// let rows = try await client.read(PostgresStatement("select 1 as one"))
/// await client.close()
/// ```
public final class PostgresClient: Sendable {
    /// The addresses, pools and time limits.
    public let configuration: PostgresConfiguration
    private let thread: PollThread
    private let notices = Notices()

    /// The number of times that an operation is repeated if an error allows that.
    static let repeats = 3

    /// Creates a client, which connects in the background. ``close()`` ends its thread.
    ///
    /// - Throws: ``PostgresError/misused(reason:)`` if the process has no file descriptors left.
    public init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        self.configuration = configuration
        thread = try PollThread(configuration, notices: notices)
    }

    /// The number of connections that were made so far. A change tells that the server may be another one.
    public var connectionCount: Int { thread.connections }

    /// Closes all connections. Waiting callers get ``PostgresError/closed``.
    public func close() async { await thread.close() }

    // MARK: Single statements

    /// Reads rows. The statement is repeated if its outcome is unknown, so it may not write.
    ///
    /// - Throws: ``PostgresError``.
    public func read(_ statement: PostgresStatement) async throws(PostgresError) -> PostgresRows {
        var tries = 0
        while true {
            do throws(PostgresError) {
                return try await write(statement)
            } catch {
                tries += 1
                guard tries <= Self.repeats, error.allowsRepeatingRead else { throw error }
                await Self.pause(tries)
            }
        }
    }

    /// Executes a statement once, in a transaction of its own.
    ///
    /// - Throws: ``PostgresError``. After an error with the reaction ``PostgresReaction/unknownOutcome``, the statement
    ///   may have been executed.
    @discardableResult
    public func write(_ statement: PostgresStatement) async throws(PostgresError) -> PostgresRows {
        guard let rows = try await write([statement]).first else {
            throw .unexpectedResult(reason: "the statement has no result")
        }
        return rows
    }

    /// Executes statements once, in one transaction of their own and one round trip.
    ///
    /// - Throws: ``PostgresError``, as ``write(_:)-(PostgresStatement)``. Nothing was written if the server refused one
    ///   of them.
    @discardableResult
    public func write(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresRows] {
        for statement in statements { try statement.check() }
        let request = Request(
            statements: statements, deadline: .now + configuration.waitTimeout, isInTransaction: false)
        return try await request.ticket.value { [thread] in
            if !thread.post(.point(request)) { request.ticket.fill(.failure(.closed)) }
        }
    }

    /// Waits before the repetition of an operation, with full jitter.
    static func pause(_ tries: Int) async {
        try? await Task.sleep(for: .milliseconds(Int.random(in: 1...(50 << min(tries, 5)))))
    }

    // MARK: Transactions

    /// Executes a transaction on a leased connection. It is repeated after a deadlock or a serialization failure, at
    /// most three times, so the body changes nothing else.
    ///
    /// - Parameters:
    ///   - isolation: The isolation.
    ///   - repeating: Tells of further errors after which the transaction is repeated.
    ///   - body: The statements. An error rolls them back.
    /// - Throws: An error of the body, or ``PostgresError``. A connection that is lost at the end leaves the outcome
    ///   unknown, and the transaction is not repeated.
    public func transaction<Value: Sendable>(
        _ isolation: PostgresIsolation = .readCommitted,
        repeating: @Sendable (PostgresError) -> Bool = { _ in false },
        _ body: @Sendable (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        var tries = 0
        while true {
            let transaction = PostgresTransaction(try await lease(), on: thread, isolation)
            do {
                let value = try await body(transaction)
                try await transaction.commit()
                transaction.end()
                return value
            } catch let error as PostgresError {
                transaction.end()
                tries += 1
                let isRepeated = error.reaction == .repeatTransaction || error.reaction == .prepareAgain
                guard tries <= Self.repeats, isRepeated || repeating(error) else { throw error }
                await Self.pause(tries)
                if Task.isCancelled { throw PostgresError.cancelled }
            } catch {
                transaction.end()
                throw error
            }
        }
    }

    private func lease() async throws(PostgresError) -> Lease {
        let request = LeaseRequest(deadline: .now + configuration.waitTimeout)
        return try await request.ticket.value { [thread] in
            if !thread.post(.lease(request)) { request.ticket.fill(.failure(.closed)) }
        }
    }

    // MARK: Notices

    /// Receives notices of a channel from now on; see ``noticeStream()``.
    public func listen(to channel: String) { thread.post(.listen(channel)) }

    /// Returns the notices of all channels from now on. The stream keeps the newest 1,000 for a slow reader.
    public func noticeStream() -> AsyncStream<PostgresNotice> { notices.stream() }
}

extension PostgresError {
    /// Whether a read is repeated after the error.
    var allowsRepeatingRead: Bool {
        switch self {
        case .connectionLost: true
        case .timedOut, .cancelled, .unreachable, .busy, .misused, .unexpectedResult, .closed: false
        case .refused: [.backOff, .reconnect, .repeatTransaction, .prepareAgain].contains(reaction)
        }
    }
}
