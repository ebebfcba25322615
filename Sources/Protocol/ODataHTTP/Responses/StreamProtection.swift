import HTTPTypes

/// Header fields that keep a browser from running what somebody has uploaded as if it were a page of the service
/// (WHATWG Fetch, 3.6; RFC 6266; Content Security Policy Level 3, 6.3).
enum StreamProtection {
    /// A browser never guesses another media type.
    static let noSniffing = "nosniff"
    /// A document is shown without scripts, forms and plug-ins, as of no origin, and loads nothing.
    static let policy = "default-src 'none'; sandbox"

    /// The media types that a browser shows without interpreting them; everything else is saved to a file.
    private static let shown: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "text/plain", "audio/mpeg",
        "audio/ogg", "audio/wav", "audio/webm", "audio/mp4", "video/mp4", "video/webm", "video/ogg",
    ]

    /// Adds the fields to a response that holds the bytes of a stream.
    static func add(to response: inout HTTPResponse) {
        let type = response.headerFields[.contentType].flatMap { MediaType($0) }
        if type == nil { response.headerFields[.contentType] = "application/octet-stream" }
        let isShown = type.map { shown.contains("\($0.type)/\($0.subtype)") } ?? false
        response.headerFields[.contentDisposition] = isShown ? "inline" : "attachment"
        response.headerFields[.xContentTypeOptions] = noSniffing
        response.headerFields[.contentSecurityPolicy] = policy
    }
}
