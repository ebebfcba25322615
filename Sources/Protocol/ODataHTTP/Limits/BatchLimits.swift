import ODataService
import Synchronization

/// The limits for the batches that one caller may run at once. A caller is a principal or an anonymous address
/// (``ODataService/CallerID``).
public struct BatchLimits: Hashable, Sendable {
    /// The default number: 8 batches.
    public static let defaultCount = 8
    /// The default memory: 256 MiB.
    public static let defaultBytes = 256 << 20

    /// The maximum number of concurrent batches of a caller. A further batch is refused with 429.
    public var count: Int
    /// The maximum number of bytes that all batches of a caller hold at once.
    public var bytes: Int

    /// Creates limits.
    public init(count: Int = Self.defaultCount, bytes: Int = Self.defaultBytes) {
        self.count = count
        self.bytes = bytes
    }
}

/// The running batches by caller.
final class BatchShares: Sendable {
    private struct Entry {
        var count = 0
        let memory: MemoryShare
    }

    private let limits: BatchLimits
    private let entries = Mutex<[CallerID: Entry]>([:])

    init(_ limits: BatchLimits) { self.limits = limits }

    /// The registration of a running batch, which ends when the object is released.
    final class Place: Sendable {
        private let shares: BatchShares
        private let caller: CallerID

        fileprivate init(_ shares: BatchShares, _ caller: CallerID) {
            self.shares = shares
            self.caller = caller
        }

        deinit { shares.leave(caller) }
    }

    /// Registers a batch.
    ///
    /// - Returns: `nil` for a request of the app itself, which has no budget.
    /// - Throws: ``ODataError`` 429 if the caller runs too many batches.
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
