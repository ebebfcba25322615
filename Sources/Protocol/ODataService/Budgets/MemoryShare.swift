import Synchronization

/// The memory that all requests of one caller may hold together.
package final class MemoryShare: Sendable {
    private let limit: Int
    private let held = Atomic<Int>(0)

    package init(limit: Int) { self.limit = limit }

    /// Reserves memory.
    ///
    /// - Throws: ``ODataError`` 429 if the caller's requests would hold more than the limit.
    func take(_ bytes: Int) throws(ODataError) {
        guard held.wrappingAdd(bytes, ordering: .relaxed).newValue > limit else { return }
        held.wrappingSubtract(bytes, ordering: .relaxed)
        throw ODataError(
            status: 429, code: "TooMuchAtOnce",
            message: "The requests of this caller hold more than \(limit) bytes together. "
                + "Send the next batch when the responses to the others have been read.",
            retryAfter: 1)
    }

    func giveBack(_ bytes: Int) { held.wrappingSubtract(bytes, ordering: .relaxed) }
}
