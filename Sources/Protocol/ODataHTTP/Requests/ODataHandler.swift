import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Serves a provider over HTTP: decodes a request, executes it and encodes the response (OData Protocol 4.01, 13.1
/// *OData 4.01 Service Conformance Levels*).
///
/// ```swift
/// let handler = ODataHandler(provider: store)
/// let server = ODataServer(handler: handler.handle)
/// ```
public struct ODataHandler: Sendable {
    /// The options of a handler.
    public struct Options: Sendable {
        /// The maximum size in bytes of a request body other than a stream; 64 MiB by default
        /// (``RequestDecoder/defaultMaxBodySize``).
        ///
        /// Such a body is read as a whole before the request is executed, and a larger one is refused with 413.
        /// Streams are not limited by this value.
        public var maxBodySize: Int
        /// The public URL of the service root behind a proxy that changes the path. All links start with it.
        public var publicURL: String?
        /// Whether `Forwarded` and `X-Forwarded-…` are trusted. Set it only behind a proxy that overwrites the
        /// fields, because any client can send them.
        public var trustsForwarded: Bool
        /// The host names that a forwarded field may contain, since many proxies pass on the name that their client
        /// sent. A request for another name is refused with 421.
        public var forwardedHosts: AcceptedHosts
        /// The storage of asynchronous requests; `nil` to answer all requests synchronously.
        public var statusMonitors: StatusMonitors?
        /// The limits for the batches that one caller may run at once.
        public var batchLimits: BatchLimits

        /// Creates options.
        public init(
            maxBodySize: Int = RequestDecoder.defaultMaxBodySize, publicURL: String? = nil,
            trustsForwarded: Bool = false, forwardedHosts: AcceptedHosts = AcceptedHosts(),
            statusMonitors: StatusMonitors? = StatusMonitors(), batchLimits: BatchLimits = BatchLimits()
        ) {
            self.batchLimits = batchLimits
            self.maxBodySize = maxBodySize
            self.publicURL = publicURL
            self.trustsForwarded = trustsForwarded
            self.forwardedHosts = forwardedHosts
            self.statusMonitors = statusMonitors
        }
    }

    private let provider: any ODataProvider
    private let serviceRoot: ServiceRoot
    private let publicRoot: ServiceRoot?
    private let options: Options
    private let metadata: PublishedMetadata
    private let batches: BatchShares

    /// Creates a handler for the root path of any host.
    public init(provider: any ODataProvider) {
        self.provider = provider
        serviceRoot = .slash
        publicRoot = nil
        options = Options()
        batches = BatchShares(options.batchLimits)
        metadata = PublishedMetadata(isAsynchronous: options.statusMonitors != nil)
    }

    /// Creates a handler for a service root.
    ///
    /// - Parameters:
    ///   - provider: the provider that answers the requests.
    ///   - serviceRoot: an absolute URL, which all links use, or a path. With a path, links use the scheme and host
    ///     of each request.
    ///   - options: the limits and the configuration of proxies.
    /// - Throws: ``TransportError/invalidURL(_:)``.
    public init(
        provider: any ODataProvider, serviceRoot: String, options: Options = Options()
    ) throws(TransportError) {
        self.provider = provider
        self.serviceRoot = try ServiceRoot(serviceRoot)
        var publicRoot: ServiceRoot?
        if let url = options.publicURL { publicRoot = try ServiceRoot(url) }
        self.publicRoot = publicRoot
        self.options = options
        batches = BatchShares(options.batchLimits)
        metadata = PublishedMetadata(isAsynchronous: options.statusMonitors != nil)
    }

    /// Answers a request. All errors become error responses.
    ///
    /// - Parameters:
    ///   - message: the method, URL and header fields.
    ///   - body: the body, which is read on demand.
    ///   - principal: the caller; `nil` if it was not authenticated.
    public func handle(
        _ message: HTTPRequest, _ body: ByteStream, principal: Principal? = nil
    ) async -> (HTTPResponse, ByteStream) {
        var (response, stream) = await answer(message, body, principal)
        response.keepPrivate(to: principal)
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

    /// Returns the length that a GET would send. The bytes are counted if the length is unknown (RFC 9110, 9.3.2).
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

    private func answer(
        _ message: HTTPRequest, _ body: ByteStream, _ principal: Principal?
    ) async -> (HTTPResponse, ByteStream) {
        do {
            let model = try await provider.model
            let publicRoot = try self.publicRoot(for: message)
            let decoder = RequestDecoder(
                serviceRoot: serviceRoot.resolved(for: message), publicRoot: publicRoot, model: model,
                maxBodySize: options.maxBodySize, traits: provider.traits)
            if message.method == .options { return Self.allowed(try decoder.allowedMethods(message)) }
            let version = try VersionHeaders(message.headerFields).responseVersion()
            let asynchronous = options.statusMonitors.map {
                AsynchronousExchange(
                    monitors: $0, version: version, serviceRoot: publicRoot, owner: principal.map { CallerID($0) },
                    caller: principal.map { CallerID($0) } ?? RequestBudget.current?.caller)
            }
            if let asynchronous, let (id, position) = try Self.monitor(in: decoder.relativeURL(of: message)) {
                return try await asynchronous.answer(message, id: id, from: position)
            }
            var incoming = try await decoder.decode(message, body: body)
            let caller = principal.map { CallerID($0) } ?? RequestBudget.current?.caller
            let isAsynchronous = asynchronous != nil && incoming.request.preferences.respondAsync && !incoming.isUpload
            incoming.identify(principal, isAsynchronous ? RequestBudget.current?.detached() : RequestBudget.current)
            var place: BatchShares.Place?
            if !incoming.parts.isEmpty { place = try batches.enter(incoming.request) }
            var exchange = ProviderExchange(
                provider: provider, model: model, capabilities: decoder.traits.capabilities, metadata: metadata,
                incoming: incoming)
            let preferences = incoming.request.preferences
            // An upload reads from the connection, which ends with the request, so it is answered synchronously.
            if let asynchronous, isAsynchronous {
                let progress = BatchProgress(incoming, model, share: asynchronous.monitors.share(of: caller))
                exchange.progress = progress
                return await asynchronous.begin(wait: preferences.wait, progress) { [exchange, place] in
                    await withTaskCancellationHandler {
                        let (response, stream) = await exchange.answer(message.headerFields)
                        return (response, stream.holding(place))
                    } onCancel: {
                        exchange.incoming.request.context.budget?.cancel()
                    }
                }
            }
            let (response, stream) = await exchange.answer(message.headerFields)
            return (response, stream.holding(place))
        } catch {
            return RefusalWriter().write(error, to: message)
        }
    }

    /// Returns the service root from the client's point of view.
    private func publicRoot(for message: HTTPRequest) throws(ODataError) -> ServiceRoot {
        if let publicRoot { return publicRoot.resolved(for: message) }
        return try options.forwarded(serviceRoot.resolved(for: message), message)
    }

    /// Returns the id of a status monitor in a URL, and the number of batch responses that the client already has.
    private static func monitor(in url: String) -> (id: String, position: Int)? {
        guard url.hasPrefix(AsynchronousExchange.path) else { return nil }
        let parts = url.dropFirst(AsynchronousExchange.path.count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let option = parts.dropFirst().first?.split(separator: "&").first {
            $0.hasPrefix(AsynchronousExchange.positionOption)
        }
        let position = option.flatMap { Int($0.dropFirst(AsynchronousExchange.positionOption.count)) } ?? 0
        return (String(parts[0]), max(0, position))
    }

    /// Returns the response with the methods of a resource (RFC 9110, 9.3.7).
    private static func allowed(_ methods: [String]) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .noContent)
        response.headerFields[.allow] = (methods + ["OPTIONS"]).joined(separator: ", ")
        response.headerFields[.odataVersion] = ODataVersion.v401.rawValue
        return (response, ByteStream([]))
    }
}

extension ODataHandler.Options {
    /// Returns the root under which clients reach the service through a trusted proxy.
    ///
    /// - Throws: ``ODataError`` 421 if the proxy states a host that is not accepted.
    func forwarded(_ root: ServiceRoot, _ message: HTTPRequest) throws(ODataError) -> ServiceRoot {
        guard trustsForwarded else { return root }
        let address = ForwardedAddress(message.headerFields)
        if let host = address.authority, !forwardedHosts.accepts(host) {
            throw ODataError(
                status: 421, code: "MisdirectedRequest",
                message: "The service does not answer to the host that the proxy names.")
        }
        return root.forwarded(address)
    }
}

extension IncomingRequest {
    /// Sets the caller and the budget of the request and of the parts of a batch.
    fileprivate mutating func identify(_ principal: Principal?, _ budget: RequestBudget?) {
        guard principal != nil || budget != nil else { return }
        request.context.principal = principal
        request.context.budget = budget
        for index in parts.indices {
            parts[index].result = parts[index].result.map { part in
                var part = part
                part.request.context.principal = principal
                part.request.context.budget = budget
                return part
            }
        }
        if !parts.isEmpty { request.body = .batch(parts.compactMap(\.item)) }
    }

    /// Whether the body is read from the connection while the request is executed.
    var isUpload: Bool { if case .media = request.body { true } else { false } }
}
