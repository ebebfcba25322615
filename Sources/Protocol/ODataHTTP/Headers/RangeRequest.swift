import HTTPTypes
import ODataService

/// `Range` and `If-Range` on a stream of bytes (RFC 9110, 13.1.5 and 14.2).
///
/// One range is answered in part. Several at once are answered with the whole, as RFC 9110, 14.2 allows: nobody
/// reads media that way, and many small ranges are a way to wear a server out.
struct RangeRequest {
    /// What is to be sent.
    enum Selection: Hashable {
        /// All bytes.
        case whole
        /// These bytes.
        case part(Range<Int64>)
        /// There are no such bytes.
        case unsatisfiable
    }

    /// One range as it was asked for.
    private enum Specifier {
        case from(Int64, through: Int64?)
        case last(Int64)
    }

    private let specifier: Specifier
    private let validator: String?

    /// Reads the fields.
    ///
    /// - Returns: `nil` where no range is asked for, or none that is understood: the field is then ignored.
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

    /// Digits alone; more than fit are more bytes than there can be.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }

    /// What is to be sent of a representation.
    ///
    /// - Parameters:
    ///   - length: its bytes in all.
    ///   - etag: its entity tag, which `If-Range` must be equal to.
    func selection(of length: Int64, etag: String?) -> Selection {
        if let validator {
            // A weak tag tells of the same state, not of the same bytes.
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
    /// Some of the bytes of a producer that cannot begin anywhere: what stands before is skipped, what stands behind
    /// is never asked for.
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

    /// Where in a stream a part of it is.
    private actor PartCursor {
        private var skip: Int64
        private var remaining: Int64

        init(_ range: Range<Int64>) {
            skip = range.lowerBound
            remaining = range.upperBound - range.lowerBound
        }

        var isUnfinished: Bool { remaining > 0 }

        /// What of a chunk belongs to the part; `nil` when nothing does.
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
