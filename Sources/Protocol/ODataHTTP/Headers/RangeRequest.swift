import HTTPTypes
import ODataService

/// The fields `Range` and `If-Range` for a stream of bytes (RFC 9110, 13.1.5 and 14.2).
///
/// A single range gets a partial response. Several ranges get the whole stream, as RFC 9110, 14.2 allows: media
/// players do not need them, and many small ranges can overload a server.
struct RangeRequest {
    /// The bytes to send.
    enum Selection: Hashable {
        /// All bytes.
        case whole
        /// A range of bytes.
        case part(Range<Int64>)
        /// The range does not exist.
        case unsatisfiable
    }

    /// A requested range.
    private enum Specifier {
        case from(Int64, through: Int64?)
        case last(Int64)
    }

    private let specifier: Specifier
    private let validator: String?

    /// Reads the fields.
    ///
    /// - Returns: `nil` if no supported range is requested; the field is then ignored.
    init?(_ fields: HTTPFields) {
        guard let text = fields[.range], let equals = text.firstIndex(of: "="),
            HeaderTokens.trim(text[..<equals]).lowercased() == "bytes"
        else { return nil }
        let sets = HeaderTokens.split(text[text.index(after: equals)...], at: ",").filter { !$0.isEmpty }
        guard sets.count == 1, let specifier = Self.specifier(sets[0]) else { return nil }
        self.specifier = specifier
        validator = fields[.ifRange]
    }

    private static func specifier(_ text: String) -> Specifier? {
        guard let dash = text.firstIndex(of: "-") else { return nil }
        let first = HeaderTokens.trim(text[..<dash])
        let last = HeaderTokens.trim(text[text.index(after: dash)...])
        if first.isEmpty { return number(last).map { .last($0) } }
        guard let from = number(first) else { return nil }
        if last.isEmpty { return .from(from, through: nil) }
        guard let through = number(last), through >= from else { return nil }
        return .from(from, through: through)
    }

    /// Parses a number of digits only. A number that does not fit becomes the greatest possible one.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }

    /// Returns the bytes of a representation to send.
    ///
    /// - Parameters:
    ///   - length: the total number of bytes.
    ///   - etag: the entity tag, which must equal `If-Range`.
    func selection(of length: Int64, etag: String?) -> Selection {
        if let validator {
            // A weak tag does not guarantee the same bytes.
            guard validator == etag, !validator.hasPrefix("W/") else { return .whole }
        }
        switch specifier {
        case .last(let count):
            guard count > 0, length > 0 else { return .unsatisfiable }
            return .part(max(0, length - count)..<length)
        case .from(let first, let through):
            guard first < length else { return .unsatisfiable }
            return .part(first..<(min(through ?? .max, length - 1) + 1))
        }
    }
}

extension ByteStream {
    /// Returns a range of bytes from a producer that cannot start at any offset. Bytes before the range are
    /// skipped, and bytes after it are not requested.
    func part(_ range: Range<Int64>) -> ByteStream {
        let cursor = PartCursor(range)
        return ByteStream(length: Int64(range.count)) {
            while await cursor.isUnfinished {
                guard let chunk = try await next() else { return nil }
                if let piece = await cursor.take(chunk) { return piece }
            }
            return nil
        }
    }

    /// The position of a range within a stream.
    private actor PartCursor {
        private var skip: Int64
        private var remaining: Int64

        init(_ range: Range<Int64>) {
            skip = range.lowerBound
            remaining = range.upperBound - range.lowerBound
        }

        var isUnfinished: Bool { remaining > 0 }

        /// Returns the bytes of a chunk that belong to the range; `nil` if there are none.
        func take(_ chunk: [UInt8]) -> [UInt8]? {
            let skipped = Swift.min(skip, Int64(chunk.count))
            skip -= skipped
            let taken = Swift.min(remaining, Int64(chunk.count) - skipped)
            remaining -= taken
            guard taken > 0 else { return nil }
            if skipped == 0, taken == Int64(chunk.count) { return chunk }
            return Array(chunk[Int(skipped)..<Int(skipped + taken)])
        }
    }
}
