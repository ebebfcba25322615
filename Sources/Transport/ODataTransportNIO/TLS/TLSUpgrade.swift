import NIOCore
import NIOSSL
import NIOTLS
import ODataHTTP
import Synchronization

/// Starts TLS on a new connection with our own evaluation of the server's certificate.
///
/// The library's own TLS supports no closure and does not expose the certificate chain. The library treats the
/// connection as a plain one, and TLS is added before the first request is written.
struct TLSUpgrade: Sendable {
    let origin: Origin
    let context: NIOSSLContext
    let trust: ServerTrust
    let authorities: TrustAuthorities
    let timeout: TimeAmount

    /// Returns the TLS context of a client: its identity without trust roots, because ``TrustEvaluator``
    /// decides.
    static func context(_ configuration: TLSConfiguration) throws -> NIOSSLContext {
        var configuration = configuration
        configuration.trustRoots = .certificates([])
        configuration.additionalTrustRoots = []
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// Performs the handshake; the channel is closed if it fails.
    func start(on channel: any Channel) -> EventLoopFuture<Void> {
        let refusal = Refusal()
        let done = channel.eventLoop.makePromise(of: Void.self)
        let evaluator = TrustEvaluator(origin: origin, trust: trust, authorities: authorities)
        let late = channel.eventLoop.scheduleTask(in: timeout) {
            done.fail(
                TransportError.cannotConnect(host: origin.description, reason: "the TLS handshake took too long"))
        }
        channel.eventLoop.execute {
            do {
                let handler = try NIOSSLClientHandler(
                    context: context,
                    serverHostname: origin.isAddress ? nil : origin.host
                ) { chain, verdict in
                    let chain = SendableChain(certificates: chain)
                    Task {
                        refusal.reason = await evaluator.refusal(of: chain.certificates)
                        verdict.succeed(refusal.reason == nil ? .certificateVerified : .failed)
                    }
                }
                let pipeline = channel.pipeline.syncOperations
                let watch = HandshakeWatch(done)
                try pipeline.addHandler(watch, position: .first)
                try pipeline.addHandler(handler, position: .first)
            } catch {
                done.fail(error)
            }
        }
        let host = origin.description
        return done.futureResult.flatMapErrorThrowing { error in
            if let reason = refusal.reason {
                throw TransportError.untrustedCertificate(host: host, reason: reason)
            }
            throw error
        }.always { result in
            late.cancel()
            if case .failure = result { channel.close(promise: nil) }
        }
    }

    private struct SendableChain: Sendable { let certificates: [NIOSSLCertificate] }
}

private final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var done: EventLoopPromise<Void>?

    init(_ done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
            done?.succeed()
            done = nil
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error before the end of the handshake is not passed on; it fails the connection.
        if let done {
            self.done = nil
            done.fail(error)
        } else {
            context.fireErrorCaught(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        done?.fail(ChannelError.eof)
        done = nil
        context.fireChannelInactive()
    }
}

/// The reason why a chain was refused. The error of the TLS library contains less detail.
private final class Refusal: Sendable {
    private let stored = Mutex<String?>(nil)

    var reason: String? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
