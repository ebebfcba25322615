/// The bytes cut into pieces of 1 to 7 bytes; how many depends on how many there are, so that the fuzzer can change it.
func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    let length = 1 + bytes.count % 7
    // FIXME: JSON takes a byte order mark that is cut for an error (JSONScanner.init): when that is mended, this line goes.
    let first = bytes.first == 0xEF ? max(length, 3) : length
    guard bytes.count > first else { return whole(bytes) }
    return [Array(bytes[..<first])]
        + stride(from: first, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }
}

/// The bytes in one piece. A stream has no empty ones.
func whole(_ bytes: [UInt8]) -> [[UInt8]] { bytes.isEmpty ? [] : [bytes] }
