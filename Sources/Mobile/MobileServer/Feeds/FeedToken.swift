import Foundation
import ServerState

/// A position in a feed, as delta links and next links carry it: 103 bytes in base64url (`mobile-server.md` 5.4,
/// `design-review.md` 3, 13 and 15).
struct FeedToken: Hashable, Sendable {
    /// The kind of link.
    enum Kind: UInt8, Sendable {
        /// A delta link, which a device keeps.
        case delta = 1
        /// A next link of a full read.
        case fullNext = 2
        /// A next link of a delta.
        case deltaNext = 3
    }

    /// The number of bytes.
    static let size = 103
    /// The number of bytes of the MAC.
    static let codeSize = 16
    /// The number of bytes of a key that a token names.
    static let prefixSize = 8
    private static let version: UInt8 = 1
    private static let keyID: UInt8 = 1

    /// The kind.
    var kind: Kind
    /// The first 8 bytes of the key of the feed.
    var feed: [UInt8]
    /// The version of the configuration.
    var configuration: UInt32
    /// The head from which the device has everything; 0 in a full read.
    var from: ChangeNumber
    /// The head up to which the read goes.
    var to: ChangeNumber
    /// The number of the part in the set; 0 without parts.
    var part: UInt16 = 0
    /// The sequence number behind which the next page begins.
    var position: ChangeNumber
    /// The highest head that was seen, with its tag.
    var witness: FeedWitness
    /// The end of the token's life.
    var expires: ServerInstant
    /// The set of parts; zero without parts.
    var partSet = [UInt8](repeating: 0, count: 8)
    /// The keyed hash of the audience; zero for shared feeds.
    var subject = [UInt8](repeating: 0, count: 8)
    /// The incarnation of the node that issued the token.
    var incarnation: UInt32
    /// The node that has the spool of a read, for feeds of one user.
    var node: UInt16 = 0

    /// The text in a URL.
    func text(_ keys: ServerKeys) -> String {
        var bytes = content
        bytes += keys.authenticationCode(for: bytes, .tokens).prefix(Self.codeSize)
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    /// The reason why a token is not taken.
    enum Refusal: Error, Hashable {
        /// The text is no token at all: it may be one of the back end.
        case syntax
        /// The token cannot be checked: 410 reason `expired`, so that the device reads in full.
        case unverifiable
    }

    /// Reads a text and checks its MAC.
    ///
    /// - Throws: ``Refusal``.
    init(_ text: String, _ keys: ServerKeys) throws(Refusal) {
        guard let bytes = Self.bytes(of: text) else { throw .syntax }
        let content = bytes.dropLast(Self.codeSize)
        let code = keys.authenticationCode(for: content, .tokens).prefix(Self.codeSize)
        var difference: UInt8 = 0
        for (own, given) in zip(code, bytes.suffix(Self.codeSize)) { difference |= own ^ given }
        guard difference == 0, bytes[0] == Self.version, bytes[1] == Self.keyID, let kind = Kind(rawValue: bytes[2])
        else { throw .unverifiable }
        var reader = Reader(bytes: bytes[...], index: 3)
        self.kind = kind
        feed = reader.bytes(8)
        configuration = UInt32(truncatingIfNeeded: reader.number(4))
        from = Int64(bitPattern: reader.number(8))
        to = Int64(bitPattern: reader.number(8))
        part = UInt16(truncatingIfNeeded: reader.number(2))
        position = Int64(bitPattern: reader.number(8))
        witness = FeedWitness(head: Int64(bitPattern: reader.number(8)), tag: reader.number(8))
        expires = ServerInstant(rawValue: Int64(bitPattern: reader.number(8)))
        partSet = reader.bytes(8)
        subject = reader.bytes(8)
        incarnation = UInt32(truncatingIfNeeded: reader.number(4))
        node = UInt16(truncatingIfNeeded: reader.number(2))
    }

    init(
        _ kind: Kind, feed: [UInt8], configuration: Int, from: ChangeNumber, to: ChangeNumber, position: ChangeNumber,
        witness: FeedWitness, expires: ServerInstant, incarnation: Int64
    ) {
        self.kind = kind
        self.feed = Array(feed.prefix(Self.prefixSize))
        self.configuration = UInt32(truncatingIfNeeded: configuration)
        self.from = from
        self.to = to
        self.position = position
        self.witness = witness
        self.expires = expires
        self.incarnation = UInt32(truncatingIfNeeded: incarnation)
    }

    /// Returns whether a text has the form of a token.
    static func isForm(_ text: String) -> Bool { bytes(of: text) != nil }

    private static func bytes(of text: String) -> [UInt8]? {
        // 103 bytes are 138 characters, of which the last one has 4 bits only.
        guard text.utf8.count == 138,
            text.utf8.allSatisfy({ byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            })
        else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/") + "=="
        guard let data = Data(base64Encoded: plain), data.count == size else { return nil }
        return Array(data)
    }

    private var content: [UInt8] {
        var out: [UInt8] = [Self.version, Self.keyID, kind.rawValue]
        func put<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.bigEndian) { out += Array($0) }
        }
        out += feed.prefix(8)
        put(configuration)
        put(from)
        put(to)
        put(part)
        put(position)
        put(witness.head)
        put(witness.tag)
        put(expires.rawValue)
        out += partSet.prefix(8)
        out += subject.prefix(8)
        put(incarnation)
        put(node)
        return out
    }

    private struct Reader {
        let bytes: ArraySlice<UInt8>
        var index: Int

        mutating func bytes(_ count: Int) -> [UInt8] {
            defer { index += count }
            return Array(bytes[index..<index + count])
        }

        mutating func number(_ count: Int) -> UInt64 { bytes(count).reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
