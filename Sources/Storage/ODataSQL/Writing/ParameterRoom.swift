/// Memory for what the parameters of a statement are bound to and nobody else keeps until the statement has run: SQLite need
/// not allocate a copy of each value.
final class ParameterRoom {
    /// How many bytes each parameter has: enough for most entity tags and for a key of a decimal
    /// (``DecimalKey/maxLength``).
    static let bytesEach = 64

    private let memory: UnsafeMutableRawBufferPointer

    /// Makes room for the parameters of a statement.
    init(parameters: Int) {
        memory = .allocate(byteCount: max(1, parameters) * Self.bytesEach, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// The memory of a parameter, counted from 1; `nil` where there is none.
    subscript(index: Int32) -> UnsafeMutableRawBufferPointer? {
        let start = (Int(index) - 1) * Self.bytesEach
        guard start >= 0, start + Self.bytesEach <= memory.count else { return nil }
        return UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + Self.bytesEach])
    }
}
