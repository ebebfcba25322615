import ODataService
import Synchronization

/// The bytes that the answers which are kept for later may take: all together, and those of each caller.
final class AnswerSpace: Sendable {
    private let limits: StatusMonitors.Limits
    private let taken = Mutex<[CallerID?: Int]>([:])

    init(_ limits: StatusMonitors.Limits) { self.limits = limits }

    /// The bytes by caller.
    var sizes: [CallerID?: Int] { taken.withLock { $0 } }

    /// Whether so many bytes more have no room among all.
    func isFull(_ bytes: Int) -> Bool {
        taken.withLock { $0.values.reduce(bytes, +) > limits.maxTotalSize }
    }

    /// What one answer takes of them, as it grows; what it has is free again when the answer is let go of.
    final class Share: Sendable {
        let caller: CallerID?
        private let space: AnswerSpace
        private let size = Mutex(0)

        init(of space: AnswerSpace, for caller: CallerID?) {
            self.space = space
            self.caller = caller
        }

        deinit { release() }

        /// Takes so many bytes more.
        ///
        /// - Throws: ``ODataError`` with status 413 where the answer, or all together, would be too large.
        func take(_ bytes: Int) throws(ODataError) {
            let fits = size.withLock { size in
                guard size + bytes <= space.limits.maxAnswerSize, space.take(bytes, caller) else { return false }
                size += bytes
                return true
            }
            guard !fits else { return }
            throw ODataError(
                status: 413, code: "AnswerTooLarge",
                message: "The answer cannot be kept: \(space.limits.maxAnswerSize) bytes can of one, "
                    + "\(space.limits.maxSizeOfCaller) of a caller, \(space.limits.maxTotalSize) of all together. "
                    + "Ask for less, or without respond-async.")
        }

        /// Gives back all that was taken.
        func release() {
            size.withLock { size in
                space.giveBack(size, caller)
                size = 0
            }
        }
    }

    private func take(_ bytes: Int, _ caller: CallerID?) -> Bool {
        taken.withLock { taken in
            guard taken.values.reduce(bytes, +) <= limits.maxTotalSize,
                taken[caller, default: 0] + bytes <= limits.maxSizeOfCaller
            else { return false }
            taken[caller, default: 0] += bytes
            return true
        }
    }

    private func giveBack(_ bytes: Int, _ caller: CallerID?) {
        taken.withLock { taken in
            guard bytes > 0, let size = taken[caller] else { return }
            taken[caller] = size > bytes ? size - bytes : nil
        }
    }
}
