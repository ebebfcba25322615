import ODataService

/// The memory of an encoded body. It belongs to the budget of the request until the body was sent.
final class HeldBody: Sendable {
    private let budget: RequestBudget
    private let size: Int

    private init(_ size: Int, _ budget: RequestBudget) throws(ODataError) {
        try budget.hold(size)
        self.budget = budget
        self.size = size
    }

    deinit { budget.release(size) }

    /// Returns a body as a stream that keeps its memory in the budget of the request.
    ///
    /// - Throws: ``ODataError`` 413 if the request needs more memory than it has.
    static func stream(_ bytes: [UInt8], _ budget: RequestBudget?) throws(ODataError) -> ByteStream {
        guard let budget else { return ByteStream(bytes) }
        return ByteStream(bytes).holding(try HeldBody(bytes.count, budget))
    }
}
