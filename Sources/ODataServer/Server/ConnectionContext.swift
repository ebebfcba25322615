import Hummingbird
import NIOCore
import NIOSSL

/// What is known of the connection that a request came by.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The certificate that the client showed, once TLS has verified it.
    func clientCertificate() async -> NIOSSLCertificate? {
        // A stream of HTTP/2 is a channel within the one that speaks TLS.
        for candidate in [channel, channel.parent].compactMap({ $0 }) {
            if let certificate = try? await candidate.nioSSL_peerCertificate().get() { return certificate }
        }
        return nil
    }
}
