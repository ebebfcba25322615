import HTTPTypes
import ODataCache
import ODataHTTP
import ODataService

/// An HTTP cache around a transport: what is fresh is not asked for again, what is not is asked for with its ETag.
///
/// ```swift
/// let name = try SecretName("responses")
/// let store = PersistentStore(folder: folder, key: .generated(in: secrets, named: name))
/// let cache = ResponseCache(
///     store: PersistentResponseStore(store), configuration: .init(serviceRoot: root, staleIfError: 3600))
/// let client = try ODataClient(serviceRoot: root, transport: CachingTransport(try NIOTransport(), cache: cache))
/// ```
///
/// Give it to a client as its transport: redirects and credentials are then around it, and what came for one user's
/// credentials is never given to another. Header fields, cookies and the client certificate of a request count as
/// credentials, and so does the certificate that the transport itself is configured with.
public struct CachingTransport: HTTPTransport {
    /// What is kept.
    public let cache: ResponseCache
    private let base: any HTTPTransport

    /// Wraps a transport.
    public init(_ base: any HTTPTransport, cache: ResponseCache = ResponseCache()) {
        self.base = base
        self.cache = cache
    }

    /// What the wrapped transport says.
    public var keepsSession: Bool { base.keepsSession }
    /// The client certificate of the wrapped transport.
    public var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    /// Answers from the cache, or sends the request and keeps the answer.
    ///
    /// - Throws: What the transport throws, unless a kept response may stand in.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let identity = (options.clientIdentity ?? base.configuredIdentity)?.distinguishingBytes ?? []
        return try await cache.respond(to: request, body: body, identity: identity) {
            try await base.send($0, body: $1, options: options)
        }
    }
}
