import HTTPTypes
import ODataService

/// Serves a provider to clients of both generations from the same data: V4 at the service root, V2 below it.
///
/// ```swift
/// let endpoints = try ODataEndpoints(provider: store, serviceRoot: "/Northwind/")
/// let server = ODataServer(handler: endpoints.handle)
/// // V4 at /Northwind/, V2 at /Northwind/v2/
/// ```
///
/// What V2 clients see of types that V2 lacks, ``ODataV2Handler`` says. An entity set with the name of the segment would
/// not be found by V4 clients, so choose another ``v2Segment`` where the model has one of that name.
public struct ODataEndpoints: Sendable {
    /// The segment below the service root at which clients of V2 find the service.
    public let v2Segment: String
    private let v4: ODataHandler
    private let v2: ODataV2Handler
    /// The path of the V2 root, with a slash at the end.
    private let v2Path: String

    /// What ``v2Segment`` is unless something else is asked for.
    public static let defaultV2Segment = "v2"

    /// Serves at a service root.
    ///
    /// - Parameters:
    ///   - provider: who answers.
    ///   - serviceRoot: an absolute URL, which is then used in all links whatever the request says; or a path, when links
    ///     take scheme and host from each request.
    ///   - v2Segment: the segment below it for clients of V2, without slashes.
    ///   - options: limits, and what stands between the clients and the service. A public URL is that of V4; that of V2
    ///     is below it too.
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

    /// Answers a request as the version of the protocol does that it is addressed to.
    ///
    /// - Parameters:
    ///   - message: method, URL and header fields.
    ///   - body: the body, pulled as it is read.
    ///   - principal: who asks, where that is known.
    public func handle(
        _ message: HTTPRequest, _ body: ByteStream, principal: Principal? = nil
    ) async -> (HTTPResponse, ByteStream) {
        let path = (message.path ?? "/").prefix { $0 != "?" }
        return path.hasPrefix(v2Path) || path == v2Path.dropLast()
            ? await v2.handle(message, body, principal: principal)
            : await v4.handle(message, body, principal: principal)
    }
}
