import Foundation
import ODataModel
import ODataService

extension DataService {
    /// Creates a media entity from a file, which is read while it is sent; see
    /// ``createMedia(in:_:contentType:slug:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - contentType: The media type; by default, derived from the extension of the file name.
    /// - Throws: ``FileStreamError``, and the errors of sending.
    @discardableResult
    public func createMedia(
        in set: String, file path: String, contentType: String? = nil, slug: String? = nil
    ) async throws -> ODataEntity {
        try await createMedia(
            in: set, try .file(path), contentType: contentType ?? ByteStream.contentType(ofFile: path), slug: slug)
    }

    /// Replaces the bytes of a media entity or stream property by those of a file, which is read while it is
    /// sent; see ``setMedia(of:property:in:_:contentType:overwriting:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - contentType: The media type; by default, derived from the extension of the file name.
    /// - Throws: ``FileStreamError``, and the errors of sending.
    @discardableResult
    public func setMedia(
        of entity: ODataEntity, property: String? = nil, in set: String? = nil, file path: String,
        contentType: String? = nil, overwriting: Bool = false
    ) async throws -> String? {
        try await setMedia(
            of: entity, property: property, in: set, try .file(path),
            contentType: contentType ?? ByteStream.contentType(ofFile: path), overwriting: overwriting)
    }
}

extension ByteStream {
    /// Returns the media type for the extension of a file name, which is not case-sensitive. The result is
    /// `application/octet-stream` for an unknown or missing extension.
    ///
    /// ```swift
    /// print(ByteStream.contentType(ofFile: "photos/me.JPG"))  // image/jpeg
    /// ```
    public static func contentType(ofFile path: String) -> String {
        let name = path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        // The leading dot of a hidden file does not begin an extension.
        guard let point = name.lastIndex(of: "."), point != name.startIndex else { return unknownType }
        return typesBySuffix[name[name.index(after: point)...].lowercased()] ?? unknownType
    }

    private static let unknownType = "application/octet-stream"

    private static let typesBySuffix: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
        "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css", "csv": "text/csv",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "dwg": "image/vnd.dwg",
        "dxf": "image/vnd.dxf", "eml": "message/rfc822", "epub": "application/epub+zip", "flac": "audio/flac",
        "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif", "htm": "text/html",
        "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpe": "image/jpeg",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown", "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "msg": "application/vnd.ms-outlook", "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/opus", "otf": "font/otf",
        "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "rtf": "application/rtf",
        "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff",
        "ttf": "font/ttf", "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm", "wav": "audio/wav",
        "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
    ]
}
