import ErrorCodes

/// An error of the client for PostgreSQL. No error contains a value or a password.
///
/// ```swift
/// do throws(PostgresError) {
///     _ = try await client.write(statement)
/// } catch where error.reaction == .unknownOutcome {
///     // Read back before the statement is repeated.
/// }
/// ```
public enum PostgresError: Error, Hashable, Sendable {
    /// No connection could be made in time. The statement was not sent.
    case unreachable(reason: String)
    /// The connection ended after the statement was sent. The outcome is unknown.
    case connectionLost(reason: String)
    /// The server refused the statement.
    ///
    /// - Parameters:
    ///   - sqlState: The five characters of the SQLSTATE.
    ///   - reason: The server's primary message.
    ///   - constraint: The name of the violated constraint.
    case refused(sqlState: String, reason: String, constraint: String?)
    /// The deadline passed after the statement was sent. The outcome is unknown.
    case timedOut
    /// The caller was cancelled. A statement that was sent may have been executed.
    case cancelled
    /// Too many statements wait for a connection. The statement was not sent.
    case busy(limit: Int)
    /// The configuration or the statement is not usable.
    case misused(reason: String)
    /// The result has other columns or values than the caller expects.
    case unexpectedResult(reason: String)
    /// The client is closed.
    case closed
}

extension PostgresError: CustomStringConvertible {
    /// A description of the problem without values or passwords.
    public var description: String {
        switch self {
        case .unreachable(let reason): "PostgreSQL cannot be reached: \(reason)"
        case .connectionLost(let reason): "The connection to PostgreSQL was lost: \(reason)"
        case .refused(let state, let reason, _): "PostgreSQL refused the statement (\(state)): \(reason)"
        case .timedOut: "PostgreSQL did not answer in time."
        case .cancelled: "The statement was cancelled."
        case .busy(let limit): "More than \(limit) statements wait for PostgreSQL."
        case .misused(let reason): "PostgreSQL is not used correctly: \(reason)"
        case .unexpectedResult(let reason): "The result of PostgreSQL cannot be read: \(reason)"
        case .closed: "The client for PostgreSQL is closed."
        }
    }
}

extension PostgresError: CodedError {
    /// An error code of the form `postgres.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unreachable: "unreachable"
            case .connectionLost: "connection-lost"
            case .refused: "refused"
            case .timedOut: "timed-out"
            case .cancelled: "cancelled"
            case .busy: "busy"
            case .misused: "misused"
            case .unexpectedResult: "unexpected-result"
            case .closed: "closed"
            }
        return ErrorCode(rawValue: "postgres.\(name)")
    }

    /// The kind of remedy.
    public var failureKind: FailureKind {
        switch self {
        case .unreachable, .connectionLost: .connection
        case .timedOut, .busy, .closed: .transient
        case .cancelled: .cancelled
        case .misused: .request
        case .unexpectedResult: .damaged
        case .refused: reaction == .report ? .request : .transient
        }
    }
}

/// The reaction to an error (`mobile-server.md` 7.2).
public enum PostgresReaction: Hashable, Sendable, CaseIterable {
    /// The outcome is unknown: a read is repeated, a write is repeated only if it is keyed and fenced.
    case unknownOutcome
    /// Nothing was executed: the statement is repeated after a delay.
    case backOff
    /// The server is read-only: the connection was closed, and the next one finds the primary server.
    case reconnect
    /// The transaction is repeated, at most three times.
    case repeatTransaction
    /// A lock is held for too long: the work goes back to the queue.
    case giveBack
    /// There are too many connections: the pool becomes smaller.
    case shrinkPool
    /// A prepared statement is gone or stale: it is prepared again.
    case prepareAgain
    /// The error is reported to the caller.
    case report
}

extension PostgresError {
    /// The reaction to the error.
    public var reaction: PostgresReaction {
        switch self {
        case .connectionLost, .timedOut, .cancelled: .unknownOutcome
        case .unreachable, .busy: .backOff
        case .refused(let state, let reason, _): Self.reaction(toState: state, reason: reason)
        case .misused, .unexpectedResult, .closed: .report
        }
    }

    /// Returns the reaction to a SQLSTATE.
    static func reaction(toState state: String, reason: String = "") -> PostgresReaction {
        switch state {
        case "57P01", "57P02": .unknownOutcome
        case "57P03": .backOff
        case "25006": .reconnect
        case "40001", "40P01": .repeatTransaction
        case "55P03": .giveBack
        case "53300": .shrinkPool
        case "26000": .prepareAgain
        // A migration of another node has changed the columns of a prepared statement.
        case "0A000" where reason.contains("cached plan"): .prepareAgain
        default: state.hasPrefix("08") ? .unknownOutcome : .report
        }
    }

    /// Whether the server refused the statement with a SQLSTATE.
    public func isRefusal(_ sqlState: String) -> Bool {
        if case .refused(sqlState, _, _) = self { true } else { false }
    }
}

/// The messages for the errors of this module, in English and German.
public enum PostgresMessages {
    /// The table, to be added to `ErrorMessages`.
    public static let table = ErrorMessageTable([
        "en": [
            "postgres.unreachable": "PostgreSQL cannot be reached: {detail}",
            "postgres.connection-lost": "The connection to PostgreSQL was lost: {detail}",
            "postgres.refused": "PostgreSQL refused the statement ({sqlState}): {detail}",
            "postgres.timed-out": "PostgreSQL did not answer in time.",
            "postgres.cancelled": "The statement was cancelled.",
            "postgres.busy": "More than {limit} statements wait for PostgreSQL.",
            "postgres.misused": "PostgreSQL is not used correctly: {detail}",
            "postgres.unexpected-result": "The result of PostgreSQL cannot be read: {detail}",
            "postgres.closed": "The client for PostgreSQL is closed.",
        ],
        "de": [
            "postgres.unreachable": "PostgreSQL ist nicht erreichbar: {detail}",
            "postgres.connection-lost": "Die Verbindung zu PostgreSQL ist abgebrochen: {detail}",
            "postgres.refused": "PostgreSQL hat die Anweisung abgelehnt ({sqlState}): {detail}",
            "postgres.timed-out": "PostgreSQL hat nicht rechtzeitig geantwortet.",
            "postgres.cancelled": "Die Anweisung wurde abgebrochen.",
            "postgres.busy": "Mehr als {limit} Anweisungen warten auf PostgreSQL.",
            "postgres.misused": "PostgreSQL wird falsch verwendet: {detail}",
            "postgres.unexpected-result": "Das Ergebnis von PostgreSQL ist nicht lesbar: {detail}",
            "postgres.closed": "Der Zugang zu PostgreSQL ist geschlossen.",
        ],
    ])
}
