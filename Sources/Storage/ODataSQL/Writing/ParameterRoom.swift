/// Memory for parameter values that must remain valid until the statement has run, so that SQLite does not allocate
/// a copy of each value.
final class ParameterRoom {
    /// The number of bytes for each parameter, which is sufficient for most entity tags and for a decimal key
    /// (``DecimalKey/maxLength``).
    static let bytesEach = 64

    private let memory: UnsafeMutableRawBufferPointer

    /// Allocates memory for the parameters of a statement.
    init(parameters: Int) {
        memory = .allocate(byteCount: max(1, parameters) * Self.bytesEach, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// The memory of a parameter; the first index is 1. `nil` if there is no such parameter.
    subscript(index: Int32) -> UnsafeMutableRawBufferPointer? {
        let start = (Int(index) - 1) * Self.bytesEach
        guard start >= 0, start + Self.bytesEach <= memory.count else { return nil }
        return UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + Self.bytesEach])
    }
}
