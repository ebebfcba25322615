import Foundation
import GRDB
import ODataModel
import ODataService

/// The end of a page, as the content of `$skiptoken`.
///
/// The text is base64url of a JSON array and opaque to clients. The array has these elements:
///
/// - the version,
/// - the digest of the query,
/// - the value of `now()`,
/// - the number of rows left of `$top`, or null,
/// - an array of the sort values,
/// - the id of the snapshot, or null.
public struct PageToken: Hashable, Sendable {
    /// The version of tokens that this library writes and reads.
    public static let version: Int64 = 2
    /// The maximum length of a token's text in bytes. Sort values can be strings of any length, but servers refuse
    /// URLs of 64 KiB and more.
    public static let maxLength = 57_344

    /// The digest of the query that the token continues.
    public var digest: String
    /// The value of `now()` on the first page, which is the same for all pages.
    public var now: ODataDateTimeOffset
    /// The remainder of `$top`; `nil` without `$top`.
    public var remaining: Int?
    /// The stored sort values of the last row, including its key.
    public var values: [DatabaseValue]
    /// The id of the snapshot, if the rows have no key from which to continue.
    public var snapshot: String?

    /// Creates a token.
    public init(
        digest: String, now: ODataDateTimeOffset, remaining: Int?, values: [DatabaseValue], snapshot: String? = nil
    ) {
        self.digest = digest
        self.now = now
        self.remaining = remaining
        self.values = values
        self.snapshot = snapshot
    }

    /// Whether the text of the token does not exceed ``maxLength``.
    var isShort: Bool {
        let bytes = values.reduce(0) { sum, value in
            switch value.storage {
            case .string(let text): sum + text.utf8.count
            case .blob(let data): sum + data.count
            case .null, .int64, .double: sum + 20
            }
        }
        // JSON escapes can turn one byte into six, and base64 three bytes into four. The text is computed only if
        // it may be too long.
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
        // The bit pattern restores exactly the same number.
        case .double(let number): writer.string("d\(String(number.bitPattern, radix: 16))")
        }
    }

    /// Parses a token.
    ///
    /// - Throws: ``ODataError`` 400 if the text is not a token of this version.
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

    /// The error for a text that is not a token.
    package static let invalid = ODataError(
        status: 400, code: "InvalidSkipToken",
        message: "$skiptoken is not one that this service gave out; follow the next link as it came.",
        target: "$skiptoken")

    /// The error for a token of another query.
    static let foreign = ODataError(
        status: 400, code: "InvalidSkipToken",
        message: "$skiptoken belongs to another query; follow the next link without changing it.",
        target: "$skiptoken")
}
