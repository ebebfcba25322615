import ErrorCodes
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ODataHTTP
import ODataService
import ServiceLifecycle

/// A server for a handler over HTTP/1.1 (OData Protocol 4.01, 8 and RFC 9112), and over HTTP/2 with TLS.
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
    /// A closure that answers one request. Both bodies are streams that are read on demand.
    public typealias Handler = @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)
    /// A closure that answers one request of an authenticated principal; `nil` if there is no authentication.
    public typealias IdentifiedHandler =
        @Sendable (HTTPRequest, ByteStream, Principal?) async -> (HTTPResponse, ByteStream)

    /// The settings of the server.
    public let configuration: Configuration
    private let mounts: MountTable

    /// Creates a server, which starts to listen with ``start(stoppingOnSignals:)``.
    public init(configuration: Configuration = Configuration(), handler: @escaping IdentifiedHandler) {
        self.init(
            configuration: configuration,
            mounts: configuration.normalizedPrefixes.map { prefix in
                Mount(path: prefix, authentication: .ofServer) { await handler($0, $1, $2.principal) }
            })
    }

    /// Creates a server with several parts, each with its own authentication and admission. The path prefixes of the
    /// configuration do not matter.
    public init(configuration: Configuration = Configuration(), mounts: [Mount]) {
        self.configuration = configuration
        self.mounts = MountTable(mounts)
    }

    /// Creates a server with a handler that does not need the principal.
    public init(configuration: Configuration = Configuration(), handler: @escaping Handler) {
        self.init(configuration: configuration) { request, body, _ in await handler(request, body) }
    }

    /// Starts to listen for connections.
    ///
    /// - Parameter stoppingOnSignals: Whether SIGINT and SIGTERM stop the server gracefully.
    /// - Returns: The running server, which already accepts connections.
    /// - Throws: ``ServerStartError`` if the address is in use or a certificate cannot be read.
    public func start(stoppingOnSignals: Bool = false) async throws(ServerStartError) -> RunningServer {
        let channels = OpenChannels()
        let certificate = CurrentCertificate()
        let exchange = try Exchange(configuration: configuration, mounts: mounts, channels: channels)
        let responder = CallbackResponder<ConnectionContext> { request, context in
            await exchange.respond(to: request, context)
        }
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        // The messages of Hummingbird would only repeat the access log.
        let quiet = Logger(label: "outpost.server", factory: { _ in SwiftLogNoOpLogHandler() })
        let application = Application(
            responder: responder, server: try configuration.serverBuilder(channels, certificate),
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
        return RunningServer(
            configuration: configuration, port: bound, group: group, task: task, certificate: certificate)
    }

    /// The maximum number of connections that wait to be accepted. Many clients connect at once after an
    /// interruption.
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
    /// The address on which the server listens.
    public let host: String
    /// The port on which the server listens; the selected one if 0 was requested.
    public let port: Int
    /// The URL of the service root, with a trailing slash.
    public let url: String

    private let group: ServiceGroup
    private let task: Task<Void, any Error>
    private let certificate: CurrentCertificate

    init(
        configuration: ODataServer.Configuration, port: Int, group: ServiceGroup, task: Task<Void, any Error>,
        certificate: CurrentCertificate
    ) {
        self.certificate = certificate
        host = configuration.host
        self.port = port
        self.group = group
        self.task = task
        let scheme = configuration.tls == nil ? "http" : "https"
        let authority = host.contains(":") ? "[\(host)]" : host
        url = "\(scheme)://\(authority):\(port)\(configuration.normalizedPrefix)"
    }

    /// Stops the server: new connections are refused, running requests finish, and idle connections are closed.
    /// Requests that run for most of the drain time are cancelled (``ODataServer/Configuration/drainTime``).
    public func stop() async {
        await group.triggerGracefulShutdown()
        _ = await task.result
    }

    /// Uses the certificate and the private key of other files, or of the same files with other content, for new
    /// connections. Open connections keep the former certificate, and the authorities of clients stay the same.
    ///
    /// - Throws: ``ServerStartError/unusableCertificate(path:reason:)``; the certificate then stays the same.
    public func replaceCertificate(by tls: ODataServer.TLS) throws(ServerStartError) {
        try certificate.replace(by: tls)
    }

    /// Waits until the server has been stopped, by ``stop()`` or a signal.
    public func waitUntilStopped() async {
        _ = await task.result
    }
}

/// The reason why a server does not start.
public enum ServerStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server cannot listen on the address.
    case cannotListen(host: String, port: Int, reason: String)
    /// The certificate chain or its key cannot be read. The reason never contains the key.
    case unusableCertificate(path: String, reason: String)

    /// An explanation of the error with the address or the path.
    public var description: String {
        switch self {
        case .cannotListen(let host, let port, let reason): "Cannot listen on \(host):\(port): \(reason)"
        case .unusableCertificate(let path, let reason): "\(path) cannot be used for TLS: \(reason)"
        }
    }
}

extension ServerStartError: CodedError {
    /// The code `server.cannot-listen` or `server.unusable-certificate`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .cannotListen: "cannot-listen"
            case .unusableCertificate: "unusable-certificate"
            }
        return ErrorCode(rawValue: "server.\(name)")
    }

    /// Always `FailureKind.request`: the settings must be changed.
    public var failureKind: FailureKind { .request }
}
