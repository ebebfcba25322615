/// A percent-decoded component of a URL, with the original offset of each byte.
///
/// A URL is split before its components are decoded, so that an encoded delimiter is data (OData URL Conventions
/// 4.01, 2 *URL Components*).
struct SourceText {
    let bytes: [UInt8]
    /// The offset of each byte and of the end, in characters of the given text; `nil` if offsets differ from byte
    /// positions only by `base`.
    private let offsets: [Int32]?
    private let base: Int

    /// Decodes a component.
    ///
    /// - Parameters:
    ///   - source: the bytes of the component.
    ///   - base: the offset of its first character in the given text.
    ///   - isPercentEncoded: whether `%` introduces an encoded byte.
    ///   - plusIsSpace: whether `+` is a space.
    init(
        _ source: ArraySlice<UInt8>, base: Int = 0, isPercentEncoded: Bool, plusIsSpace: Bool = false
    ) throws(QueryError) {
        self.base = base
        guard source.count <= QueryLimits.maxLength else {
            throw QueryError(
                .limit(name: "maxLength"), "The text is longer than \(QueryLimits.maxLength) bytes.", offset: base)
        }
        let isPlain = source.allSatisfy {
            $0 < 0x80 && ($0 != UInt8(ascii: "%") || !isPercentEncoded) && ($0 != UInt8(ascii: "+") || !plusIsSpace)
        }
        if isPlain {
            bytes = Array(source)
            offsets = nil
            return
        }
        var decoded: [UInt8] = []
        var positions: [Int32] = []
        decoded.reserveCapacity(source.count)
        positions.reserveCapacity(source.count + 1)
        var index = source.startIndex
        var offset = base
        while index < source.endIndex {
            let byte = source[index]
            positions.append(Int32(truncatingIfNeeded: offset))
            if byte == UInt8(ascii: "%"), isPercentEncoded {
                guard index + 2 < source.endIndex, let high = source[index + 1].hexadecimalDigit,
                    let low = source[index + 2].hexadecimalDigit
                else {
                    throw QueryError(
                        .syntax, "Expected two hexadecimal digits after %.", offset: offset,
                        hint: "Write %25 for the character %.")
                }
                decoded.append(high << 4 | low)
                index += 3
                offset += 3
                continue
            }
            decoded.append(byte == UInt8(ascii: "+") && plusIsSpace ? UInt8(ascii: " ") : byte)
            index += 1
            // Continuation bytes belong to the character before them.
            if index == source.endIndex || source[index] & 0xC0 != 0x80 { offset += 1 }
        }
        positions.append(Int32(truncatingIfNeeded: offset))
        if let bad = Self.invalidUTF8(decoded) {
            throw QueryError(.syntax, "The percent-encoded bytes are not UTF-8.", offset: Int(positions[bad]))
        }
        bytes = decoded
        offsets = positions
    }

    /// Returns the offset of a byte or of the end, in characters of the given text.
    func offset(at index: Int) -> Int {
        guard let offsets else { return base + index }
        return Int(offsets[min(max(index, 0), offsets.count - 1)])
    }

    /// Returns whether a byte was percent-encoded.
    func isEncoded(at index: Int) -> Bool {
        guard let offsets, index >= 0, index + 1 < offsets.count else { return false }
        return offsets[index + 1] - offsets[index] == 3
    }

    /// Returns the index of the first byte that is not well-formed UTF-8.
    private static func invalidUTF8(_ bytes: [UInt8]) -> Int? {
        if bytes.allSatisfy({ $0 < 0x80 }) { return nil }
        var decoder = UTF8()
        var iterator = CountingIterator(base: bytes.makeIterator())
        var start = 0
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: start = iterator.count
            case .emptyInput: return nil
            case .error: return min(start, bytes.count - 1)
            }
        }
    }

    private struct CountingIterator: IteratorProtocol {
        var base: Array<UInt8>.Iterator
        var count = 0

        mutating func next() -> UInt8? {
            guard let byte = base.next() else { return nil }
            count += 1
            return byte
        }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; `nil` for any other byte.
    var hexadecimalDigit: UInt8? {
        switch self {
        case 48...57: self - 48
        case 65...70: self - 55
        case 97...102: self - 87
        default: nil
        }
    }

    var isDigit: Bool { self >= 48 && self <= 57 }

    var isLetter: Bool { (self | 0x20) >= 97 && (self | 0x20) <= 122 }
}
