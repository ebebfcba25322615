import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Serves a provider to clients of OData 2.0 (MS-ODATA; OData 2.0): Atom and verbose JSON, `$links`,
/// `$inlinecount`, MERGE, function imports and media link entries.
///
/// ``ODataEndpoints`` serves the same provider to V4 clients too. A type that V2 lacks is written as the nearest V2
/// type. A date becomes `Edm.DateTime`, a duration `Edm.Time`, and an enumeration the names of its members.
/// Features that V2 cannot express are omitted from the metadata and are not available.
///
/// A bound V4 operation becomes a function import with the key as parameters: `Products(7)/Shop.Activate` is
/// `Product_Activate?ID=7`. The metadata mark it with `sap:action-for`, and each Atom entry has a link to it.
///
/// ```swift
/// let v2 = try ODataV2Handler(provider: store, serviceRoot: "/v2/")
/// ```
public struct ODataV2Handler: Sendable {
    private let provider: any ODataProvider
    private let serviceRoot: ServiceRoot
    private let publicRoot: ServiceRoot?
    private let options: ODataHandler.Options
    private let models = V2Model.Cache()
    private let batches: BatchShares

    /// Creates a handler for a service root.
    ///
    /// - Parameters:
    ///   - provider: the provider that answers the requests.
    ///   - serviceRoot: an absolute URL, or a path, with which links use the scheme and host of each request.
    ///   - options: the limits and the configuration of proxies. Status monitors are a V4 feature and unused.
    /// - Throws: ``TransportError/invalidURL(_:)``.
    public init(
        provider: any ODataProvider, serviceRoot: String, options: ODataHandler.Options = ODataHandler.Options()
    ) throws(TransportError) {
        self.provider = provider
        self.serviceRoot = try ServiceRoot(serviceRoot)
        var publicRoot: ServiceRoot?
        if let url = options.publicURL { publicRoot = try ServiceRoot(url) }
        self.publicRoot = publicRoot
        self.options = options
        batches = BatchShares(options.batchLimits)
    }

    /// Answers a request. All errors become V2 error responses.
    public func handle(
        _ message: HTTPRequest, _ body: ByteStream, principal: Principal? = nil
    ) async -> (HTTPResponse, ByteStream) {
        var (response, stream) = await answer(message, body, principal)
        response.keepPrivate(to: principal)
        if let id = message.headerFields[.requestID] { response.headerFields[.requestID] = id }
        if let length = stream.length, length > 0 || response.status == .ok {
            response.headerFields[.contentLength] = String(length)
        }
        return (response, message.method == .head ? ByteStream([]) : stream)
    }

    private func answer(
        _ message: HTTPRequest, _ body: ByteStream, _ principal: Principal?
    ) async -> (HTTPResponse, ByteStream) {
        do {
            let traits = provider.traits
            let model = try models.model(for: try await provider.model, capabilities: traits.capabilities)
            let local = serviceRoot.resolved(for: message)
            let root = try publicRoot?.resolved(for: message) ?? options.forwarded(local, message)
            let addresses = V2Addresses(model: model, serviceRoot: root, language: traits.queryLanguage)
            let decoder = V2RequestDecoder(
                addresses: addresses, serviceRoot: local, maxBodySize: options.maxBodySize)
            if [.get, .head].contains(message.method),
                let description = V2Search(addresses: addresses).description(at: try decoder.relativeURL(of: message))
            {
                return Self.description(description)
            }
            if message.method == .options { return Self.allowed(try decoder.allowedMethods(message)) }
            var request = try await decoder.decode(message, body)
            request.request.context.principal = principal
            request.request.context.budget = RequestBudget.current
            do {
                return try await answer(request, V2ResponseEncoder(addresses: addresses), principal)
            } catch {
                return V2ResponseEncoder.encode(RefusalWriter.refusal(error), request.format)
            }
        } catch {
            return V2ResponseEncoder.encode(RefusalWriter.refusal(error), V2Negotiation.errorFormat(message))
        }
    }

    private func answer(
        _ request: V2Request, _ encoder: V2ResponseEncoder, _ principal: Principal?
    ) async throws -> (HTTPResponse, ByteStream) {
        switch request.bound.resource.target {
        case .service: return try await encoder.encode(ODataResponse(body: .serviceDocument), to: request)
        case .metadata:
            return try await encoder.encode(
                ODataResponse(body: .metadata(encoder.addresses.model.service)), to: request)
        case .batch: return try await batch(request, encoder, principal)
        default: return try await encoder.encode(try await provider.execute(request.request), to: request)
        }
    }

    /// Returns the response to a batch: 202 with one response to each request in order, or one for a failed change
    /// set (MS-ODATA, 2.2.7.6.4).
    private func batch(
        _ request: V2Request, _ encoder: V2ResponseEncoder, _ principal: Principal?
    ) async throws -> (HTTPResponse, ByteStream) {
        let place = try batches.enter(request.request)
        var request = request
        let budget = request.request.context.budget
        for index in request.parts.indices {
            request.parts[index].result = request.parts[index].result.map { part in
                var part = part
                part.request.context.principal = principal
                part.request.context.budget = budget
                return part
            }
        }
        let boundary = "batchresponse_\(ODataGuid.random())"
        let answers = V2BatchAnswers(request, provider: provider, encoder: encoder, boundary: boundary) {
            try await answer($0, encoder, principal)
        }
        try await answers.makeChanges()
        var response = HTTPResponse(status: .accepted)
        response.headerFields[.dataServiceVersion] = "2.0"
        response.headerFields[.contentType] = "multipart/mixed;boundary=\(boundary)"
        return (response, ByteStream { try await answers.next() }.holding(place))
    }

    private static func description(_ bytes: [UInt8]) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .ok)
        response.headerFields[.dataServiceVersion] = "2.0"
        response.headerFields[.contentType] = V2Search.mediaType
        return (response, ByteStream(bytes))
    }

    private static func allowed(_ methods: [String]) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .noContent)
        response.headerFields[.allow] = (methods + ["OPTIONS"]).joined(separator: ", ")
        response.headerFields[.dataServiceVersion] = "2.0"
        return (response, ByteStream([]))
    }
}
