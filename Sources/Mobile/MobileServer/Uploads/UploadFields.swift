import HTTPTypes
import ODataModel

/// The fields of a resumable upload.
///
/// They are those of the IETF draft `draft-ietf-httpbis-resumable-upload-05`: `Upload-Offset`, `Upload-Complete` and
/// `Upload-Length`. `Upload-Incomplete` of draft 01 is read, too, since `URLSession` sends it. All of them are
/// structured fields (RFC 9651). `Repr-Digest` is that of RFC 9530.
struct UploadFields: Hashable, Sendable {
    /// The greatest integer of a structured field.
    static let maxInteger: Int64 = 999_999_999_999_999
    /// The media type of the body of a `PATCH`.
    static let partialType = "application/partial-upload"

    /// Whether the request ends the upload; `nil` if it does not say.
    var isComplete: Bool?
    /// The number of bytes before the body.
    var offset: Int64?
    /// The size of the whole upload.
    var length: Int64?
    /// The SHA-256 of the whole upload.
    var digest: [UInt8]?

    /// Reads the fields.
    ///
    /// - Throws: ``UploadFieldError``.
    init(_ fields: HTTPFields) throws(UploadFieldError) {
        func value(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
        if let text = value("Upload-Complete") {
            isComplete = try Self.boolean(text, "Upload-Complete")
        }
        if let text = value("Upload-Incomplete") {
            let isIncomplete = try Self.boolean(text, "Upload-Incomplete")
            guard isComplete != isIncomplete else { throw UploadFieldError(field: "Upload-Incomplete") }
            isComplete = !isIncomplete
        }
        if let text = value("Upload-Offset") { offset = try Self.integer(text, "Upload-Offset") }
        if let text = value("Upload-Length") { length = try Self.integer(text, "Upload-Length") }
        if let text = value("Repr-Digest") { digest = try Self.digest(text) }
        if let offset, let length, offset > length { throw UploadFieldError(field: "Upload-Offset") }
    }

    private static func boolean(_ text: String, _ field: String) throws(UploadFieldError) -> Bool {
        switch item(text) {
        case "?1": return true
        case "?0": return false
        default: throw UploadFieldError(field: field)
        }
    }

    private static func integer(_ text: String, _ field: String) throws(UploadFieldError) -> Int64 {
        let digits = item(text)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits),
            number <= maxInteger
        else { throw UploadFieldError(field: field) }
        return number
    }

    /// Returns the SHA-256 among the digests; `nil` if there are others only.
    private static func digest(_ text: String) throws(UploadFieldError) -> [UInt8]? {
        var digest: [UInt8]?
        for member in text.split(separator: ",") {
            let trimmed = item(String(member))
            guard trimmed.hasPrefix("sha-256=") else { continue }
            let quoted = trimmed.dropFirst("sha-256=".count)
            guard quoted.count > 2, quoted.first == ":", quoted.last == ":",
                let bytes = Base64URL.decode(Self.urlSafe(quoted.dropFirst().dropLast())), bytes.count == 32
            else { throw UploadFieldError(field: "Repr-Digest") }
            digest = bytes
        }
        return digest
    }

    /// Returns base64 in the alphabet of base64url, without padding.
    private static func urlSafe(_ text: Substring) -> String {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text without spaces at both ends.
    private static func item(_ text: String) -> String {
        let bytes = text.utf8.drop { $0 == 0x20 }
        let last = bytes.lastIndex { $0 != 0x20 }
        return last.map { String(decoding: bytes[...$0], as: UTF8.self) } ?? ""
    }
}

/// A field of an upload that cannot be read.
struct UploadFieldError: Error, Hashable, CustomStringConvertible {
    /// The name of the field.
    var field: String

    var description: String { "The field \(field) cannot be read." }
}
