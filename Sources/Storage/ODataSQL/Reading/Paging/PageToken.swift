import Foundation
import GRDB
import ODataModel
import ODataService

/// Where a page ended: what `$skiptoken` carries.
///
/// The text is base64url of a JSON array and means nothing to clients:
/// `[version, digest of the query, now(), rows left of $top or null, [sort values], kept result or null]`.
public struct PageToken: Hashable, Sendable {
    /// The form of tokens that this version writes and reads.
    public static let version: Int64 = 2
    /// The greatest length of a token's text; sort values are strings of any length. It leaves room for the rest of a URL,
    /// which servers refuse from 64 KiB on.
    public static let maxLength = 57_344

    /// The digest of the query that the token continues.
    public var digest: String
    /// The `now()` of the first page, so that all pages see one.
    public var now: ODataDateTimeOffset
    /// What is left of `$top`; `nil` when none was given.
    public var remaining: Int?
    /// The sort values of the last row, the key's among them, as stored.
    public var values: [DatabaseValue]
    /// What the kept result is found by, where the rows have no key to resume by.
    public var snapshot: String?

    /// Makes a token.
    public init(
        digest: String, now: ODataDateTimeOffset, remaining: Int?, values: [DatabaseValue], snapshot: String? = nil
    ) {
        self.digest = digest
        self.now = now
        self.remaining = remaining
        self.values = values
        self.snapshot = snapshot
    }

    /// Whether its text is one that is taken back.
    var isShort: Bool {
        let bytes = values.reduce(0) { sum, value in
            switch value.storage {
            case .string(let text): sum + text.utf8.count
            case .blob(let data): sum + data.count
            case .null, .int64, .double: sum + 20
            }
        }
        // JSON's escapes make six bytes of one, base64 four of three: what cannot be too long is not written to see.
        return bytes < Self.maxLength / 10 || text.utf8.count <= Self.maxLength
    }

    /// The text for `$skiptoken`.
    public var text: String {
        var writer = JSONWriter()
        writer.beginArray()
        writer.integer(Self.version)
        writer.string(digest)
        writer.string(now.description)
        if let remaining { writer.integer(Int64(remaining)) } else { writer.null() }
        writer.beginArray()
        for value in values { Self.write(value, to: &writer) }
        writer.endArray()
        if let snapshot { writer.string(snapshot) } else { writer.null() }
        writer.endArray()
        return Base64URL.encode(writer.bytes)
    }

    private static func write(_ value: DatabaseValue, to writer: inout JSONWriter) {
        switch value.storage {
        case .null: writer.null()
        case .int64(let number): writer.integer(number)
        case .string(let text): writer.string("t\(text)")
        case .blob(let data): writer.string("b\(Base64URL.encode(Array(data)))")
        // The bits, so that the very number comes back.
        case .double(let number): writer.string("d\(String(number.bitPattern, radix: 16))")
        }
    }

    /// Reads a token.
    ///
    /// - Throws: ``ODataError`` 400 when the text is no token of this version.
    public init(_ text: String) throws(ODataError) {
        guard text.utf8.count <= Self.maxLength, let bytes = Base64URL.decode(text) else { throw Self.invalid }
        do {
            self = try JSONScanner.scan(bytes) { (scanner) throws -> PageToken in
                try scanner.beginArray()
                guard try scanner.nextElement(), try scanner.readInt64() == Self.version else { throw Self.invalid }
                guard try scanner.nextElement() else { throw Self.invalid }
                let digest = try scanner.readString()
                guard try scanner.nextElement(), let now = ODataDateTimeOffset(try scanner.readString()) else {
                    throw Self.invalid
                }
                guard try scanner.nextElement() else { throw Self.invalid }
                var remaining: Int?
                if try !scanner.takeNull() { remaining = Int(exactly: try scanner.readInt64()) }
                if let remaining, remaining < 0 { throw Self.invalid }
                guard try scanner.nextElement() else { throw Self.invalid }
                try scanner.beginArray()
                var values: [DatabaseValue] = []
                while try scanner.nextElement() { values.append(try Self.read(&scanner)) }
                guard try scanner.nextElement() else { throw Self.invalid }
                let snapshot = try scanner.takeNull() ? nil : try scanner.readString()
                guard try !scanner.nextElement() else { throw Self.invalid }
                try scanner.expectEnd()
                return PageToken(
                    digest: digest, now: now, remaining: remaining, values: values, snapshot: snapshot)
            }
        } catch {
            throw Self.invalid
        }
    }

    private static func read(_ scanner: inout JSONScanner) throws -> DatabaseValue {
        switch try scanner.peekKind() {
        case .null:
            try scanner.readNull()
            return .null
        case .number: return try scanner.readInt64().databaseValue
        default: break
        }
        let text = try scanner.readString()
        let rest = String(text.unicodeScalars.dropFirst())
        switch text.unicodeScalars.first {
        case "t": return rest.databaseValue
        case "b": if let bytes = Base64URL.decode(rest) { return Data(bytes).databaseValue }
        case "d":
            if let bits = UInt64(rest, radix: 16), case let number = Double(bitPattern: bits), !number.isNaN {
                return number.databaseValue
            }
        default: break
        }
        throw invalid
    }

    /// The refusal of what is no token.
    package static let invalid = ODataError(
        status: 400, code: "InvalidSkipToken",
        message: "$skiptoken is not one that this service gave out; follow the next link as it came.",
        target: "$skiptoken")

    /// The refusal of a token that belongs to another query.
    static let foreign = ODataError(
        status: 400, code: "InvalidSkipToken",
        message: "$skiptoken belongs to another query; follow the next link without changing it.",
        target: "$skiptoken")
}
