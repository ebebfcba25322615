/// The bytes cut into pieces of 1 to 7 bytes; how many depends on how many there are, so that the fuzzer can change it.
func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    let length = 1 + bytes.count % 7
    return stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }
}

/// The bytes in one piece. A stream has no empty ones.
func whole(_ bytes: [UInt8]) -> [[UInt8]] { bytes.isEmpty ? [] : [bytes] }
