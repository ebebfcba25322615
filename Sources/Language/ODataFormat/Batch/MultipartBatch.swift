import ODataModel

/// Reading and writing of batches in `multipart/mixed`, which every version supports (OData 4.01, 11.7.7 *Multipart
/// Batch Format*; RFC 2046, 5.1).
///
/// Readers accept both line endings, and writers use a carriage return and a line feed. A part ends at the line
/// with the boundary, regardless of `Content-Length`, because some clients state wrong lengths.
public enum MultipartBatch {
    /// Returns the boundary in a `Content-Type` header.
    ///
    /// - Throws: ``BatchError/Reason/noBoundary(_:)``.
    public static func boundary(contentType: String) throws(BatchError) -> String {
        guard let boundary = MultipartSyntax.boundary(contentType) else {
            throw BatchError(
                reason: .noBoundary(contentType), offset: 0, line: 1, expected: "multipart/mixed with a boundary")
        }
        return boundary
    }

    /// Reads a whole batch request; ``BatchRequestReader`` reads chunks. Change sets become atomicity groups, named
    /// by their boundary.
    ///
    /// - Throws: ``BatchError`` with the line and the expected content.
    public static func readRequest(_ bytes: [UInt8], boundary: String) throws(BatchError) -> [BatchRequestPart] {
        var reader = BatchRequestReader(BatchSource(MultipartReader(boundary: boundary, isRequest: true)))
        return try reader.all(bytes)
    }

    /// Reads a whole batch response; ``BatchResponseReader`` reads chunks.
    ///
    /// - Throws: ``BatchError`` with the line and the expected content.
    public static func readResponse(_ bytes: [UInt8], boundary: String) throws(BatchError) -> [BatchResponsePart] {
        var reader = BatchResponseReader(BatchSource(MultipartReader(boundary: boundary, isRequest: false)))
        return try reader.all(bytes)
    }

    /// Writes a batch request. Adjacent requests with the same atomicity group become a change set.
    ///
    /// - Parameters:
    ///   - parts: the requests.
    ///   - boundary: the boundary between requests, which must be random enough to occur in no body.
    public static func writeRequest(_ parts: [BatchRequestPart], boundary: String) -> [UInt8] {
        var output = MultipartOutput(boundary: boundary, changeSetPrefix: "changeset_")
        for part in parts {
            let line = "\(clean(part.method)) \(clean(part.url)) HTTP/1.1"
            output.append(part.id, part.atomicityGroup, startLine: line, headers: part.headers, body: part.body)
        }
        return output.finish()
    }

    /// Writes a batch response.
    public static func writeResponse(_ parts: [BatchResponsePart], boundary: String) -> [UInt8] {
        BatchResponseOutput.write(parts, .multipart(boundary: boundary))
    }

    /// Returns the text without control characters, so that no value can inject a header or a part.
    static func clean(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 }))
    }

    /// Returns the reason phrase of a status (RFC 9110, 15).
    package static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 415: "Unsupported Media Type"
        case 424: "Failed Dependency"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: "Status"
        }
    }
}

/// Writes the parts of a multipart batch, and opens and closes change sets at changes of the group.
struct MultipartOutput: Sendable {
    private var bytes: [UInt8] = []
    private let boundary: String
    private let changeSetPrefix: String
    private var group: String?
    /// The boundary of the open change set.
    private var innerBoundary: String?
    private var boundaries = DistinctNames()

    init(boundary: String, changeSetPrefix: String) {
        self.boundary = boundary
        self.changeSetPrefix = changeSetPrefix
    }

    mutating func append(
        _ id: String?, _ newGroup: String?, startLine: String, headers: [BatchHeader], body: [UInt8]
    ) {
        if newGroup != group {
            closeGroup()
            if let newGroup {
                let inner = boundaries.next(changeSet(newGroup))
                line("--\(boundary)")
                line("Content-Type: multipart/mixed; boundary=\(inner)")
                line("")
                innerBoundary = inner
            }
            group = newGroup
        }
        line("--\(innerBoundary ?? boundary)")
        line("Content-Type: application/http")
        line("Content-Transfer-Encoding: binary")
        // Some services expect the id within the request.
        if let id, headers.value(of: "Content-ID") != id { line("Content-ID: \(MultipartBatch.clean(id))") }
        line("")
        line(startLine)
        for header in headers {
            line("\(MultipartBatch.clean(header.name)): \(MultipartBatch.clean(header.value))")
        }
        line("")
        bytes.append(contentsOf: body)
        line("")
    }

    /// Returns the output since the last call.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    mutating func finish() -> [UInt8] {
        closeGroup()
        line("--\(boundary)--")
        return take()
    }

    private mutating func closeGroup() {
        if let innerBoundary { line("--\(innerBoundary)--") }
        group = nil
        innerBoundary = nil
    }

    /// Returns a boundary for a change set, with at most 70 of the allowed characters (RFC 2046, 5.1.1).
    private func changeSet(_ group: String) -> String {
        let allowed = group.utf8.filter { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x2E: true
            default: false
            }
        }
        return changeSetPrefix + String(decoding: allowed.prefix(50), as: UTF8.self)
    }

    private mutating func line(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(contentsOf: [0x0D, 0x0A])
    }
}
