import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Serves a provider to clients of OData 2.0: Atom and verbose JSON, `$links`, `$inlinecount`, MERGE, function
/// imports, media link entries (MS-ODATA; OData 2.0).
///
/// The same provider can be served to V4 clients beside it, as ``ODataEndpoints`` does. A type that V2 does not have is
/// written as the nearest that it has: a date as `Edm.DateTime`, a duration as `Edm.Time`, an enumeration as text, by
/// the names of its members. What V2 cannot say is left out of its metadata, and is neither sent nor taken.
///
/// What V4 binds to an entity is a function import here, which takes the key as parameters:
/// `Products(7)/Shop.Activate` is `Product_Activate?ID=7`. Its metadata say `sap:action-for`, and each Atom entry has a
/// link to it.
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

    /// Serves at a service root.
    ///
    /// - Parameters:
    ///   - provider: who answers.
    ///   - serviceRoot: an absolute URL, or a path when links take scheme and host from each request.
    ///   - options: limits, and what stands between the clients and the service. Status monitors are V4's.
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

    /// Answers a request; whatever fails becomes an error of V2.
    public func handle(
        _ message: HTTPRequest, _ body: ByteStream, principal: Principal? = nil
    ) async -> (HTTPResponse, ByteStream) {
        var (response, stream) = await answer(message, body, principal)
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

    /// The answer to a batch: 202, with an answer to each request in order, one for a change set that failed
    /// (MS-ODATA, 2.2.7.6.4).
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
