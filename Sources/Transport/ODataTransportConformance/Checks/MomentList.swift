import ODataHTTP
import Synchronization

/// Records the timings that a transport reports.
final class MomentList: Sendable {
    private let moments = Mutex<[(name: String, at: ContinuousClock.Instant)]>([])

    var names: [String] { moments.withLock { $0.map(\.name) } }

    var isInOrder: Bool {
        let times = moments.withLock { $0.map(\.at) }
        return zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }
    }

    var add: @Sendable (TransferEvent) -> Void {
        { event in
            switch event {
            case .connected(let time): self.append("connected", time)
            case .secured(let time): self.append("secured", time)
            case .reusedConnection(let time): self.append("reused", time)
            case .requestSent(let time): self.append("sent", time)
            case .firstByte(let time): self.append("first", time)
            case .lastByte(let time): self.append("last", time)
            default: break
            }
        }
    }

    private func append(_ name: String, _ time: ContinuousClock.Instant) {
        moments.withLock { $0.append((name, time)) }
    }
}
