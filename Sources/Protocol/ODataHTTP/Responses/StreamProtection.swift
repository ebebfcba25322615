import HTTPTypes

/// Header fields that prevent a browser from executing uploaded content as a page of the service (WHATWG Fetch,
/// 3.6; RFC 6266; Content Security Policy Level 3, 6.3).
enum StreamProtection {
    /// Prevents browsers from guessing another media type.
    static let noSniffing = "nosniff"
    /// Shows a document without scripts, forms, plug-ins and external resources, in an opaque origin.
    static let policy = "default-src 'none'; sandbox"

    /// The media types that a browser shows without executing content. Other types are downloaded.
    private static let shown: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "text/plain", "audio/mpeg",
        "audio/ogg", "audio/wav", "audio/webm", "audio/mp4", "video/mp4", "video/webm", "video/ogg",
    ]

    /// Adds the fields to a response with the bytes of a stream.
    static func add(to response: inout HTTPResponse) {
        let type = response.headerFields[.contentType].flatMap { MediaType($0) }
        if type == nil { response.headerFields[.contentType] = "application/octet-stream" }
        let isShown = type.map { shown.contains("\($0.type)/\($0.subtype)") } ?? false
        response.headerFields[.contentDisposition] = isShown ? "inline" : "attachment"
        response.headerFields[.xContentTypeOptions] = noSniffing
        response.headerFields[.contentSecurityPolicy] = policy
    }
}
