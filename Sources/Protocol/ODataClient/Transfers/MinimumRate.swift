import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// The minimum rate at which the body of a response must arrive. It prevents a peer that sends a byte now and
/// then from blocking a reader.
///
/// Only the time spent waiting for a chunk counts; a reader may pause between two chunks. A peer that sends
/// nothing runs into the timeout of the transport.
public struct MinimumRate: Hashable, Sendable {
    /// The minimum number of bytes in the period.
    public var bytes: Int
    /// The period of waiting in which the bytes must arrive.
    public var time: Duration

    /// The standard rate of 1,024 bytes in 30 seconds.
    public static let standard = MinimumRate(bytes: 1024, within: .seconds(30))

    /// Creates a rate.
    public init(bytes: Int, within time: Duration) {
        self.bytes = bytes
        self.time = time
    }
}

/// Aborts a response whose body arrives more slowly than a ``MinimumRate``.
struct PacedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let rate: MinimumRate

    init(_ base: any HTTPTransport, rate: MinimumRate) {
        self.base = base
        self.rate = rate
    }

    var keepsSession: Bool { base.keepsSession }
    var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let (response, stream) = try await base.send(request, body: body, options: options)
        let pace = Pace(rate)
        let host = request.authority ?? ""
        let paced = ByteStream(length: stream.length) {
            let start = ContinuousClock.now
            guard let chunk = try await stream.next() else { return nil }
            try pace.note(chunk.count, after: ContinuousClock.now - start, host)
            return chunk
        }
        return (response, paced)
    }

    /// The number of bytes received and the time spent waiting.
    private final class Pace: Sendable {
        private let rate: MinimumRate
        private let state = Mutex((waited: Duration.zero, bytes: 0))

        init(_ rate: MinimumRate) { self.rate = rate }

        func note(_ bytes: Int, after waiting: Duration, _ host: String) throws(TransportError) {
            let tooFew = state.withLock { state -> Int? in
                state.waited += waiting
                state.bytes += bytes
                guard state.waited >= rate.time else { return nil }
                defer { state = (.zero, 0) }
                return state.bytes < rate.bytes ? state.bytes : nil
            }
            guard let tooFew else { return }
            throw .tooSlow(
                host: host,
                reason: "\(tooFew) bytes came in \(rate.time.components.seconds) seconds, and at least \(rate.bytes) "
                    + "must.")
        }
    }
}
