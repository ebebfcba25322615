import HTTPTypes
import ODataService

/// Serves a provider to V4 clients at the service root and to V2 clients below it.
///
/// ```swift
/// let endpoints = try ODataEndpoints(provider: store, serviceRoot: "/Northwind/")
/// let server = ODataServer(handler: endpoints.handle)
/// // V4 at /Northwind/, V2 at /Northwind/v2/
/// ```
///
/// ``ODataV2Handler`` describes the representation of types that V2 lacks. If the model has an entity set with the
/// name of the segment, choose another ``v2Segment``, because V4 clients could not reach the set.
public struct ODataEndpoints: Sendable {
    /// The segment below the service root at which V2 clients reach the service.
    public let v2Segment: String
    private let v4: ODataHandler
    private let v2: ODataV2Handler
    /// The path of the V2 root, with a slash at the end.
    private let v2Path: String

    /// The default of ``v2Segment``.
    public static let defaultV2Segment = "v2"

    /// Creates a handler for a service root.
    ///
    /// - Parameters:
    ///   - provider: the provider that answers the requests.
    ///   - serviceRoot: an absolute URL, which all links use, or a path. With a path, links use the scheme and host
    ///     of each request.
    ///   - v2Segment: the segment for V2 clients, without slashes.
    ///   - options: the limits and the configuration of proxies. A public URL is the V4 root, below which V2 is
    ///     reached too.
    /// - Throws: ``TransportError/invalidURL(_:)``.
    public init(
        provider: any ODataProvider, serviceRoot: String = "/", v2Segment: String = Self.defaultV2Segment,
        options: ODataHandler.Options = ODataHandler.Options()
    ) throws(TransportError) {
        guard !v2Segment.isEmpty, !v2Segment.contains("/") else { throw .invalidURL(v2Segment) }
        self.v2Segment = v2Segment
        v4 = try ODataHandler(provider: provider, serviceRoot: serviceRoot, options: options)
        let root = try ServiceRoot(serviceRoot).url(for: v2Segment + "/")
        v2Path = try ServiceRoot(root).path
        var options = options
        if let url = options.publicURL { options.publicURL = try ServiceRoot(url).url(for: v2Segment + "/") }
        v2 = try ODataV2Handler(provider: provider, serviceRoot: root, options: options)
    }

    /// Answers a request in the protocol version that its path selects.
    ///
    /// - Parameters:
    ///   - message: the method, URL and header fields.
    ///   - body: the body, which is read on demand.
    ///   - principal: the caller; `nil` if it was not authenticated.
    public func handle(
        _ message: HTTPRequest, _ body: ByteStream, principal: Principal? = nil
    ) async -> (HTTPResponse, ByteStream) {
        let path = (message.path ?? "/").prefix { $0 != "?" }
        return path.hasPrefix(v2Path) || path == v2Path.dropLast()
            ? await v2.handle(message, body, principal: principal)
            : await v4.handle(message, body, principal: principal)
    }
}
