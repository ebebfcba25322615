import AsyncHTTPClient
import NIOCore
import NIOSSL
import ODataHTTP
import Synchronization

/// The HTTP clients of a transport: one for all plain connections and one for each TLS origin. Requests with
/// different client certificates or proxy credentials use separate clients, because both belong to connections.
final class ClientPool: Sendable {
    /// The properties that all connections of one client share.
    struct Key: Hashable {
        /// The origin of TLS connections; `nil` for plain ones, and for those with the library's own TLS.
        var origin: Origin?
        var identity: ClientIdentity?
        var proxyAuthorization: String?
    }

    private struct State {
        var clients: [Key: HTTPClient] = [:]
        var isShutDown = false
    }

    let moments = TransferRegistry<MomentHandler.Report>(field: "outpost-transfer-number")
    let packed = TransferRegistry<PackedBytes>(field: "outpost-packed-number")
    private let configuration: NIOTransport.Configuration
    private let authorities: TrustAuthorities
    private let state = Mutex(State())

    init(_ configuration: NIOTransport.Configuration) throws(TransportConfigurationError) {
        self.configuration = configuration
        let trust = configuration.trust
        guard !configuration.allowsHTTP2 || (trust.pins.isEmpty && trust.decide == nil) else {
            throw .http2WithOwnTrust
        }
        authorities = try TrustAuthorities(trust.authorities)
        // Reports an unusable certificate now and not with the first request.
        _ = try context(tls(identity: configuration.clientIdentity))
    }

    /// Returns the client for a request.
    ///
    /// - Throws: ``TransportConfigurationError`` for an unusable identity, `TransportError.cannotConnect` after
    ///   the shutdown.
    func client(for key: Key) throws -> HTTPClient {
        var key = key
        if configuration.allowsHTTP2 { key.origin = nil }
        let known = state.withLock { ($0.clients[key], $0.isShutDown) }
        guard !known.1 else { throw Self.isShutDown(key) }
        if let client = known.0 { return client }
        let tls = try tls(identity: key.identity ?? configuration.clientIdentity)
        let made = clientConfiguration(key, tls: tls, context: try context(tls))
        let client = state.withLock { state -> HTTPClient? in
            guard !state.isShutDown else { return nil }
            if let client = state.clients[key] { return client }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: made)
            state.clients[key] = client
            return client
        }
        guard let client else { throw Self.isShutDown(key) }
        return client
    }

    private static func isShutDown(_ key: Key) -> TransportError {
        .cannotConnect(host: key.origin?.host ?? "any host", reason: "the transport is shut down")
    }

    private func context(_ tls: TLSConfiguration) throws(TransportConfigurationError) -> NIOSSLContext {
        do {
            return try TLSUpgrade.context(tls)
        } catch {
            throw .unusableIdentity(ClientIdentityError(reason: "the certificate and the key do not belong together"))
        }
    }

    /// Closes all connections; it can be called again.
    func shutdown() async throws {
        let clients = state.withLock { state in
            state.isShutDown = true
            defer { state.clients = [:] }
            return Array(state.clients.values)
        }
        for client in clients { try await client.shutdown() }
    }

    private func tls(identity: ClientIdentity?) throws(TransportConfigurationError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        // Full verification is the default of the library, stated explicitly because it is essential.
        tls.certificateVerification = .fullVerification
        authorities.apply(to: &tls)
        if let identity {
            do {
                try identity.apply(to: &tls)
            } catch {
                throw .unusableIdentity(error)
            }
        }
        return tls
    }

    private func clientConfiguration(
        _ key: Key, tls: TLSConfiguration, context: NIOSSLContext
    ) -> HTTPClient.Configuration {
        var pool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: TimeAmount(configuration.idleTimeout),
            concurrentHTTP1ConnectionsPerHostSoftLimit: max(1, configuration.maxConnectionsPerHost))
        // The caller retries a refused connection, because it knows the delay and the pool does not.
        pool.retryConnectionEstablishment = false
        let silence = TimeAmount(configuration.readTimeout)
        var client = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: TimeAmount(configuration.connectTimeout), read: nil, write: silence),
            connectionPool: pool, proxy: proxy(key),
            // Responses are decompressed by ``Unpacker``, because the library supports neither several gzip
            // members nor deflate without a wrapper.
            decompression: .disabled)
        client.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        // The OData client creates spans, because it knows the meaning of a request.
        client.tracing.tracer = nil
        let packed = packed
        guard !configuration.allowsHTTP2 else {
            let prepare: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
                channel.addHandlersOfResponses {
                    [SilenceHandler(limit: silence), PackedBytesHandler(registry: packed), EarlyRefusalHandler()]
                }
            }
            client.http1_1ConnectionDebugInitializer = prepare
            client.http2StreamChannelDebugInitializer = prepare
            return client
        }
        let moments = moments
        let prepare:
            @Sendable (any Channel, ContinuousClock.Instant, ContinuousClock.Instant?) -> EventLoopFuture<Void> =
                { channel, connected, secured in
                    channel.addHandlersOfResponses {
                        [
                            SilenceHandler(limit: silence),
                            PackedBytesHandler(registry: packed),
                            MomentHandler(registry: moments, connected: connected, secured: secured),
                            EarlyRefusalHandler(),
                        ]
                    }
                }
        if let origin = key.origin {
            let upgrade = TLSUpgrade(
                origin: origin, context: context, trust: configuration.trust, authorities: authorities,
                timeout: TimeAmount(configuration.connectTimeout))
            client.http1_1ConnectionDebugInitializer = { channel in
                let connected = ContinuousClock.now
                return upgrade.start(on: channel).flatMap { prepare(channel, connected, .now) }
            }
        } else {
            client.http1_1ConnectionDebugInitializer = { prepare($0, .now, nil) }
        }
        return client
    }

    private func proxy(_ key: Key) -> HTTPClient.Configuration.Proxy? {
        guard let proxy = configuration.proxy else { return nil }
        guard proxy.kind == .http else { return .socksServer(host: proxy.host, port: proxy.port) }
        guard let field = key.proxyAuthorization, let space = field.firstIndex(of: " ") else {
            return .server(host: proxy.host, port: proxy.port)
        }
        let credentials = String(field[field.index(after: space)...])
        let isBasic = field[..<space].lowercased() == "basic"
        return .server(
            host: proxy.host, port: proxy.port,
            authorization: isBasic ? .basic(credentials: credentials) : .bearer(tokens: credentials))
    }
}

extension ClientIdentity {
    /// Sets the certificates and the key of a TLS configuration.
    fileprivate func apply(to tls: inout TLSConfiguration) throws(ClientIdentityError) {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
        do {
            switch encoding {
            case .pem(let certificates, let bytes, let passphrase):
                chain = try NIOSSLCertificate.fromPEMBytes(certificates)
                key = try NIOSSLPrivateKey(bytes: bytes, format: .pem) { setter in
                    setter((passphrase ?? "").utf8)
                }
            case .pkcs12(let bytes, let passphrase):
                let bundle = try NIOSSLPKCS12Bundle(buffer: bytes, passphrase: passphrase.map { Array($0.utf8) })
                chain = bundle.certificateChain
                key = bundle.privateKey
            }
        } catch {
            // The errors of the library contain neither the key nor the passphrase.
            throw ClientIdentityError(reason: "the file or its passphrase is wrong (\(error))")
        }
        guard !chain.isEmpty else { throw ClientIdentityError(reason: "it holds no certificate") }
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(key)
    }
}
