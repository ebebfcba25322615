import ErrorCodes
import ODataModel

/// The error object of a response in any format (OData JSON Format 4.01, 21.1 *Error Response Body*).
///
/// The type contains only the content of the body. `ODataError` of `ODataService` also has a status and header
/// fields. Providers throw `ODataError` without knowledge of a format, and this module does not depend on
/// `ODataService`.
public struct ODataErrorPayload: Error, Hashable, Sendable, CustomStringConvertible {
    /// A detail of the error.
    public struct Detail: Hashable, Sendable {
        /// The code, defined by the service.
        public var code: String
        /// The message for display.
        public var message: String
        /// The target of the detail.
        public var target: String?

        /// Creates a detail.
        public init(code: String, message: String, target: String? = nil) {
            self.code = code
            self.message = message
            self.target = target
        }
    }

    /// The code, defined by the service.
    public var code: String
    /// The message for display.
    public var message: String
    /// The target of the error, such as a property.
    public var target: String?
    /// The details.
    public var details: [Detail]
    /// The `innererror` object as raw JSON in all formats, with information for developers in no fixed structure.
    public var innerError: String?
    /// The language of the message, which only V1 to V3 state.
    public var language: String?

    /// Creates an error object.
    public init(
        code: String, message: String, target: String? = nil, details: [Detail] = [], innerError: String? = nil,
        language: String? = nil
    ) {
        self.language = language
        self.code = code
        self.message = message
        self.target = target
        self.details = details
        self.innerError = innerError
    }

    /// The code, the message and the target.
    public var description: String {
        let place = target.map { " (\($0))" } ?? ""
        return code.isEmpty ? message + place : "\(code): \(message)\(place)"
    }

    /// Reads a response body `{"error": {…}}`.
    ///
    /// The message may also be an object with language and value, as in V2.
    /// - Throws: ``PayloadError/malformed(_:)`` if the body has another structure.
    public init(json bytes: [UInt8]) throws(PayloadError) {
        do throws(JSONError) {
            self = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> ODataErrorPayload in
                var result: ODataErrorPayload?
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    // V1 and V3 use the prefix of their control information.
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

    /// Reads the value of the member `error`.
    init(scanning scanner: inout JSONScanner) throws(JSONError) {
        self.init(code: "", message: "")
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            switch key.string {
            case "code": code = try Self.text(&scanner) ?? ""
            case "message": message = try Self.text(&scanner, language: &language) ?? ""
            case "target": target = try Self.text(&scanner)
            case "details" where try scanner.peekKind() == .array:
                try scanner.beginArray()
                while try scanner.nextElement() {
                    let detail = try ODataErrorPayload(scanning: &scanner)
                    details.append(Detail(code: detail.code, message: detail.message, target: detail.target))
                }
            case "innererror", "innerError":
                var inside = scanner
                innerError = scanner.rawText(try scanner.skipValue())
                if details.isEmpty { details = try Self.gatewayDetails(&inside) }
            default: try scanner.skipValue()
            }
        }
    }

    /// Reads `errordetails` in `innererror`, the notation of gateways for details, which V2 lacks.
    private static func gatewayDetails(_ scanner: inout JSONScanner) throws(JSONError) -> [Detail] {
        guard try scanner.peekKind() == .object else { return [] }
        var details: [Detail] = []
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            guard key == "errordetails", try scanner.peekKind() == .array else {
                try scanner.skipValue()
                continue
            }
            try scanner.beginArray()
            while try scanner.nextElement() { details.append(try gatewayDetail(&scanner)) }
        }
        return details
    }

    private static func gatewayDetail(_ scanner: inout JSONScanner) throws(JSONError) -> Detail {
        var detail = Detail(code: "", message: "")
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            switch key.string {
            case "code": detail.code = try text(&scanner) ?? ""
            case "message": detail.message = try text(&scanner) ?? ""
            case "target", "propertyref":
                if let target = try text(&scanner), !target.isEmpty { detail.target = detail.target ?? target }
            default: try scanner.skipValue()
            }
        }
        return detail
    }

    private static func text(_ scanner: inout JSONScanner) throws(JSONError) -> String? {
        var language: String?
        return try text(&scanner, language: &language)
    }

    /// Reads a string, an object `{"lang": …, "value": …}` of V2, or any other value as raw JSON.
    private static func text(_ scanner: inout JSONScanner, language: inout String?) throws(JSONError) -> String? {
        switch try scanner.peekKind() {
        case .string: return try scanner.readString()
        case .null:
            try scanner.readNull()
            return nil
        case .object:
            var value: String?
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                if key == "value" {
                    value = try text(&scanner)
                } else if key == "lang" {
                    language = try text(&scanner)
                } else {
                    try scanner.skipValue()
                }
            }
            return value
        default: return scanner.rawText(try scanner.skipValue())
        }
    }

    /// Writes `{"error": {…}}`.
    ///
    /// - Parameters:
    ///   - writer: the writer to append to.
    ///   - dialect: the JSON format; verbose JSON has a message object with a language, and no target.
    public func write(to writer: inout JSONWriter, dialect: JSONDialect = .light) {
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        if dialect == .verbose {
            writeVerbose(to: &writer)
            writer.endObject()
            writer.endObject()
            return
        }
        Self.write(code, message, target: target, to: &writer)
        if !details.isEmpty {
            writer.key("details")
            writer.beginArray()
            for detail in details {
                writer.beginObject()
                Self.write(detail.code, detail.message, target: detail.target, to: &writer)
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

    private func writeVerbose(to writer: inout JSONWriter) {
        writer.key("code")
        writer.string(code)
        writer.key("message")
        writer.beginObject()
        writer.key("lang")
        writer.string(language ?? "en")
        writer.key("value")
        writer.string(message)
        writer.endObject()
        if let innerError {
            writer.key("innererror")
            writer.raw(innerError.utf8)
        } else if !details.isEmpty {
            writer.key("innererror")
            writer.beginObject()
            writer.key("errordetails")
            writer.beginArray()
            for detail in details {
                writer.beginObject()
                Self.write(detail.code, detail.message, target: detail.target, to: &writer)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
    }

    private static func write(_ code: String, _ message: String, target: String?, to writer: inout JSONWriter) {
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

extension ODataErrorPayload: CodedError {
    /// `payload.service`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "payload.service") }
    /// What the service said.
    public var failureKind: FailureKind { .service }
}
