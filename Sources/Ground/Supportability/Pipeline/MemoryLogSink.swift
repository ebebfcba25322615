import Synchronization

/// The newest records, in memory: for a page that shows them, and for tests.
public final class MemoryLogSink: LogSink {
    /// The most records that are kept.
    public let capacity: Int

    private struct Ring {
        var records: [LogRecord] = []
        /// Where the oldest one is, once the ring is full.
        var start = 0
    }

    private let ring = Mutex(Ring())

    /// Makes a sink.
    ///
    /// - Parameter capacity: The most records that are kept, 1,000 if not said; the oldest go first. Less than 1
    ///   counts as 1.
    public init(capacity: Int = 1000) {
        self.capacity = max(1, capacity)
    }

    /// Keeps a record.
    public func write(_ record: LogRecord) {
        ring.withLock { ring in
            if ring.records.count < capacity {
                ring.records.append(record)
            } else {
                ring.records[ring.start] = record
                ring.start = (ring.start + 1) % capacity
            }
        }
    }

    /// The records kept, oldest first.
    public func records(_ query: LogQuery = LogQuery()) -> [LogRecord] {
        query.select(ring.withLock { Array($0.records[$0.start...] + $0.records[..<$0.start]) })
    }

    /// Forgets all records.
    public func removeAll() { ring.withLock { $0 = Ring() } }
}
