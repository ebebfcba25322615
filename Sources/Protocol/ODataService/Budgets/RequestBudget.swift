import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The resources that one request may use, and the cancellation flag of the request.
///
/// A server creates a budget for each request (``current``), and the request carries it to the provider
/// (``RequestContext/budget``). All requests of a batch share one budget. The requests of an app have none.
///
/// ```swift
/// let budget = RequestBudget(.init(statementTime: .seconds(5), rows: 10_000))
/// var request = ODataRequest(.read, url)
/// request.context.budget = budget
/// let response = try await provider.execute(request)  // ODataError 413 or 503 beyond the budget
/// ```
public final class RequestBudget: Sendable {
    /// The limits of a budget; `nil` means no limit.
    public struct Limits: Hashable, Sendable {
        /// The default processor time of a served request: 60 seconds.
        public static let defaultStatementTime = Duration.seconds(60)
        /// The default number of rows of a served request, over all levels: 1,000,000.
        public static let defaultRows = 1_000_000
        /// The default number of bytes that a served request holds at once: 64 MiB.
        public static let defaultHeldBytes = 64 << 20

        /// The processor time of all statements of the request, without the time of the transfer.
        public var statementTime: Duration?
        /// The maximum number of rows in the response. A row that is expanded in several others counts each time.
        public var rows: Int?
        /// The maximum number of bytes held in memory at once for the response.
        public var heldBytes: Int?

        /// Creates limits.
        ///
        /// - Parameters:
        ///   - statementTime: the processor time of all statements, without the time of the transfer.
        ///   - rows: the maximum number of rows over all levels of the response.
        ///   - heldBytes: the maximum number of bytes held in memory at once.
        public init(statementTime: Duration? = nil, rows: Int? = nil, heldBytes: Int? = nil) {
            self.statementTime = statementTime
            self.rows = rows
            self.heldBytes = heldBytes
        }

        /// No limits, for the requests of an app.
        public static let unlimited = Limits()
        /// The default limits of a server.
        public static let served = Limits(
            statementTime: defaultStatementTime, rows: defaultRows, heldBytes: defaultHeldBytes)
    }

    /// The budget of the request that the current task answers; `nil` outside a server.
    @TaskLocal public static var current: RequestBudget?

    /// The limits of the budget.
    public let limits: Limits
    /// The caller that is charged for the request; `nil` if it was not determined.
    public let caller: CallerID?

    private let rows = Atomic<Int>(0)
    private let held = Atomic<Int>(0)
    private let nanoseconds = Atomic<Int64>(0)
    private let isGone = Atomic<Bool>(false)
    private let partCount = Atomic<Int>(1)
    private let share = Mutex<MemoryShare?>(nil)

    /// Creates an unused budget.
    public init(_ limits: Limits, caller: CallerID? = nil) {
        self.limits = limits
        self.caller = caller
    }

    /// Returns an unused budget with the same limits, for work that continues after the caller has disconnected.
    package func detached() -> RequestBudget { RequestBudget(limits, caller: caller) }

    // MARK: Cancellation

    /// Whether the request was cancelled because its caller disconnected or the server stops.
    public var isCancelled: Bool { isGone.load(ordering: .relaxed) }

    /// Stops the statements of the request. A running statement ends within milliseconds.
    public func cancel() { isGone.store(true, ordering: .relaxed) }

    // MARK: Rows

    /// Counts rows of the response.
    ///
    /// - Throws: ``ODataError`` 413 with the code `RowLimit` if the response exceeds the limit.
    public func takeRows(_ count: Int = 1) throws(ODataError) {
        let taken = rows.wrappingAdd(count, ordering: .relaxed).newValue
        guard let limit = limits.rows, taken > limit else { return }
        throw ODataError(
            status: 413, code: "RowLimit",
            message: "The response has more than \(limit) rows over all levels. "
                + "Ask for fewer with $top, $filter, maxpagesize or less $expand.")
    }

    /// Gives back counted rows that do not become part of the response.
    public func giveBackRows(_ count: Int) { rows.wrappingSubtract(count, ordering: .relaxed) }

    /// The number of rows counted so far.
    public var rowsTaken: Int { rows.load(ordering: .relaxed) }

    // MARK: Memory

    /// The number of bytes that may still be held; `Int.max` without a limit.
    public var heldBytesLeft: Int {
        guard let limit = limits.heldBytes else { return .max }
        return max(0, limit - held.load(ordering: .relaxed))
    }

    /// Counts bytes that are held in memory until ``release(_:)`` or until the request ends.
    ///
    /// - Throws: ``ODataError`` 413 with the code `ResponseTooLarge` if the request would hold too many bytes, and
    ///   429 if the requests of its caller would.
    public func hold(_ bytes: Int) throws(ODataError) {
        let (sum, overflow) = held.load(ordering: .relaxed).addingReportingOverflow(bytes)
        if overflow { throw tooLarge }
        if let limit = limits.heldBytes, sum > limit { throw tooLarge }
        try share.withLock { (share) throws(ODataError) in try share?.take(bytes) }
        held.wrappingAdd(bytes, ordering: .relaxed)
    }

    /// Gives back bytes that are not held any more.
    public func release(_ bytes: Int) {
        held.wrappingSubtract(bytes, ordering: .relaxed)
        share.withLock { $0?.giveBack(bytes) }
    }

    /// Makes the request take its memory from a share that it has in common with other requests of the caller.
    package func join(_ share: MemoryShare) { self.share.withLock { $0 = share } }

    deinit { share.withLock { $0?.giveBack(held.load(ordering: .relaxed)) } }

    /// The error for a response that cannot be held in memory.
    public var tooLarge: ODataError {
        ODataError(
            status: 413, code: "ResponseTooLarge",
            message: "The response needs more than \(limits.heldBytes ?? 0) bytes of memory at once. "
                + "Ask for less with $select, $top, maxpagesize or less $expand.")
    }

    /// The number of requests that share the budget: 1, or the number of requests in a batch.
    public var parts: Int { partCount.load(ordering: .relaxed) }

    /// Sets the number of requests that share the budget.
    public func share(among parts: Int) { partCount.store(max(1, parts), ordering: .relaxed) }

    // MARK: Time

    /// The remaining processor time; `nil` without a limit.
    public var timeLeft: Duration? {
        limits.statementTime.map { $0 - .nanoseconds(nanoseconds.load(ordering: .relaxed)) }
    }

    /// Counts processor time of the request.
    public func spend(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let spent = seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
        nanoseconds.wrappingAdd(spent &+ attoseconds / 1_000_000_000, ordering: .relaxed)
    }

    /// The error for a request that takes too long.
    public var tooSlow: ODataError {
        ODataError(
            status: 503, code: "TimeLimit",
            message: "The request takes longer than \(limits.statementTime ?? .zero) of processor time. "
                + "Narrow it with $filter on indexed properties, or ask for less at once.")
    }

    /// Checks between two steps of a computation that the computation may continue.
    ///
    /// - Throws: `CancellationError` if the request was cancelled, or ``ODataError`` 503 with the code `TimeLimit`
    ///   if its time has run out.
    public func check() throws {
        if isCancelled { throw CancellationError() }
        if let left = timeLeft, left <= .zero { throw tooSlow }
    }

    /// Runs a computation on the current thread and counts its processor time.
    ///
    /// - Throws: the errors of ``check()`` before the computation begins, and the errors of the computation.
    public func working<Value>(_ body: () throws -> Value) throws -> Value {
        try check()
        let start = Self.threadTime
        defer { spend(Self.threadTime - start) }
        return try body()
    }

    /// The processor time that the current thread has used.
    package static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
