import HTTPTypes
import ODataModel
import ODataService

/// A query in the body of a POST to `…/$query` (OData URL Conventions 4.01, 4.17 *Passing Query Options in the
/// Request Body*).
struct QueryInBody {
    /// The path without `/$query`, and the query options in the URL.
    private let path: String
    private let existing: String

    /// Creates the query of a URL relative to the service root; `nil` unless its path ends in `/$query`.
    init?(_ url: String) {
        // The check runs for every request, so it compares bytes instead of characters.
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") }
        let suffix: StaticString = "/$query"
        let length = suffix.utf8CodeUnitCount
        guard path.suffix(length).elementsEqual(UnsafeBufferPointer(start: suffix.utf8Start, count: length)) else {
            return nil
        }
        self.path = String(Substring(path.dropLast(length)))
        existing = String(url[path.endIndex...].dropFirst())
    }

    /// Returns the URL with the query options of the body.
    ///
    /// - Throws: ``ODataError`` with status 400 for an unreadable body, 413 for a body that is too large, and 415
    ///   for a non-standard media type.
    func url(_ fields: HTTPFields, _ body: ByteStream) async throws -> String {
        let options = try await self.options(fields, body)
        let query = [existing, options].filter { !$0.isEmpty }.joined(separator: "&")
        return path + (query.isEmpty ? "" : "?" + query)
    }

    private func options(_ fields: HTTPFields, _ body: ByteStream) async throws -> String {
        let type = fields[.contentType].flatMap { MediaType($0) }
        let isText = type?.matches("text", "plain") ?? false
        let isForm = type?.matches("application", "x-www-form-urlencoded") ?? false
        guard isText || isForm || type?.matches("application", "json") ?? false else {
            throw ODataError(
                status: 415, code: "UnsupportedMediaType",
                message: "The body of /$query is text/plain, application/json or application/x-www-form-urlencoded.",
                target: "Content-Type")
        }
        let bytes = try await body.collect(limit: RequestDecoder.maxURLLength)
        guard isText || isForm else { return try Self.options(json: bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ODataError(status: 400, code: "InvalidQuery", message: "The body of /$query is not UTF-8.")
        }
        // Forms write a space as a plus sign.
        return isForm ? text.replacing("+", with: "%20") : HeaderTokens.trim(text)
    }

    /// Returns the members of a JSON object as options: numbers for `$top`, `$skip` and `$index`, strings for the
    /// others.
    private static func options(json bytes: [UInt8]) throws(ODataError) -> String {
        do throws(JSONError) {
            return try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                var options: [String] = []
                var members = JSONMemberSet()
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    try members.insert(key, in: scanner)
                    let name = key.string
                    guard name.hasPrefix("$") || name.hasPrefix("@") else {
                        throw scanner.error(
                            .unexpected("the member \(name)"), expected: "options with names that start with $ or @")
                    }
                    let value: String
                    switch try scanner.peekKind() {
                    case .number: value = String(try scanner.readInt64())
                    case .boolean: value = try scanner.readBoolean() ? "true" : "false"
                    default: value = try scanner.readString()
                    }
                    options.append("\(encoded(name))=\(encoded(value))")
                }
                try scanner.expectEnd()
                return options.joined(separator: "&")
            }
        } catch {
            throw ODataError(status: 400, code: "InvalidBody", message: error.description)
        }
    }

    /// Percent-encodes all characters that could end an option.
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "$"), UInt8(ascii: "@"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
