#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Random nonces, fetched from the system a handful at a time.
///
/// One system call per page would cost a tenth of sealing it. Each open file has a source of its own, so a
/// nonce is never handed out twice within a process. A process that forks must not use connections of its
/// parent, which SQLite forbids anyway.
struct NonceSource {
    /// The most that `getentropy` gives at once is 256 bytes.
    private static let batch = 256 / FileFormat.nonceSize * FileFormat.nonceSize
    private var bytes = [UInt8](repeating: 0, count: batch)
    private var used = batch

    /// Writes the next nonce, 12 bytes.
    mutating func next(into target: UnsafeMutableRawPointer) {
        if used == Self.batch {
            refill()
            used = 0
        }
        UnsafeMutableRawBufferPointer(start: target, count: FileFormat.nonceSize)
            .copyBytes(from: bytes[used..<(used + FileFormat.nonceSize)])
        used += FileFormat.nonceSize
    }

    private mutating func refill() {
        let result = bytes.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) }
        if result != 0 {
            var generator = SystemRandomNumberGenerator()
            for index in bytes.indices { bytes[index] = generator.next() }
        }
    }
}
