import ODataService

/// The memory for the rows of one run of ``ExpandRunner``.
///
/// A tree that is written incrementally contains each row once, even if the response repeats it, so that the size
/// of the tree counts. Entities are encoded as a whole. The size of all repetitions then counts and remains part of
/// the request's memory.
final class ExpandRoom {
    /// An error that is thrown if a tree has more rows than fit into memory. The tree must be read in smaller
    /// parts.
    struct IsFull: Error {}

    /// The maximum number of bytes of a tree; `nil` for entities.
    private let treeSize: Int?
    private var size = 0
    /// The number of rows taken from the request's budget.
    private var rows = 0
    /// The number of bytes taken from the request's budget.
    private var held = 0

    /// Creates the memory for entities.
    init() { treeSize = nil }

    /// Creates the memory for a tree.
    init(treeSize: Int) { self.treeSize = treeSize }

    /// Takes memory for a row.
    ///
    /// - Parameter count: the number of occurrences of the row in the response.
    /// - Throws: ``IsFull``; ``ODataError`` 413 if the request's budget is exceeded.
    func take(_ bytes: Int, times count: Int, _ budget: RequestBudget?) throws {
        rows += count
        try budget?.takeRows(count)
        guard let treeSize else {
            let size = min(bytes, 1 << 32) * min(count, 1 << 30)
            try budget?.hold(size)
            held += size
            return
        }
        size += bytes
        if size > treeSize { throw IsFull() }
    }

    /// Takes memory for an encoded entity.
    ///
    /// - Throws: ``ODataError`` 413 if the request's budget is exceeded.
    func hold(_ bytes: Int, _ budget: RequestBudget?) throws(ODataError) {
        try budget?.hold(bytes)
        held += bytes
    }

    /// Returns the rows of a discarded tree to the budget.
    func undo(_ budget: RequestBudget?) { budget?.giveBackRows(rows) }

    /// Returns the memory of encoded entities to the budget.
    func release(_ budget: RequestBudget?) {
        budget?.release(held)
        held = 0
    }
}
