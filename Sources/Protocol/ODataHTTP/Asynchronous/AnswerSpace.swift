import ODataService
import Synchronization

/// The memory for retained responses of asynchronous requests, with a limit for all and one for each caller.
final class AnswerSpace: Sendable {
    private let limits: StatusMonitors.Limits
    private let taken = Mutex<[CallerID?: Int]>([:])

    init(_ limits: StatusMonitors.Limits) { self.limits = limits }

    /// The number of bytes in use by caller.
    var sizes: [CallerID?: Int] { taken.withLock { $0 } }

    /// Returns whether all responses together would exceed the limit with additional bytes.
    func isFull(_ bytes: Int) -> Bool {
        taken.withLock { $0.values.reduce(bytes, +) > limits.maxTotalSize }
    }

    /// The memory of one response, which is freed when the share is released.
    final class Share: Sendable {
        let caller: CallerID?
        private let space: AnswerSpace
        private let size = Mutex(0)

        init(of space: AnswerSpace, for caller: CallerID?) {
            self.space = space
            self.caller = caller
        }

        deinit { release() }

        /// Reserves additional bytes.
        ///
        /// - Throws: ``ODataError`` with status 413 if the response, or all together, would exceed a limit.
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

        /// Frees all reserved bytes.
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
