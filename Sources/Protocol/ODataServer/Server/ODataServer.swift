import ErrorCodes
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ODataHTTP
import ODataService
import ServiceLifecycle

/// Serves a handler over HTTP/1.1 (OData Protocol 4.01, 8 and RFC 9112), and over HTTP/2 where TLS is spoken.
///
/// ```swift
/// let handler = try ODataHandler(provider: store, serviceRoot: "/Northwind/")
/// let server = ODataServer(handler: handler.handle)
/// let running = try await server.start()
/// print(running.url)
/// …
/// await running.stop()
/// ```
public struct ODataServer: Sendable {
    /// Answers one request. The request body is pulled by the handler, the response body by the socket.
    public typealias Handler = @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)
    /// Answers one request of somebody whom the authentication knows; `nil` where there is none.
    public typealias IdentifiedHandler =
        @Sendable (HTTPRequest, ByteStream, Principal?) async -> (HTTPResponse, ByteStream)

    /// The settings.
    public let configuration: Configuration
    private let handler: IdentifiedHandler

    /// Makes a server; it begins to listen with ``start(stoppingOnSignals:)``.
    public init(configuration: Configuration = Configuration(), handler: @escaping IdentifiedHandler) {
        self.configuration = configuration
        self.handler = handler
    }

    /// Makes a server whose handler does not ask who asks.
    public init(configuration: Configuration = Configuration(), handler: @escaping Handler) {
        self.init(configuration: configuration) { request, body, _ in await handler(request, body) }
    }

    /// Begins to listen.
    ///
    /// - Parameter stoppingOnSignals: whether SIGINT and SIGTERM stop the server gracefully.
    /// - Returns: the running server, which already accepts connections.
    /// - Throws: ``ServerStartError`` when the address is taken or a certificate cannot be read.
    public func start(stoppingOnSignals: Bool = false) async throws(ServerStartError) -> RunningServer {
        let channels = OpenChannels()
        let exchange = try Exchange(configuration: configuration, handler: handler, channels: channels)
        let responder = CallbackResponder<ConnectionContext> { request, context in
            await exchange.respond(to: request, context)
        }
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        // Hummingbird's own messages would only repeat what the access log says.
        let quiet = Logger(label: "outpost.server", factory: { _ in SwiftLogNoOpLogHandler() })
        let application = Application(
            responder: responder, server: try configuration.serverBuilder(channels),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                serverName: configuration.serverName, backlog: Self.backlog),
            onServerRunning: { channel in
                announce.yield(channel.localAddress?.port ?? 0)
                announce.finish()
            }, logger: quiet)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [DrainedService(base: application, channels: channels, drainTime: configuration.drainTime)],
                gracefulShutdownSignals: stoppingOnSignals ? [.sigint, .sigterm] : [],
                logger: quiet))
        let task = Task {
            defer { announce.finish() }
            try await group.run()
        }
        var bound: Int?
        for await port in ports { bound = port }
        guard let bound else {
            var reason = "it stopped at once"
            if case .failure(let error) = await task.result { reason = Self.reason(error) }
            throw .cannotListen(host: configuration.host, port: configuration.port, reason: reason)
        }
        return RunningServer(configuration: configuration, port: bound, group: group, task: task)
    }

    /// How many connections may wait to be accepted: many clients come at once after an interruption.
    private static let backlog = 4096

    private static func reason(_ error: any Error) -> String {
        if error is SocketAddressError { return "the name cannot be resolved" }
        guard let error = error as? IOError else { return "\(error)" }
        switch error.errnoCode {
        case EADDRINUSE: return "another program uses this port"
        case EADDRNOTAVAIL: return "this machine does not have that address"
        case EACCES, EPERM: return "this user may not listen there"
        default: return String(cString: strerror(error.errnoCode))
        }
    }
}

/// A server that accepts connections.
public final class RunningServer: Sendable {
    /// The address it listens on.
    public let host: String
    /// The port it listens on: the one chosen by the system when 0 was asked for.
    public let port: Int
    /// The URL of the service root, with a slash at the end.
    public let url: String

    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    init(configuration: ODataServer.Configuration, port: Int, group: ServiceGroup, task: Task<Void, any Error>) {
        host = configuration.host
        self.port = port
        self.group = group
        self.task = task
        let scheme = configuration.tls == nil ? "http" : "https"
        let authority = host.contains(":") ? "[\(host)]" : host
        url = "\(scheme)://\(authority):\(port)\(configuration.normalizedPrefix)"
    }

    /// Stops: no new connection is accepted, requests under way finish, idle connections are closed. Requests that go on
    /// for most of the drain time are cancelled (``ODataServer/Configuration/drainTime``).
    public func stop() async {
        await group.triggerGracefulShutdown()
        _ = await task.result
    }

    /// Waits until the server has been stopped, by ``stop()`` or a signal.
    public func waitUntilStopped() async {
        _ = await task.result
    }
}

/// Why a server does not start.
public enum ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address cannot be listened on.
    case cannotListen(host: String, port: Int, reason: String)
    /// The certificate chain or its key cannot be read. The key's content is never part of the reason.
    case unusableCertificate(path: String, reason: String)

    /// What is wrong and where.
    public var description: String {
        switch self {
        case .cannotListen(let host, let port, let reason): "Cannot listen on \(host):\(port): \(reason)"
        case .unusableCertificate(let path, let reason): "\(path) cannot be used for TLS: \(reason)"
        }
    }
}

extension ServerStartError: CodedError {
    /// `server.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .cannotListen: "cannot-listen"
            case .unusableCertificate: "unusable-certificate"
            }
        return ErrorCode(rawValue: "server.\(name)")
    }

    /// What the server was started with.
    public var failureKind: FailureKind { .request }
}
