import ODataService
import Synchronization

/// The encoding of a JSON text that is not UTF-8, although RFC 8259, 8.1 demands it. Some services write UTF-16, and
/// some servers declare a charset that they use.
enum BodyEncoding: Hashable, Sendable {
    case utf16(isLittleEndian: Bool)
    case utf32(isLittleEndian: Bool)
    /// Windows-1252, which includes the characters of ISO 8859-1. Valid UTF-8 counts as UTF-8: many servers declare
    /// their standard charset whatever they send.
    case windows1252

    /// Returns the encoding of a JSON object or array; `nil` for UTF-8 and for other texts.
    ///
    /// - Parameters:
    ///   - first: the beginning of the body.
    ///   - charset: the charset of the media type.
    init?(of first: [UInt8], charset: String?) {
        guard let found = Self.wide(first) ?? Self.single(charset) else { return nil }
        self = found
        var decoder = BodyDecoder(self)
        let text = decoder.decode(first).first {
            !" \t\r\n".utf8.contains($0) && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF
        }
        guard text == UInt8(ascii: "{") || text == UInt8(ascii: "[") else { return nil }
    }

    /// Returns the encoding with several bytes for each ASCII character, as the first characters show it: a byte order
    /// mark, or a bracket and another ASCII character.
    private static func wide(_ first: [UInt8]) -> BodyEncoding? {
        let start = Array(first.prefix(4))
        switch start {
        case [0xFF, 0xFE, 0, 0]: return .utf32(isLittleEndian: true)
        case [0, 0, 0xFE, 0xFF]: return .utf32(isLittleEndian: false)
        default: break
        }
        if start.starts(with: [0xFF, 0xFE]) { return .utf16(isLittleEndian: true) }
        if start.starts(with: [0xFE, 0xFF]) { return .utf16(isLittleEndian: false) }
        return switch start.map({ $0 != 0 }) {
        case [true, false, false, false]: .utf32(isLittleEndian: true)
        case [false, false, false, true]: .utf32(isLittleEndian: false)
        case [true, false, true, false]: .utf16(isLittleEndian: true)
        case [false, true, false, true]: .utf16(isLittleEndian: false)
        default: nil
        }
    }

    /// Returns the encoding with a byte for each character that a charset names.
    private static func single(_ charset: String?) -> BodyEncoding? {
        switch charset?.lowercased() {
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "windows-1252", "cp1252": .windows1252
        default: nil
        }
    }

    /// Returns a stream in UTF-8.
    func utf8(_ stream: ByteStream) -> ByteStream {
        let decoder = Mutex(BodyDecoder(self))
        return ByteStream {
            while let chunk = try await stream.next() {
                let text = decoder.withLock { $0.decode(chunk) }
                if !text.isEmpty { return text }
            }
            let rest = decoder.withLock { $0.finish() }
            return rest.isEmpty ? nil : rest
        }
    }
}

/// A decoder of a text that arrives in chunks.
struct BodyDecoder {
    private let encoding: BodyEncoding
    /// The bytes of a character whose end has not arrived.
    private var pending: [UInt8] = []

    init(_ encoding: BodyEncoding) { self.encoding = encoding }

    /// Returns the characters that are complete with a chunk in UTF-8.
    mutating func decode(_ chunk: [UInt8]) -> [UInt8] {
        pending += chunk
        return take(isLast: false)
    }

    /// Returns the rest of the text. Half a character is U+FFFD.
    mutating func finish() -> [UInt8] { take(isLast: true) }

    private mutating func take(isLast: Bool) -> [UInt8] {
        var count = pending.count
        switch encoding {
        case .utf16(let isLittleEndian):
            if !isLast {
                count -= count % 2
                // The second half of a pair may come with the next chunk.
                if count >= 2, pending[count - (isLittleEndian ? 1 : 2)] & 0xFC == 0xD8 { count -= 2 }
            }
            let units = stride(from: 0, to: count, by: 2).map { index -> UInt16 in
                guard index + 1 < count else { return 0xFFFD }
                let (first, second) = (UInt16(pending[index]), UInt16(pending[index + 1]))
                return isLittleEndian ? first | second << 8 : first << 8 | second
            }
            return taking(count, Array(String(decoding: units, as: UTF16.self).utf8))
        case .utf32(let isLittleEndian):
            if !isLast { count -= count % 4 }
            var text = String.UnicodeScalarView()
            for index in stride(from: 0, to: count, by: 4) {
                let four = pending[index..<min(index + 4, count)]
                let number = (isLittleEndian ? Array(four.reversed()) : Array(four)).reduce(UInt32(0)) {
                    $0 << 8 | UInt32($1)
                }
                text.append(four.count == 4 ? Unicode.Scalar(number) ?? "\u{FFFD}" : "\u{FFFD}")
            }
            return taking(count, Array(String(text).utf8))
        case .windows1252: return takeSingleBytes(isLast: isLast)
        }
    }

    private mutating func taking(_ count: Int, _ text: [UInt8]) -> [UInt8] {
        pending.removeFirst(count)
        return text
    }

    private mutating func takeSingleBytes(isLast: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(pending.count)
        var index = 0
        while index < pending.count {
            let byte = pending[index]
            if byte < 0x80 {
                result.append(byte)
                index += 1
                continue
            }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            if !isLast, index + length > pending.count { break }
            let sequence = pending[index..<min(index + length, pending.count)]
            if byte >= 0xC2, String(validating: sequence, as: UTF8.self) != nil {
                result += sequence
                index += length
            } else {
                let scalar = Self.windows1252[Int(byte) - 0x80, default: Unicode.Scalar(byte)]
                result += Array(String(scalar).utf8)
                index += 1
            }
        }
        pending.removeFirst(index)
        return result
    }

    /// The characters from 0x80 that differ from those of ISO 8859-1, by the distance from it.
    private static let windows1252: [Int: Unicode.Scalar] = [
        0x00: "\u{20AC}", 0x02: "\u{201A}", 0x03: "\u{0192}", 0x04: "\u{201E}", 0x05: "\u{2026}", 0x06: "\u{2020}",
        0x07: "\u{2021}", 0x08: "\u{02C6}", 0x09: "\u{2030}", 0x0A: "\u{0160}", 0x0B: "\u{2039}", 0x0C: "\u{0152}",
        0x0E: "\u{017D}", 0x11: "\u{2018}", 0x12: "\u{2019}", 0x13: "\u{201C}", 0x14: "\u{201D}", 0x15: "\u{2022}",
        0x16: "\u{2013}", 0x17: "\u{2014}", 0x18: "\u{02DC}", 0x19: "\u{2122}", 0x1A: "\u{0161}", 0x1B: "\u{203A}",
        0x1C: "\u{0153}", 0x1E: "\u{017E}", 0x1F: "\u{0178}",
    ]
}
