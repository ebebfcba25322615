import HTTPTypes
import ODataService

/// Packs responses for clients that accept gzip (RFC 9110, 8.4.1.3 and 12.5.3).
enum Compression {
    /// Bodies that are known to be smaller are sent as they are.
    static let minLength: Int64 = 1024

    /// The packed answer, or the same where packing is not wanted or not worth it.
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
        // Other bytes need another strong tag; a weak one tells of the same state in both forms.
        if let etag = answer.headerFields[.eTag], !etag.hasPrefix("W/") { answer.headerFields[.eTag] = "W/" + etag }
        return (answer, ByteStream { try await encoder.next(of: stream) })
    }

    /// Text packs well; media are packed already, and a part of a stream is a part of what was not packed.
    private static func isWorthIt(_ answer: HTTPResponse, _ stream: ByteStream) -> Bool {
        guard answer.status.code != 206, answer.status.code >= 200, ![204, 304].contains(answer.status.code),
            answer.headerFields[.contentEncoding] == nil, stream.length.map({ $0 >= minLength }) ?? true,
            let type = answer.headerFields[.contentType]?.prefix(while: { $0 != ";" }).lowercased()
        else { return false }
        return type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
            || type.hasPrefix("multipart/")
            || type == "application/http"
    }

    /// Whether gzip is named with a weight, or everything is.
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
