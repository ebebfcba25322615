import Foundation
import HTTPTypes
import ODataFormat
import ODataService

/// The body of an error response: an OData error object in JSON or XML, a web page of a proxy, plain text, or empty
/// (OData JSON Format 4.01, 21; OData Protocol 4.01, 9.4).
package struct ErrorBody {
    private let bytes: [UInt8]

    /// The maximum number of bytes that are read of an error body.
    package static let maxSize = 1 << 20

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func error(for response: HTTPResponse) -> ODataError {
        var error = content(status: response.status.code)
        let fields = response.headerFields
        if error.message.isEmpty {
            let reason = response.status.reasonPhrase
            error.message = reason.isEmpty ? "The service answered \(response.status.code)." : reason
        }
        error.retryAfter = fields[.retryAfter].flatMap {
            RetryAfter.seconds($0, now: Date().timeIntervalSince1970).map { Int($0.rounded(.up)) }
        }
        error.repeatabilityResult = fields[.repeatabilityResult].flatMap {
            RepeatabilityResult(rawValue: HeaderTokens.trim($0).lowercased())
        }
        error.allowedMethods = (fields[.allow].map { HeaderTokens.split($0, at: ",") } ?? []).filter { !$0.isEmpty }
        error.requestID = fields[.requestID]
        for field in fields { error.headers[field.name.rawName] = field.value }
        return error
    }

    private func content(status: Int) -> ODataError {
        if let payload = try? ODataErrorPayload(json: bytes) { return ODataError(payload, status: status) }
        if let payload = try? ODataErrorPayload(xml: bytes) { return ODataError(payload, status: status) }
        if let message = Self.otherMessage(bytes) { return ODataError(status: status, code: "", message: message) }
        let text = String(decoding: bytes.prefix(16_384), as: UTF8.self)
        if let title = Self.title(of: text) { return ODataError(status: status, code: "", message: title) }
        // Plain text is the message; other text would be confusing.
        let isText = !text.contains("<") && !text.hasPrefix("{")
        return ODataError(status: status, code: "", message: isText ? String(text.prefix(500)) : "")
    }

    /// The members of error objects other than those of OData that contain the message, the most detailed first:
    /// problem details (RFC 9457, 3.1), errors of OAuth 2.0 (RFC 6749, 5.2), and those of common frameworks.
    private static let messageNames = [
        "error_description", "detail", "message", "faultstring", "description", "title", "value", "error", "errors",
        "fault",
    ]

    /// Returns the message of JSON that is no error object of OData; `nil` if there is none.
    private static func otherMessage(_ bytes: [UInt8]) -> String? {
        guard bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "["),
            let object = try? JSONSerialization.jsonObject(with: Data(bytes))
        else { return nil }
        return message(in: object, depth: 0)
    }

    private static func message(in object: Any, depth: Int) -> String? {
        guard depth < 4 else { return nil }
        if let text = object as? String { return text.isEmpty ? nil : String(text.prefix(500)) }
        if let list = object as? [Any] { return list.first.flatMap { message(in: $0, depth: depth + 1) } }
        guard let members = object as? [String: Any] else { return nil }
        let known = Dictionary(members.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first })
        for name in messageNames {
            if let text = known[name].flatMap({ message(in: $0, depth: depth + 1) }) { return text }
        }
        return nil
    }

    /// Returns the title of a web page.
    static func title(of text: String) -> String? {
        for name in ["title", "TITLE", "h1"] {
            guard let start = text.firstRange(of: "<\(name)") else { continue }
            let rest = text[start.upperBound...]
            guard let open = rest.firstIndex(of: ">") else { continue }
            let content = rest[rest.index(after: open)...].prefix { $0 != "<" }
            let words = content.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !words.isEmpty { return String(words.prefix(200)) }
        }
        return nil
    }
}
