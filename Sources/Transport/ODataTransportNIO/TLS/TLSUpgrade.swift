import NIOCore
import NIOSSL
import NIOTLS
import ODataHTTP
import Synchronization

/// Starts TLS on a connection that has just been made, with our own decision about the server's certificate.
///
/// The library's own TLS knows no closure and keeps the chain to itself; on a connection that it takes for a plain
/// one, TLS is put in front before the first request is written.
struct TLSUpgrade: Sendable {
    let origin: Origin
    let context: NIOSSLContext
    let trust: ServerTrust
    let authorities: TrustAuthorities
    let timeout: TimeAmount

    /// What connections of one client share: its identity, and no trust roots, since ours are asked.
    static func context(_ configuration: TLSConfiguration) throws -> NIOSSLContext {
        var configuration = configuration
        configuration.trustRoots = .certificates([])
        configuration.additionalTrustRoots = []
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// Shakes hands; the channel is closed when that fails.
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

/// Notices how a handshake ends.
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
        // What comes before the handshake is over concerns nobody behind; it fails the connection.
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

/// Why a chain was refused: the TLS library reports its own error, which says less.
private final class Refusal: Sendable {
    private let stored = Mutex<String?>(nil)

    var reason: String? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
