import ODataModel

/// Writes a batch response one part at a time, so that no part must wait in memory for later parts (OData Protocol
/// 4.01, 11.7.4).
///
/// ```swift
/// var output = BatchResponseOutput(.json)
/// var bytes = output.append(first)
/// bytes += output.append(second)
/// bytes += output.finish()
/// ```
public struct BatchResponseOutput: Sendable {
    /// The formats of a batch response.
    public enum Form: Hashable, Sendable {
        /// OData JSON Format 4.01, 19.5.
        case json
        /// `multipart/mixed` with a boundary between the parts.
        case multipart(boundary: String)
    }

    private var multipart: MultipartOutput?
    private var isFirst = true

    /// Creates an output.
    public init(_ form: Form) {
        if case .multipart(let boundary) = form {
            multipart = MultipartOutput(boundary: boundary, changeSetPrefix: "changesetresponse_")
        }
    }

    /// Returns the bytes of a part, including delimiters. Adjacent parts with the same atomicity group become a
    /// change set.
    public mutating func append(_ part: BatchResponsePart) -> [UInt8] {
        defer { isFirst = false }
        guard multipart != nil else {
            return Array((isFirst ? "{\"responses\":[" : ",").utf8) + JSONBatch.response(part)
        }
        let line = "HTTP/1.1 \(part.status) \(MultipartBatch.reason(part.status))"
        multipart?.append(part.id, part.atomicityGroup, startLine: line, headers: part.headers, body: part.body)
        return multipart?.take() ?? []
    }

    /// Returns the bytes after the last part.
    public mutating func finish() -> [UInt8] {
        guard multipart != nil else { return Array((isFirst ? "{\"responses\":[]}" : "]}").utf8) }
        return multipart?.finish() ?? []
    }

    /// Returns the bytes after the last available part, if more parts follow later (OData JSON Format 4.01, 19.6;
    /// Protocol 4.01, 11.7.6).
    ///
    /// - Parameters:
    ///   - nextLink: the absolute URL of the following parts.
    ///   - isPrefixed: whether the name in JSON is `@odata.nextLink`.
    public mutating func finish(nextLink: String, isPrefixed: Bool) -> [UInt8] {
        guard multipart == nil else {
            let part = BatchResponsePart(
                id: nil, status: 202, headers: [BatchHeader("Location", nextLink), BatchHeader("Retry-After", "1")],
                body: [])
            return append(part) + finish()
        }
        var json = JSONWriter()
        json.beginObject()
        json.key(isPrefixed ? "@odata.nextLink" : "@nextLink")
        json.string(nextLink)
        json.endObject()
        return Array((isFirst ? "{\"responses\":[]," : "],").utf8) + json.bytes.dropFirst()
    }

    /// Returns the bytes of a whole response.
    static func write(_ parts: [BatchResponsePart], _ form: Form) -> [UInt8] {
        var output = BatchResponseOutput(form)
        var bytes: [UInt8] = []
        for part in parts { bytes += output.append(part) }
        return bytes + output.finish()
    }
}
