import ODataService
import Synchronization

/// The bytes that all answers which are kept for later may take together.
final class AnswerSpace: Sendable {
    private let limits: StatusMonitors.Limits
    private let taken = Mutex(0)

    init(_ limits: StatusMonitors.Limits) { self.limits = limits }

    /// What one answer takes of them, as it grows; what it has is free again when the answer is let go of.
    final class Share: Sendable {
        private let space: AnswerSpace
        private let size = Mutex(0)

        init(of space: AnswerSpace) { self.space = space }

        deinit { release() }

        /// Takes so many bytes more.
        ///
        /// - Throws: ``ODataError`` with status 413 where the answer, or all together, would be too large.
        func take(_ bytes: Int) throws(ODataError) {
            let fits = size.withLock { size in
                guard size + bytes <= space.limits.maxAnswerSize, space.take(bytes) else { return false }
                size += bytes
                return true
            }
            guard !fits else { return }
            throw ODataError(
                status: 413, code: "AnswerTooLarge",
                message: "The answer cannot be kept: \(space.limits.maxAnswerSize) bytes can of one, "
                    + "\(space.limits.maxTotalSize) of all together.")
        }

        /// Gives back all that was taken.
        func release() {
            size.withLock { size in
                space.giveBack(size)
                size = 0
            }
        }
    }

    private func take(_ bytes: Int) -> Bool {
        taken.withLock { taken in
            guard taken + bytes <= limits.maxTotalSize else { return false }
            taken += bytes
            return true
        }
    }

    private func giveBack(_ bytes: Int) { taken.withLock { $0 -= bytes } }
}
