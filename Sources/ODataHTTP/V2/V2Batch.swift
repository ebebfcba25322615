import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Reads and answers the requests of a V2 batch (MS-ODATA, 2.2.7.6).
struct V2Batch {
    let decoder: V2RequestDecoder
    /// The batch request: its parts have the same host.
    let host: HTTPRequest

    /// The requests, each read like a request of its own.
    func parts(_ body: ByteStream) async throws -> [V2Request.Part] {
        let bytes = try await body.collect(limit: decoder.maxBodySize)
        let contentType = host.headerFields[.contentType] ?? ""
        guard MediaType(contentType)?.matches("multipart", "mixed") ?? false else {
            throw ODataError(
                status: 415, code: "UnsupportedMediaType", message: "A batch is multipart/mixed.",
                target: "Content-Type")
        }
        let read: [BatchRequestPart]
        do throws(BatchError) {
            read = try MultipartBatch.readRequest(bytes, boundary: MultipartBatch.boundary(contentType: contentType))
        } catch {
            throw ODataError(status: 400, code: "InvalidBatch", message: error.description)
        }
        var parts: [V2Request.Part] = []
        var references: [String: V2Request] = [:]
        for (position, part) in read.enumerated() {
            var result: Result<V2Request, ODataError>
            do {
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
            throw ODataError(status: 400, code: "InvalidBatch", message: "\(part.method.prefix(40)) is no method.")
        }
        let relative = decoder.addresses.serviceRoot.relative(part.url) ?? decoder.serviceRoot.relative(part.url)
        guard let relative else {
            throw ODataError(
                status: 404, code: "NotFound", message: "\(part.url.prefix(200)) is not of this service.")
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

/// Runs the parts of a V2 batch: each on its own, whatever became of those before it, and change sets as a whole.
struct V2BatchExecution {
    let provider: any ODataProvider
    let batch: V2Request

    /// The outcome of each part by its id.
    func run() async throws -> [String: Result<ODataResponse, ODataError>] {
        var outcomes: [String: Result<ODataResponse, ODataError>] = [:]
        var refusedSets: [String: ODataError] = [:]
        for part in batch.parts {
            guard case .failure(let error) = part.result else { continue }
            outcomes[part.id] = .failure(error)
            if let set = part.changeSet { refusedSets[set] = refusedSets[set] ?? error }
        }
        var items: [BatchItem] = []
        for part in batch.parts {
            guard case .success(let read) = part.result else { continue }
            if let set = part.changeSet, let error = refusedSets[set] {
                outcomes[part.id] = .failure(error)
            } else if case .service = read.bound.resource.target {
                outcomes[part.id] = .success(ODataResponse(body: .serviceDocument))
            } else {
                items.append(BatchItem(id: part.id, request: read.request, atomicityGroup: part.changeSet))
            }
        }
        guard !items.isEmpty else { return outcomes }
        var request = batch.request
        request.body = .batch(items)
        request.preferences = Preferences()
        request.preferences.continueOnError = true
        let response = try await provider.execute(request)
        if case .batch(let results) = response.body { for result in results { outcomes[result.id] = result.result } }
        return outcomes
    }
}
