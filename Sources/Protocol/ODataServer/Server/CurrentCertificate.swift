import NIOCore
import NIOSSL
import Synchronization

/// The certificate of a running server, which can be replaced for new connections.
final class CurrentCertificate: Sendable {
    private struct Replacement: Sendable {
        var chain: [NIOSSLCertificate]
        var key: NIOSSLPrivateKey
    }

    /// The certificate in place of that of the start; `nil` if it was never replaced.
    private let replacement = Mutex<Replacement?>(nil)

    /// Uses the certificate and key of other files for new connections.
    ///
    /// - Throws: ``ServerStartError``; the certificate then stays the same.
    func replace(by tls: ODataServer.TLS) throws(ServerStartError) {
        let (chain, key) = try tls.certificateAndKey()
        replacement.withLock { $0 = Replacement(chain: chain, key: key) }
    }

    /// Returns a TLS configuration whose handshakes use the current certificate.
    func following(_ configuration: TLSConfiguration) -> TLSConfiguration {
        var configuration = configuration
        configuration.sslContextCallback = { [self] _, promise in
            guard let current = replacement.withLock({ $0 }) else { return promise.succeed(.noChanges) }
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = current.chain.map { .certificate($0) }
            override.privateKey = .privateKey(current.key)
            promise.succeed(override)
        }
        return configuration
    }
}
