import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Serves a provider over HTTP messages: reads a request, asks the provider, writes the answer
/// (OData Protocol 4.01, 13.1 *OData 4.01 Service Conformance Levels*).
///
/// ```swift
/// let handler = ODataHandler(provider: store)
/// let server = ODataServer(handler: handler.handle)
/// ```
public struct ODataHandler: Sendable {
    private let provider: any ODataProvider
    private let serviceRoot: ServiceRoot
    private let maxBodySize: Int

    /// Serves at the root of whatever host the request names.
    public init(provider: any ODataProvider) {
        self.provider = provider
        serviceRoot = .slash
        maxBodySize = RequestDecoder.defaultMaxBodySize
    }

    /// Serves at a service root.
    ///
    /// - Parameters:
    ///   - provider: who answers.
    ///   - serviceRoot: an absolute URL, which is then used in all links whatever the request says; or a path,
    ///     when links take scheme and host from each request.
    ///   - maxBodySize: the most bytes of a request body that is not media.
    /// - Throws: ``TransportError/invalidURL(_:)``.
    public init(
        provider: any ODataProvider, serviceRoot: String, maxBodySize: Int = RequestDecoder.defaultMaxBodySize
    ) throws(TransportError) {
        self.provider = provider
        self.serviceRoot = try ServiceRoot(serviceRoot)
        self.maxBodySize = maxBodySize
    }

    /// Answers a request; whatever fails becomes an error object.
    public func handle(_ message: HTTPRequest, _ body: ByteStream) async -> (HTTPResponse, ByteStream) {
        var (response, stream) = await answer(message, body)
        if let id = message.headerFields[.requestID], response.headerFields[.requestID] == nil {
            response.headerFields[.requestID] = id
        }
        let isHead = message.method == .head
        let length = isHead ? await Self.length(of: stream) : stream.length
        if let length, length > 0 || response.status.code == 200 {
            response.headerFields[.contentLength] = String(length)
        }
        return (response, isHead ? ByteStream([]) : stream)
    }

    /// The length that a GET would send: a page whose length nobody knows is counted, media know theirs
    /// (RFC 9110, 9.3.2).
    private static func length(of stream: ByteStream) async -> Int64? {
        if let length = stream.length { return length }
        var length: Int64 = 0
        do {
            while let chunk = try await stream.next() { length += Int64(chunk.count) }
        } catch {
            return nil
        }
        return length
    }

    private func answer(_ message: HTTPRequest, _ body: ByteStream) async -> (HTTPResponse, ByteStream) {
        let encoder: ResponseEncoder
        let decoder: RequestDecoder
        do {
            let model = try await provider.model
            encoder = ResponseEncoder(model: model)
            decoder = RequestDecoder(
                serviceRoot: serviceRoot.resolved(for: message), model: model, maxBodySize: maxBodySize)
        } catch {
            return RefusalWriter().write(error, to: message)
        }
        do {
            let incoming = try await decoder.decode(message, body: body)
            do {
                var response = try await execute(incoming, model: encoder.model)
                if incoming.request.method == .read { response = conditional(response, incoming.request) }
                return try await begun(encoder.encode(response, to: incoming))
            } catch {
                return encoder.encode(RefusalWriter.refusal(error), format: incoming.format)
            }
        } catch {
            return RefusalWriter().write(error, to: message)
        }
    }

    private func execute(_ incoming: IncomingRequest, model: EntityDataModel) async throws -> ODataResponse {
        switch incoming.bound.resource.target {
        case .service: return ODataResponse(body: .serviceDocument)
        case .metadata: return ODataResponse(body: .metadata(model))
        case .batch: return try await BatchExecution(provider: provider, incoming: incoming).run()
        default: return try await provider.execute(incoming.request)
        }
    }

    /// 304 where the client has what it would get (RFC 9110, 13.1.2), in case the provider leaves that to us.
    private func conditional(_ response: ODataResponse, _ request: ODataRequest) -> ODataResponse {
        guard response.status == 200, let condition = request.ifNoneMatch else { return response }
        var etag = response.etag
        if case .entity(let entity) = response.body { etag = etag ?? entity.control.etag }
        guard let etag, ETagList(condition).contains(etag) else { return response }
        var unchanged = ODataResponse(status: 304, etag: etag)
        unchanged.headers = response.headers
        return unchanged
    }

    /// Pulls the first chunk before the head goes out, so that what fails at once is still refused in full.
    private func begun(_ answer: (HTTPResponse, ByteStream)) async throws -> (HTTPResponse, ByteStream) {
        let (response, stream) = answer
        if let length = stream.length, length <= 65_536 { return answer }
        guard let first = try await stream.next() else { return (response, ByteStream([])) }
        let once = ByteStream(first)
        let joined = ByteStream(length: stream.length) {
            if let chunk = try await once.next() { return chunk }
            return try await stream.next()
        }
        return (response, joined)
    }
}

/// The entity tags of a condition (RFC 9110, 8.8.3).
struct ETagList {
    private let tags: [String]

    init(_ text: String) { tags = HeaderTokens.split(text, at: ",").filter { !$0.isEmpty } }

    /// Weak comparison, as reading asks for.
    func contains(_ etag: String) -> Bool {
        tags.contains { $0 == "*" || Self.opaque($0) == Self.opaque(etag) }
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}

/// Turns whatever was thrown into an answer.
struct RefusalWriter {
    static func refusal(_ error: any Error) -> ODataError {
        switch error {
        case let error as ODataError: error
        case let error as QueryError: ODataError(error)
        case is CancellationError:
            ODataError(status: 503, code: "Cancelled", message: "The request was given up.", retryAfter: 1)
        case is TransportError, is InvalidResponseError:
            ODataError(status: 502, code: "BadGateway", message: "The service behind this one cannot be reached.")
        default: .internalError
        }
    }

    /// A refusal of a request that could not be read: in the version that it can be read in.
    func write(_ error: any Error, to message: HTTPRequest) -> (HTTPResponse, ByteStream) {
        let fields = message.headerFields
        let version = try? VersionHeaders(version: nil, maxVersion: fields[.odataMaxVersion]).responseVersion()
        let refusal = Self.refusal(error)
        var response = HTTPResponse(status: .init(code: refusal.status))
        let format = ResponseFormat(version: version ?? .v401)
        response.headerFields[.odataVersion] = format.version.rawValue
        response.headerFields[.contentType] = format.mediaType
        if !refusal.allowedMethods.isEmpty {
            response.headerFields[.allow] = refusal.allowedMethods.joined(separator: ", ")
        }
        if let result = refusal.repeatabilityResult { response.headerFields[.repeatabilityResult] = result.rawValue }
        return (response, ByteStream(ErrorObject.bytes(refusal)))
    }
}
