import HTTPTypes
import ODataModel
import ODataService

/// The body of `Enroll`: JSON parameters, or the plain certificate request (`application/pkcs10`, RFC 5967).
enum EnrollBody {
    /// Returns a request with JSON parameters in place of a plain certificate request; other requests unchanged.
    ///
    /// - Throws: ``ODataError`` 413 beyond the limit.
    static func converted(
        _ head: HTTPRequest, _ body: ByteStream, resource: DeviceDoor.Resource
    ) async throws -> (HTTPRequest, ByteStream) {
        guard resource.isEnroll, head.method == .post,
            let type = head.headerFields[.contentType]?.prefix(while: { $0 != ";" }).lowercased(),
            type == "application/pkcs10"
        else { return (head, body) }
        var bytes: [UInt8] = []
        while let chunk = try await body.next() {
            bytes += chunk
            guard bytes.count <= CertificateRequest.maxLength else {
                throw ODataError(
                    .tooLarge, CertificateRequestError.tooLong(bytes: bytes.count).description, target: "request")
            }
        }
        let json = Array(#"{"request":"\#(Base64URL.encode(bytes))"}"#.utf8)
        var head = head
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.contentLength] = String(json.count)
        return (head, ByteStream(json))
    }
}
