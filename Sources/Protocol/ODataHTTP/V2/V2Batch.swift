import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Decodes and executes the requests of a V2 batch (MS-ODATA, 2.2.7.6).
struct V2Batch {
    let decoder: V2RequestDecoder
    /// The batch request, whose host applies to its parts.
    let host: HTTPRequest

    /// Returns the requests, each decoded like a single request.
    func parts(_ body: ByteStream) async throws -> [V2Request.Part] {
        let bytes = try await body.collect(limit: decoder.maxBodySize)
        let contentType = host.headerFields[.contentType] ?? ""
        guard MediaType(contentType)?.matches("multipart", "mixed") ?? false else {
            throw ODataError(
                status: 415, code: "UnsupportedMediaType", message: "A batch is multipart/mixed.",
                target: "Content-Type")
        }
        var read: [BatchRequestPart] = []
        do throws(BatchError) {
            var reader = try BatchRequestReader(contentType: contentType)
            reader.append(bytes)
            reader.finish()
            while let part = try reader.next() { read.append(part) }
        } catch {
            throw ODataError(batch: error)
        }
        var parts: [V2Request.Part] = []
        var changeSet: String?
        var references: [String: V2Request] = [:]
        for (position, part) in read.enumerated() {
            // Later requests of the same change set may refer to a content id (MS-ODATA, 2.2.7.6.1).
            if part.atomicityGroup == nil || part.atomicityGroup != changeSet { references = [:] }
            changeSet = part.atomicityGroup
            var result: Result<V2Request, ODataError>
            do {
                if let problem = part.problem { throw ODataError(batch: problem) }
                let request = try await decoder.decode(
                    message(part), ByteStream(part.body), references: references)
                result = .success(request)
                if let id = part.id { references[id] = request }
            } catch {
                result = .failure(RefusalWriter.refusal(error))
            }
            parts.append(
                V2Request.Part(
                    id: part.id ?? "part-\(position + 1)", hasOwnID: part.id != nil, changeSet: part.atomicityGroup,
                    result: result))
        }
        return parts
    }

    private func message(_ part: BatchRequestPart) throws(ODataError) -> HTTPRequest {
        guard let method = HTTPRequest.Method(rawValue: part.method) else {
            throw ODataError(
                status: 400, code: "InvalidBatch", message: "\(part.method.prefix(40)) is not an HTTP method.")
        }
        let relative = decoder.addresses.serviceRoot.relative(part.url) ?? decoder.serviceRoot.relative(part.url)
        guard let relative else {
            throw ODataError(
                status: 404, code: "NotFound", message: "\(part.url.prefix(200)) is not an address of this service.")
        }
        var message = HTTPRequest(
            method: method, scheme: host.scheme, authority: host.authority, path: decoder.serviceRoot.path + relative)
        for header in part.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            message.headerFields.append(HTTPField(name: name, value: header.value))
        }
        return message
    }
}
