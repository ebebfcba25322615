import HTTPTypes
import ODataService

/// Compresses responses for clients that accept gzip (RFC 9110, 8.4.1.3 and 12.5.3).
enum Compression {
    /// The number of bytes below which a body is not compressed.
    static let minLength: Int64 = 1024

    /// Returns the compressed response, or the original one if compression is not accepted or not worthwhile.
    static func apply(
        to answer: HTTPResponse, _ stream: ByteStream, for request: HTTPRequest
    ) async -> (HTTPResponse, ByteStream) {
        guard isWorthIt(answer, stream) else { return (answer, stream) }
        var answer = answer
        let vary = answer.headerFields[.vary]
        answer.headerFields[.vary] = vary.map { "\($0), Accept-Encoding" } ?? "Accept-Encoding"
        let accepted = request.headerFields[values: .acceptEncoding].joined(separator: ",")
        guard request.method != .head, accepts(accepted), let encoder = GzipEncoder() else { return (answer, stream) }
        answer.headerFields[.contentEncoding] = "gzip"
        answer.headerFields[.contentLength] = nil
        // A strong ETag identifies the exact bytes. A weak one stays valid, because it identifies the state of
        // the entity.
        if let etag = answer.headerFields[.eTag], !etag.hasPrefix("W/") { answer.headerFields[.eTag] = "W/" + etag }
        return (answer, ByteStream { try await encoder.next(of: stream) })
    }

    /// Returns whether compression is worthwhile. Text compresses well; media is usually compressed already,
    /// and a part of a stream (206) refers to the uncompressed bytes.
    private static func isWorthIt(_ answer: HTTPResponse, _ stream: ByteStream) -> Bool {
        guard answer.status.code != 206, answer.status.code >= 200, ![204, 304].contains(answer.status.code),
            answer.headerFields[.contentEncoding] == nil, stream.length.map({ $0 >= minLength }) ?? true,
            let type = answer.headerFields[.contentType]?.prefix(while: { $0 != ";" }).lowercased()
        else { return false }
        // The encoder waits for more bytes, and events are read one by one.
        guard type != "text/event-stream" else { return false }
        return type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
            || type.hasPrefix("multipart/")
            || type == "application/http"
    }

    /// Returns whether gzip or `*` is accepted with a weight above 0.
    static func accepts(_ header: String) -> Bool {
        var wildcard = false
        for item in header.split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let coding = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            if coding == "gzip" || coding == "x-gzip" { return weight > 0 }
            if coding == "*" { wildcard = weight > 0 }
        }
        return wildcard
    }
}
