import Synchronization

/// Notices within one process.
final class LocalSignal: Signal {
    private struct Readers {
        var next = 0
        var open: [Int: AsyncStream<Set<SignalTopic>>.Continuation] = [:]
    }

    private let readers = Mutex(Readers())

    func send(_ topics: Set<SignalTopic>) async {
        guard !topics.isEmpty else { return }
        for reader in readers.withLock({ Array($0.open.values) }) { reader.yield(topics) }
    }

    func topics() -> AsyncStream<Set<SignalTopic>> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Set<SignalTopic>.self, bufferingPolicy: .bufferingNewest(1000))
        let number = readers.withLock { readers in
            readers.next += 1
            readers.open[readers.next] = continuation
            return readers.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.readers.withLock { _ = $0.open.removeValue(forKey: number) }
        }
        return stream
    }
}
