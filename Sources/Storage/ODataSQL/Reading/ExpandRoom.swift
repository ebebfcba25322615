import ODataService

/// The memory that the rows of one run of ``ExpandRunner`` may take.
///
/// A tree that is written piece by piece holds each row once, however often it is written: its size counts. Entities are
/// encoded as a whole: the size of all repetitions counts, and stays part of the request's memory.
final class ExpandRoom {
    /// The tree has more rows than may be held at once; it has to be read in smaller parts.
    struct IsFull: Error {}

    /// The most bytes of a tree; `nil` for entities.
    private let treeSize: Int?
    private var size = 0
    /// The rows that were taken of the request's budget.
    private var rows = 0
    /// The bytes that the request's budget accounts for.
    private var held = 0

    /// The room of entities.
    init() { treeSize = nil }

    /// The room of a tree.
    init(treeSize: Int) { self.treeSize = treeSize }

    /// Takes the room of a row.
    ///
    /// - Parameter count: the number of times that the response has the row.
    /// - Throws: ``IsFull``; ``ODataError`` 413 beyond the request's budget.
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

    /// Gives back the rows of a tree that is not written.
    func undo(_ budget: RequestBudget?) { budget?.giveBackRows(rows) }

    /// Says that entities are encoded and gone.
    func release(_ budget: RequestBudget?) {
        budget?.release(held)
        held = 0
    }
}
