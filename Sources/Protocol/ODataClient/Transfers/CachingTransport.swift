import HTTPTypes
import ODataCache
import ODataHTTP
import ODataService

/// An HTTP cache around a transport: a fresh response is served from the cache, and a stale one is revalidated
/// with its ETag.
///
/// ```swift
/// let name = try SecretName("responses")
/// let store = PersistentStore(folder: folder, key: .generated(in: keys, named: name))
/// let cache = ResponseCache(
///     store: PersistentResponseStore(store), configuration: .init(serviceRoot: root, staleIfError: 3600))
/// let client = try ODataClient(serviceRoot: root, transport: CachingTransport(URLSessionTransport(), cache: cache))
/// ```
///
/// Pass it to a client as its transport, so that redirects and authentication are outside of the cache. A
/// response for the credentials of one user is never returned to another. Header fields, cookies and the client
/// certificate of a request count as credentials, and so does the certificate with which the transport is
/// configured.
public struct CachingTransport: HTTPTransport {
    /// The cache of responses.
    public let cache: ResponseCache
    private let base: any HTTPTransport

    /// Creates a transport that caches the responses of another one.
    public init(_ base: any HTTPTransport, cache: ResponseCache = ResponseCache()) {
        self.base = base
        self.cache = cache
    }

    /// Whether the wrapped transport keeps a session.
    public var keepsSession: Bool { base.keepsSession }
    /// The client certificate of the wrapped transport.
    public var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    /// Returns a cached response, or sends the request and caches the response.
    ///
    /// - Throws: The errors of the transport, unless a cached response may be used instead.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let identity = (options.clientIdentity ?? base.configuredIdentity)?.distinguishingBytes ?? []
        return try await cache.respond(to: request, body: body, identity: identity) {
            try await base.send($0, body: $1, options: options)
        }
    }
}
