import ODataService
import Synchronization

/// The batches that one caller may have answered at once: a principal, or an address of anonymous callers
/// (``ODataService/CallerID``). Others have shares of their own.
public struct BatchLimits: Hashable, Sendable {
    /// 8 batches.
    public static let defaultCount = 8
    /// 256 MiB.
    public static let defaultBytes = 256 << 20

    /// The most batches of a caller at once; one more is refused with 429.
    public var count: Int
    /// The most bytes that all batches of a caller hold at once.
    public var bytes: Int

    /// Makes limits.
    public init(count: Int = Self.defaultCount, bytes: Int = Self.defaultBytes) {
        self.count = count
        self.bytes = bytes
    }
}

/// The batches that are being answered, by their callers.
final class BatchShares: Sendable {
    private struct Entry {
        var count = 0
        let memory: MemoryShare
    }

    private let limits: BatchLimits
    private let entries = Mutex<[CallerID: Entry]>([:])

    init(_ limits: BatchLimits) { self.limits = limits }

    /// The place that a batch has among those of its caller, until it is let go of.
    final class Place: Sendable {
        private let shares: BatchShares
        private let caller: CallerID

        fileprivate init(_ shares: BatchShares, _ caller: CallerID) {
            self.shares = shares
            self.caller = caller
        }

        deinit { shares.leave(caller) }
    }

    /// Gives a batch its place.
    ///
    /// - Returns: `nil` for a request of the app itself, which has no budget.
    /// - Throws: ``ODataError`` 429 when the caller has too many.
    func enter(_ request: ODataRequest) throws(ODataError) -> Place? {
        guard let budget = request.context.budget, let caller = CallerID(of: request) else { return nil }
        let memory = entries.withLock { entries -> MemoryShare? in
            var entry = entries[caller] ?? Entry(memory: MemoryShare(limit: limits.bytes))
            guard entry.count < limits.count else { return nil }
            entry.count += 1
            entries[caller] = entry
            return entry.memory
        }
        guard let memory else {
            throw ODataError(
                status: 429, code: "TooManyBatches",
                message: "\(limits.count) batches of this caller are being answered. "
                    + "Send the next one when a response has been read.",
                retryAfter: 1)
        }
        budget.join(memory)
        return Place(self, caller)
    }

    private func leave(_ caller: CallerID) {
        entries.withLock { entries in
            entries[caller]?.count -= 1
            if entries[caller]?.count == 0 { entries[caller] = nil }
        }
    }
}
