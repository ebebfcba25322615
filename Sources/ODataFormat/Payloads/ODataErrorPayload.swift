import ODataModel

/// The error object of a response (OData JSON Format 4.01, 21.1 *Error Response Body*).
public struct ODataErrorPayload: Error, Hashable, Sendable, CustomStringConvertible {
    /// One of several causes.
    public struct Detail: Hashable, Sendable {
        /// A code that the service defines.
        public var code: String
        /// A message for people.
        public var message: String
        /// What the detail is about.
        public var target: String?

        /// Makes a detail.
        public init(code: String, message: String, target: String? = nil) {
            self.code = code
            self.message = message
            self.target = target
        }
    }

    /// A code that the service defines.
    public var code: String
    /// A message for people.
    public var message: String
    /// What the error is about, such as a property.
    public var target: String?
    /// The causes.
    public var details: [Detail]
    /// The `innererror` object as raw JSON: for developers, of no fixed shape.
    public var innerError: String?

    /// Makes an error object.
    public init(
        code: String, message: String, target: String? = nil, details: [Detail] = [], innerError: String? = nil
    ) {
        self.code = code
        self.message = message
        self.target = target
        self.details = details
        self.innerError = innerError
    }

    /// Code, message and target.
    public var description: String {
        let place = target.map { " (\($0))" } ?? ""
        return code.isEmpty ? message + place : "\(code): \(message)\(place)"
    }

    /// Reads a response body `{"error": {…}}`.
    ///
    /// V2's message object with language and value is read too.
    /// - Throws: ``PayloadError/malformed(_:)`` when the body is something else.
    public init(json bytes: [UInt8]) throws(PayloadError) {
        do throws(JSONError) {
            self = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> ODataErrorPayload in
                var result: ODataErrorPayload?
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    // V1 and V3 spell it with the prefix of their control information.
                    if key == "error" || key == "odata.error" {
                        result = try ODataErrorPayload(scanning: &scanner)
                    } else {
                        try scanner.skipValue()
                    }
                }
                try scanner.expectEnd()
                guard let result else {
                    throw scanner.error(.unexpected("no such member"), at: 0, expected: "the member error")
                }
                return result
            }
        } catch {
            throw .malformed(error)
        }
    }

    /// Reads the object behind the name `error`.
    init(scanning scanner: inout JSONScanner) throws(JSONError) {
        self.init(code: "", message: "")
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            switch key.string {
            case "code": code = try Self.text(&scanner) ?? ""
            case "message": message = try Self.text(&scanner) ?? ""
            case "target": target = try Self.text(&scanner)
            case "details" where try scanner.peekKind() == .array:
                try scanner.beginArray()
                while try scanner.nextElement() {
                    let detail = try ODataErrorPayload(scanning: &scanner)
                    details.append(Detail(code: detail.code, message: detail.message, target: detail.target))
                }
            case "innererror", "innerError": innerError = scanner.rawText(try scanner.skipValue())
            default: try scanner.skipValue()
            }
        }
    }

    /// A string, V2's `{"lang": …, "value": …}`, or whatever else stands there as it is written.
    private static func text(_ scanner: inout JSONScanner) throws(JSONError) -> String? {
        switch try scanner.peekKind() {
        case .string: return try scanner.readString()
        case .null:
            try scanner.readNull()
            return nil
        case .object:
            var value: String?
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                if key == "value" { value = try text(&scanner) } else { try scanner.skipValue() }
            }
            return value
        default: return scanner.rawText(try scanner.skipValue())
        }
    }

    /// Writes `{"error": {…}}`.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        Self.write(code, message, target, to: &writer)
        if !details.isEmpty {
            writer.key("details")
            writer.beginArray()
            for detail in details {
                writer.beginObject()
                Self.write(detail.code, detail.message, detail.target, to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        if let innerError {
            writer.key("innererror")
            writer.raw(innerError.utf8)
        }
        writer.endObject()
        writer.endObject()
    }

    private static func write(_ code: String, _ message: String, _ target: String?, to writer: inout JSONWriter) {
        writer.key("code")
        writer.string(code)
        writer.key("message")
        writer.string(message)
        if let target {
            writer.key("target")
            writer.string(target)
        }
    }
}
