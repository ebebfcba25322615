import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Executes a decoded request and encodes the response, or the error.
struct ProviderExchange: Sendable {
    let provider: any ODataProvider
    let model: EntityDataModel
    /// The capabilities that the metadata publish.
    let capabilities: PublishedCapabilities?
    let metadata: PublishedMetadata
    let incoming: IncomingRequest
    /// Retains the responses to a batch that is executed asynchronously.
    var progress: BatchProgress?

    /// Executes the request; `fields` are its header fields.
    func answer(_ fields: HTTPFields) async -> (HTTPResponse, ByteStream) {
        do {
            if let progress {
                var request = incoming.request
                // A provider that retains the request must not retain the responses.
                request.batchObserver = { [weak progress] in await progress?.add($0) }
                let response = try await provider.execute(request)
                if case .batch(let results) = response.body { await progress.addMissing(results) }
                return try await progress.answer(from: 0)
            }
            let answer = try await ResponseEncoder(model: model).encode(try await execute(), to: incoming)
            return try await begun(part(of: answer, fields))
        } catch {
            return ErrorResponse.write(RefusalWriter.refusal(error), incoming.format)
        }
    }

    private func execute() async throws -> ODataResponse {
        switch incoming.bound.resource.target {
        case .service: ODataResponse(body: .serviceDocument)
        case .metadata: ODataResponse(body: .metadata(try metadata.model(model, capabilities)))
        case .batch: try await BatchExecution(provider: provider, incoming: incoming).run()
        default: try await provider.execute(incoming.request)
        }
    }

    /// Returns the requested range of a stream (RFC 9110, 14.2).
    private func part(
        of answer: (HTTPResponse, ByteStream), _ fields: HTTPFields
    ) throws(ODataError) -> (HTTPResponse, ByteStream) {
        var (response, stream) = answer
        guard incoming.isStreamRead, response.status == .ok, let length = stream.length else { return answer }
        response.headerFields[.acceptRanges] = "bytes"
        guard let range = RangeRequest(fields) else { return (response, stream) }
        switch range.selection(of: length, etag: response.headerFields[.eTag]) {
        case .whole: return (response, stream)
        case .part(let part):
            response.status = .partialContent
            response.headerFields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
            return (response, stream.slice(part) ?? stream.part(part))
        case .unsatisfiable:
            var refusal = ErrorResponse.write(
                ODataError(
                    status: 416, code: "RangeNotSatisfiable", message: "There are \(length) bytes.", target: "Range"),
                incoming.format)
            refusal.0.headerFields[.contentRange] = "bytes */\(length)"
            return refusal
        }
    }

    /// Reads the first chunk before the head is sent, so that an early error becomes an error response.
    ///
    /// If a page of JSON has a single chunk, the client also gets its length. The second chunk of a stream is not
    /// awaited.
    private func begun(_ answer: (HTTPResponse, ByteStream)) async throws -> (HTTPResponse, ByteStream) {
        let (response, stream) = answer
        let isJSON = response.headerFields[.contentType]?.hasPrefix("application/json") == true
        return (response, try await stream.readingAhead(findingEnd: isJSON))
    }
}

extension IncomingRequest {
    /// Whether the request reads the bytes of a media entity or a stream property.
    fileprivate var isStreamRead: Bool {
        guard request.method == .read else { return false }
        switch bound.resource.target {
        case .rawValue(nil): return true
        case .rawValue(let property?): return property.type.primitive == .stream
        case .property(let property, _): return property.type.primitive == .stream
        default: return false
        }
    }
}
