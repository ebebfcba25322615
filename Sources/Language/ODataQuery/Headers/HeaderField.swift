/// One of OData's header fields with its value (OData ABNF Construction Rules 4.01, 8 *Header values*).
///
/// ```swift
/// guard case .version(let version) = try HeaderField(parsing: "OData-Version: 4.01") else { return }
/// ```
public enum HeaderField: Hashable, Sendable {
    /// `AsyncResult`: the status of an asynchronous request.
    case asyncResult(Int)
    /// `Content-ID`: the id of a request within a batch.
    case contentID(String)
    /// `OData-Isolation`, or `Isolation` in 4.0: the whole request sees one state of the data. Its only value is
    /// `snapshot`.
    case isolation
    /// `OData-EntityId`: the id of an entity.
    case entityID(String)
    /// `OData-Error`: a JSON object in a trailer of an incomplete response.
    case error(String)
    /// `OData-MaxVersion`: the greatest version that the client supports.
    case maxVersion(Version)
    /// `OData-Version`: 4.0 or 4.01.
    case version(Version)
    /// `Prefer`: a list of preferences.
    case prefer([Preference])

    /// A version with integers before and after the point. In `4.01`, the minor version 1 is written with two
    /// digits.
    public struct Version: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// The digits before the point.
        public var major: String
        /// The digits after the point, which are ordered like those of a decimal.
        public var minor: String

        /// Creates a version.
        public init(major: String, minor: String) {
            self.major = major
            self.minor = minor
        }

        /// The version in the notation of the field.
        public var description: String { "\(major).\(minor)" }

        /// Returns whether a version precedes another.
        public static func < (left: Version, right: Version) -> Bool {
            let (a, b) = (left.significant, right.significant)
            if a.major.count != b.major.count { return a.major.count < b.major.count }
            return a.major == b.major ? a.minor < b.minor : a.major < b.major
        }

        private var significant: (major: Substring, minor: String) {
            var fraction = minor[...]
            while fraction.last == "0" { fraction = fraction.dropLast() }
            return (major.drop { $0 == "0" }, String(fraction))
        }
    }

    /// Parses a field: its name in any case, a colon and the value.
    ///
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar, `unknownName` for a field that
    ///   is not part of OData.
    public init(parsing text: String) throws(QueryError) {
        var scanner = HeaderScanner(text)
        let name = try scanner.token(expected: "the name of a header field")
        guard scanner.current == ":" else { throw scanner.failure(expected: "\u{201C}:\u{201D}") }
        scanner.position += 1
        scanner.skipSpace()
        self = try scanner.field(name)
        scanner.skipSpace()
        try scanner.requireEnd()
    }

    /// Parses the value of `Content-ID` (`request-id`): one or more characters that URLs do not encode.
    public static func requestID(parsing text: String) throws(QueryError) -> String {
        var scanner = HeaderScanner(text)
        let id = try scanner.requestID()
        try scanner.requireEnd()
        return id
    }
}

extension HeaderScanner {
    fileprivate mutating func field(_ name: String) throws(QueryError) -> HeaderField {
        switch name.lowercased() {
        case "asyncresult":
            let start = position
            let status = try digits(expected: "a status of three digits")
            guard status.count == 3, let number = Int(status) else {
                position = start + min(status.count, 3)
                throw failure(expected: "a status of three digits")
            }
            return .asyncResult(number)
        case "content-id": return .contentID(try requestID())
        case "isolation", "odata-isolation":
            let start = position
            guard try token(expected: "snapshot").lowercased() == "snapshot" else {
                position = start
                throw failure(expected: "snapshot")
            }
            return .isolation
        case "odata-entityid":
            let start = position
            while let next = current, Self.isVisible(next) { position += 1 }
            guard position > start else { throw failure(expected: "a URL") }
            return .entityID(self.text(from: start))
        case "odata-error":
            let start = position
            guard scalars[position...].starts(with: "{\"code\":".unicodeScalars) else {
                throw failure(expected: "a JSON object that starts with \"code\"")
            }
            while let next = current, next.isASCII, next == " " || Self.isVisible(next) { position += 1 }
            return .error(self.text(from: start))
        case "odata-maxversion": return .maxVersion(try version())
        case "odata-version": return .version(try odataVersion())
        case "prefer": return .prefer(try preferences())
        default:
            let names = [
                "AsyncResult", "Content-ID", "OData-Isolation", "OData-EntityId", "OData-Error", "OData-MaxVersion",
                "OData-Version", "Prefer",
            ]
            throw QueryError(
                .unknownName, "\(name) is none of OData's header fields.", offset: 0, text: text,
                suggestions: QueryError.suggestions(for: name, among: names))
        }
    }

    fileprivate mutating func requestID() throws(QueryError) -> String {
        let start = position
        while let next = current, next.isASCII, Self.isUnreserved(next) { position += 1 }
        guard position > start else { throw failure(expected: "letters, digits, or one of - . _ ~") }
        return text(from: start)
    }

    private static func isUnreserved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": true
        default: false
        }
    }

    private mutating func version() throws(QueryError) -> HeaderField.Version {
        let major = try digits(expected: "a version")
        try require(".")
        return .init(major: major, minor: try digits(expected: "the digits after the point"))
    }

    /// Parses `4.0` or `4.01` to `4.09`.
    private mutating func odataVersion() throws(QueryError) -> HeaderField.Version {
        let start = position
        let version = try version()
        let digits = Array("\(version)".unicodeScalars)
        let wanted: [ClosedRange<Unicode.Scalar>] = ["4"..."4", "."...".", "0"..."0", "1"..."9"]
        for (index, digit) in digits.enumerated() where index >= wanted.count || !wanted[index].contains(digit) {
            position = start + index
            throw failure(expected: "4.0 or 4.01")
        }
        return version
    }
}

extension HeaderField: CustomStringConvertible {
    /// The field in the notation of HTTP.
    public var description: String {
        switch self {
        case .asyncResult(let status): "AsyncResult: \(status)"
        case .contentID(let id): "Content-ID: \(id)"
        case .isolation: "OData-Isolation: snapshot"
        case .entityID(let id): "OData-EntityId: \(id)"
        case .error(let json): "OData-Error: \(json)"
        case .maxVersion(let version): "OData-MaxVersion: \(version)"
        case .version(let version): "OData-Version: \(version)"
        case .prefer(let preferences): "Prefer: \(preferences.map(\.description).joined(separator: ", "))"
        }
    }
}
