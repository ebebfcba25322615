import HTTPTypes
import ODataCache
import ODataHTTP
import ODataModel
import ODataService

/// An online OData service: turns requests into HTTP messages, sends them over a transport, and reads the
/// answers leniently (OData Protocol 4.01, 13.3 *Interoperable OData Clients*).
///
/// The metadata is read with the first request that needs it and kept. Next links are not followed by the
/// client itself: a ``DataService`` follows pages. Redirects are followed within the service's origin; credentials
/// go nowhere else.
///
/// ```swift
/// let client = try ODataClient(
///     serviceRoot: "https://services.example/Northwind/", transport: try NIOTransport(),
///     authentication: .basic(user: "ann", password: password))
/// let orders = DataService(client)
/// ```
public final class ODataClient: ODataProvider {
    /// What can be set besides address, transport and authentication.
    public struct Configuration: Sendable {
        /// What the client calls itself.
        public var userAgent: String
        /// Makes the id that goes with each request as `X-Request-ID`, so that it can be found in the
        /// service's logs; `nil` sends none.
        public var requestID: (@Sendable () -> String)?
        /// How batches are written.
        public var batchFormat: BatchFormat
        /// The most bytes of a response that is decoded as a whole; encoded and raw bodies stream without a limit.
        public var maxResponseSize: Int
        /// Header fields for every request.
        public var headers: [String: String]
        /// Where the metadata are kept between runs, so that they travel only when they have changed; where the
        /// service cannot be reached, what is kept counts. `nil` reads them anew each time.
        public var metadataCache: (any MetadataCache)?

        /// Makes a configuration.
        public init(
            userAgent: String = "Outpost/1.0",
            requestID: (@Sendable () -> String)? = { ODataGuid.random().description },
            batchFormat: BatchFormat = .multipart, maxResponseSize: Int = 256 << 20, headers: [String: String] = [:],
            metadataCache: (any MetadataCache)? = nil
        ) {
            self.userAgent = userAgent
            self.requestID = requestID
            self.batchFormat = batchFormat
            self.maxResponseSize = maxResponseSize
            self.headers = headers
            self.metadataCache = metadataCache
        }
    }

    /// Where the service is.
    public let serviceRoot: ServiceRoot
    private let transport: any HTTPTransport
    private let configuration: Configuration
    private let metadata: MetadataLoader

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameter model: the service's model where it is known already, so that it is not read again.
    /// - Throws: ``TransportError/invalidURL(_:)`` when the service root is not an absolute http URL, or holds
    ///   a user name, a query or a fragment.
    public init(
        serviceRoot: String, transport: any HTTPTransport, authentication: Authentication = .none,
        model: EntityDataModel? = nil, configuration: Configuration = Configuration()
    ) throws(TransportError) {
        let root = try ServiceRoot(serviceRoot)
        guard root.authority != nil else { throw .invalidURL(serviceRoot) }
        self.serviceRoot = root
        // A next link may lead anywhere; credentials go to the service's own origin alone.
        let origin = root.scheme.flatMap { scheme in root.authority.flatMap { Origin(scheme: scheme, authority: $0) } }
        guard let origin else { throw .invalidURL(serviceRoot) }
        self.transport = RedirectingTransport(
            AuthenticatingTransport(transport, authentication: authentication, origins: [origin]))
        self.configuration = configuration
        metadata = MetadataLoader(model)
    }

    /// The service's model, read on first use.
    ///
    /// - Throws: ``MetadataError``, ``TransportError``.
    public var model: EntityDataModel {
        get async throws { try await metadata.model { try await self.loadMetadata() } }
    }

    /// Reads the metadata anew with the next request.
    public func forgetMetadata() async { await metadata.forget() }

    /// Sends a request and reads the answer.
    ///
    /// Where the request asks for a format, collections come as encoded bytes that stream; else they are
    /// decoded.
    /// - Throws: ``ODataError`` when the service refuses, ``InvalidResponseError`` when its answer cannot be
    ///   read (a change may have acted), ``TransportError`` for the way, ``MetadataError``.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let model = try await model
        let encoder = RequestEncoder(
            serviceRoot: serviceRoot, model: model, batchFormat: configuration.batchFormat)
        let (message, body) = try encoder.encode(request)
        let (response, stream, id) = try await send(message, body: body)
        let decoder = ResponseDecoder(
            serviceRoot: serviceRoot, model: model, maxBodySize: configuration.maxResponseSize)
        do {
            return try await decoder.decode(response, body: stream, to: request)
        } catch var error as ODataError {
            error.requestID = error.requestID ?? id
            throw error
        }
    }

    private func send(
        _ message: HTTPRequest, body: ByteStream?
    ) async throws -> (HTTPResponse, ByteStream, id: String?) {
        var message = message
        message.headerFields[.userAgent] = configuration.userAgent
        for (name, value) in configuration.headers {
            guard let name = HTTPField.Name(name) else { continue }
            message.headerFields[name] = value
        }
        let id = configuration.requestID?()
        if let id, message.headerFields[.requestID] == nil { message.headerFields[.requestID] = id }
        let (response, stream) = try await transport.send(message, body: body)
        return (response, stream, message.headerFields[.requestID])
    }

    private func loadMetadata() async throws -> EntityDataModel {
        let root = serviceRoot.url(for: "")
        guard let cache = configuration.metadataCache, let known = await cache.metadata(of: root) else {
            return try await readMetadata(root, nil)
        }
        do {
            return try await readMetadata(root, known)
        } catch let error as TransportError {
            // Without a network, what was read last is the best there is.
            guard let model = try? CSDLReader.read(xml: known.bytes) else { throw error }
            return model
        }
    }

    /// Reads the metadata, unless the service says that what is known is still so.
    private func readMetadata(_ root: String, _ known: CachedMetadata?) async throws -> EntityDataModel {
        let url = serviceRoot.url(for: "$metadata")
        var message = try serviceRoot.request(.get, url: url)
        message.headerFields[.accept] = "application/xml"
        message.headerFields[.odataMaxVersion] = ODataVersion.v401.rawValue
        message.headerFields[.ifNoneMatch] = known?.etag
        message.headerFields[.ifModifiedSince] = known?.lastModified
        let (response, stream, _) = try await send(message, body: nil)
        if response.status == .notModified, let known {
            if let model = try? CSDLReader.read(xml: known.bytes) { return model }
            await configuration.metadataCache?.setMetadata(nil, of: root)
            return try await readMetadata(root, nil)
        }
        let bytes: [UInt8]
        do {
            bytes = try await stream.collect(limit: CSDLReader.maxBytes)
        } catch let error as ODataError where error.status == 413 {
            throw MetadataError.invalid(
                url: url, CSDLError(reason: .tooLarge, line: 1, column: 1, expected: "a smaller document"))
        }
        let model = try MetadataAnswer(url: url, response: response, bytes: bytes).model()
        await configuration.metadataCache?.setMetadata(
            CachedMetadata(
                bytes, etag: response.headerFields[.eTag], lastModified: response.headerFields[.lastModified]),
            of: root)
        return model
    }
}
