import CPostgres
import Foundation

/// A connection and the statements in flight. Only the poll thread uses it.
final class Link {
    /// Statements that were sent and not answered yet.
    private struct Flight {
        var request: Request
        /// The texts that are prepared, or `nil` for an execution, in the order of the results.
        var steps: [String?]
        var position = 0
        var rows: [PostgresRows] = []
        var error: PostgresError?
    }

    /// The state of the connection.
    enum Phase {
        /// Nobody needs the connection yet.
        case idle
        /// The next attempt is made at a moment.
        case waiting(ContinuousClock.Instant)
        case connecting
        case ready
    }

    let index: Int
    let role: Role
    var generation = 0
    var phase = Phase.idle
    /// The attempts that failed since the last success.
    var failures = 0
    /// Whether a caller has the lease.
    var isLeased = false
    /// Whether the rollback of a caller that has gone is under way.
    var isRollingBack = false
    /// The connection; `nil` unless ready.
    private(set) var pointer: OpaquePointer?
    /// Whether bytes wait for the socket.
    private(set) var wantsWriting = false
    /// Statements that are sent again.
    var again: [Request] = []
    /// The moment since which the first statement is the first.
    private(set) var headSince = ContinuousClock.now
    private var flights: [Flight] = []
    private var prepared: [String: String] = [:]
    private var names = 0
    /// The beginning of the names of prepared statements. A pooler may give the connection of another client.
    private var prefix = ""
    private var copying: Copying?
    private var mustClose = false

    /// The greatest number of prepared statements.
    private static let preparedLimit = 500

    init(index: Int, role: Role) {
        self.index = index
        self.role = role
    }

    var isReady: Bool { if case .ready = phase { true } else { false } }
    var load: Int { flights.count + (copying == nil ? 0 : 1) }
    var isBusy: Bool { load > 0 }
    var socket: Int32 { pointer.map { PQsocket($0) } ?? -1 }
    /// Whether a transaction is open.
    var isInTransaction: Bool { pointer.map { PQtransactionStatus($0) != PQTRANS_IDLE } ?? false }

    /// Takes over a connection.
    func open(_ new: OpaquePointer) {
        pointer = new
        phase = .ready
        failures = 0
        wantsWriting = false
        mustClose = false
        prepared = [:]
        prefix = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    /// Ends the connection. Callers get errors: the first one `first`, the others a lost connection.
    func close(_ reason: String, first: PostgresError? = nil) {
        let lost = PostgresError.connectionLost(reason: reason)
        let failed = flights
        let copy = copying
        flights = []
        copying = nil
        if let pointer { PQfinish(pointer) }
        pointer = nil
        generation += 1
        isLeased = false
        isRollingBack = false
        phase = .idle
        for (number, flight) in failed.enumerated() {
            flight.request.ticket.fill(.failure(number == 0 ? first ?? lost : lost))
        }
        copy?.request.ticket.fill(.failure(first ?? lost))
    }

    /// A reason of a lost connection in the words of libpq.
    var reason: String {
        let message = pointer.map { String(cString: PQerrorMessage($0)) } ?? ""
        return message.split(separator: "\n").first.map(String.init) ?? "the server closed the connection"
    }

    // MARK: Sending

    /// Sends statements and one sync.
    ///
    /// - Returns: Whether the connection is still usable.
    func send(_ request: Request) -> Bool {
        guard let pointer, copying == nil else { return false }
        var flight = Flight(request: request, steps: [])
        for statement in request.statements {
            let isSent = Parameters(statement.values).use { parameters in
                if let name = prepared[statement.text] {
                    return parameters.sendPrepared(name, on: pointer)
                }
                guard prepared.count < Self.preparedLimit else {
                    return parameters.sendQuery(statement.text, on: pointer)
                }
                names += 1
                let name = "\(prefix)_\(names)"
                prepared[statement.text] = name
                flight.steps.append(statement.text)
                return parameters.prepare(name, statement.text, on: pointer)
                    && parameters.sendPrepared(name, on: pointer)
            }
            guard isSent else { return refuse(request) }
            flight.steps.append(nil)
        }
        guard PQpipelineSync(pointer) == 1 else { return refuse(request) }
        if flights.isEmpty { headSince = .now }
        flights.append(flight)
        return flush()
    }

    private func refuse(_ request: Request) -> Bool {
        request.ticket.fill(.failure(.connectionLost(reason: reason)))
        return false
    }

    /// Sends the waiting bytes. If the socket is full, the poll thread waits for reading or writing (trap 6).
    func flush() -> Bool {
        guard let pointer else { return false }
        let outcome = PQflush(pointer)
        wantsWriting = outcome == 1
        return outcome >= 0
    }

    // MARK: Receiving

    /// Reads results and notices.
    ///
    /// - Returns: Whether the connection is still usable.
    func receive(_ notify: (String, String) -> Void) -> Bool {
        guard let pointer, PQconsumeInput(pointer) == 1, flush() else { return false }
        if copying != nil { return advanceCopy() }
        var empty = 0
        while !flights.isEmpty, PQisBusy(pointer) == 0 {
            guard let result = PQgetResult(pointer) else {
                // A connection that was killed gives empty results without end (trap 3).
                guard PQstatus(pointer) != CONNECTION_BAD else { return false }
                empty += 1
                guard empty < 3 else { break }
                continue
            }
            empty = 0
            guard take(result) else { return false }
        }
        while let notice = PQnotifies(pointer) {
            notify(String(cString: notice.pointee.relname), String(cString: notice.pointee.extra))
            PQfreemem(notice)
        }
        return PQstatus(pointer) != CONNECTION_BAD && !mustClose
    }

    /// Takes over one result.
    private func take(_ result: OpaquePointer) -> Bool {
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            land(flights.removeFirst())
            headSince = .now
            return true
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            let position = flights[0].position
            let isPreparation = position < flights[0].steps.count && flights[0].steps[position] != nil
            if isPreparation { PQclear(result) } else { flights[0].rows.append(PostgresRows(result)) }
            flights[0].position += 1
            return true
        case PGRES_FATAL_ERROR:
            if flights[0].error == nil { flights[0].error = Self.error(result) }
            PQclear(result)
            return true
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return true
        default:
            // Statements that begin with COPY are refused before; nothing behind this one would ever end.
            PQclear(result)
            return false
        }
    }

    /// Delivers the outcome of statements.
    private func land(_ flight: Flight) {
        guard let error = flight.error else {
            flight.request.ticket.fill(.success(flight.rows))
            return
        }
        // Preparations behind the error were not carried out.
        for case let text? in flight.steps.dropFirst(flight.position) { prepared[text] = nil }
        if error.reaction == .prepareAgain {
            for statement in flight.request.statements { prepared[statement.text] = nil }
            if !flight.request.isInTransaction, !flight.request.isSecondTry {
                var request = flight.request
                request.isSecondTry = true
                again.append(request)
                return
            }
        }
        if error.reaction == .reconnect { mustClose = true }
        // 42883: the tables are not there yet.
        if flight.request.isGreeting, !error.isRefusal("42883") { mustClose = true }
        flight.request.ticket.fill(.failure(error))
    }

    /// Reads an error of the server.
    static func error(_ result: OpaquePointer) -> PostgresError {
        func field(_ code: UnicodeScalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY and PG_DIAG_CONSTRAINT_NAME.
        let (state, message) = (field("C") ?? "", field("M") ?? "")
        guard !state.isEmpty, PostgresError.reaction(toState: state) != .unknownOutcome else {
            let text = PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
            let reason = message.isEmpty ? text.trimmingCharacters(in: .whitespacesAndNewlines) : message
            return .connectionLost(reason: reason)
        }
        return .refused(sqlState: state, reason: message, constraint: field("n"))
    }

    // MARK: COPY

    /// A COPY under way.
    private struct Copying {
        enum Stage { case starting, sending, ending }
        let request: CopyRequest
        var stage = Stage.starting
        var piece = 0
        var count = 0
        var error: PostgresError?
    }

    /// Begins a COPY. The connection leaves pipeline mode for it (trap 5).
    func copy(_ request: CopyRequest) -> Bool {
        guard let pointer, !isBusy else { return false }
        while PQisBusy(pointer) == 0, let result = PQgetResult(pointer) { PQclear(result) }
        copying = Copying(request: request)
        headSince = .now
        guard PQexitPipelineMode(pointer) == 1,
            PQsendQueryParams(pointer, request.text, 0, nil, nil, nil, nil, 0) == 1
        else { return false }
        return flush()
    }

    /// Continues a COPY as far as the socket allows.
    func advanceCopy() -> Bool {
        guard let pointer, let stage = copying?.stage else { return true }
        if stage == .sending { return sendPieces(on: pointer) }
        while PQisBusy(pointer) == 0 {
            guard let result = PQgetResult(pointer) else {
                guard PQstatus(pointer) != CONNECTION_BAD else { return false }
                return endCopy(on: pointer)
            }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COPY_IN:
                copying?.stage = .sending
                return sendPieces(on: pointer)
            case PGRES_COMMAND_OK:
                copying?.count = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
            case PGRES_FATAL_ERROR:
                copying?.error = Self.error(result)
            default:
                return false
            }
            copying?.stage = .ending
        }
        return PQstatus(pointer) != CONNECTION_BAD
    }

    private func sendPieces(on pointer: OpaquePointer) -> Bool {
        while let state = copying, state.piece < state.request.pieces.count {
            let piece = state.request.pieces[state.piece]
            let outcome = piece.withUnsafeBytes { bytes in
                PQputCopyData(pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            guard outcome >= 0 else { return false }
            guard outcome == 1 else {
                wantsWriting = true
                return true
            }
            headSince = .now
            copying?.piece += 1
        }
        let outcome = PQputCopyEnd(pointer, nil)
        guard outcome >= 0 else { return false }
        if outcome == 1 { copying?.stage = .ending }
        let isAlive = flush()
        if outcome == 0 { wantsWriting = true }
        return isAlive
    }

    private func endCopy(on pointer: OpaquePointer) -> Bool {
        guard let state = copying, PQenterPipelineMode(pointer) == 1 else { return false }
        copying = nil
        state.request.ticket.fill(state.error.map { .failure($0) } ?? .success(state.count))
        return true
    }

    /// Asks the server to cancel, on a thread of its own: libpq 15 has no call that does not block (trap 5).
    func cancel() {
        guard let pointer, let cancel = PQgetCancel(pointer) else { return }
        let handle = Handle(pointer: cancel)
        Thread.detachNewThread {
            var buffer = [CChar](repeating: 0, count: 256)
            PQcancel(handle.pointer, &buffer, 256)
            PQfreeCancel(handle.pointer)
        }
    }
}
