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
        let text = String(decoding: bytes.prefix(16_384), as: UTF8.self)
        if let title = Self.title(of: text) { return ODataError(status: status, code: "", message: title) }
        // Plain text is the message; other text would be confusing.
        let isText = !text.contains("<") && !text.hasPrefix("{")
        return ODataError(status: status, code: "", message: isText ? String(text.prefix(500)) : "")
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
