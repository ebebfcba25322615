import CPostgres
import Foundation

/// A connection of libpq.
struct Handle: @unchecked Sendable {
    // Proof of Sendable: a connection has one owner at a time. The thread that connects hands it to the poll thread
    // once, and never uses it again.
    let pointer: OpaquePointer
}

/// The outcome of an attempt to connect.
enum Connected: Sendable {
    case ready(Handle)
    case failed(sqlState: String?, reason: String)
}

/// Connects on a thread of its own, because libpq resolves names without a time limit, and `PQconnectPoll` ignores
/// `connect_timeout`.
struct Connecting: Sendable {
    let configuration: PostgresConfiguration
    let role: Role

    func start(_ done: @escaping @Sendable (Connected) -> Void) {
        Thread.detachNewThread { done(connect()) }
    }

    private func connect() -> Connected {
        let pairs = configuration.keywords(role)
        let keys = pairs.map { strdup($0.0) }
        let values = pairs.map { strdup($0.1) }
        defer {
            for pointer in keys { free(pointer) }
            // The password was in one of them.
            for case let pointer? in values {
                memset(pointer, 0, strlen(pointer))
                free(pointer)
            }
        }
        let keyList: [UnsafePointer<CChar>?] = keys.map { UnsafePointer($0) } + [nil]
        let valueList: [UnsafePointer<CChar>?] = values.map { UnsafePointer($0) } + [nil]
        guard let pointer = PQconnectStartParams(keyList, valueList, 0) else {
            return .failed(sqlState: nil, reason: "no memory is left")
        }
        // Otherwise libpq prints notices of the server to standard error.
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        // The SQLSTATE of a refused connection is in the verbose message alone.
        PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        guard isConnected(pointer) else {
            let message = String(cString: PQerrorMessage(pointer))
            PQfinish(pointer)
            return Self.failure(message)
        }
        PQsetErrorVerbosity(pointer, PQERRORS_DEFAULT)
        guard PQsetnonblocking(pointer, 1) == 0, PQenterPipelineMode(pointer) == 1 else {
            PQfinish(pointer)
            return .failed(sqlState: nil, reason: "the connection cannot be used in pipeline mode")
        }
        return .ready(Handle(pointer: pointer))
    }

    private func isConnected(_ pointer: OpaquePointer) -> Bool {
        let end = ContinuousClock.now + configuration.connectTimeout
        var wanted = PGRES_POLLING_WRITING
        while PQstatus(pointer) != CONNECTION_BAD {
            let left = (end - .now).milliseconds
            guard left > 0 else { return false }
            var descriptor = pollfd(
                fd: PQsocket(pointer), events: Int16(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            guard poll(&descriptor, 1, Int32(clamping: left)) > 0 else { continue }
            wanted = PQconnectPoll(pointer)
            if wanted == PGRES_POLLING_OK { return true }
            if wanted == PGRES_POLLING_FAILED { return false }
        }
        return false
    }

    /// Reads the SQLSTATE of a verbose message, such as `FATAL:  53300: sorry, too many clients already`.
    static func failure(_ message: String) -> Connected {
        let lines = message.split(separator: "\n")
        let state = lines.reversed().compactMap { $0.firstMatch(of: #/:  ([0-9A-Z]{5}): /#)?.output.1 }.first
        let useful = lines.last { !$0.hasPrefix("LOCATION") } ?? "the time limit has passed"
        return .failed(sqlState: state.map(String.init), reason: useful.trimmingCharacters(in: .whitespaces))
    }
}
