import Synchronization

/// A sink that keeps the newest records in memory, for a log view in an app and for tests.
public final class MemoryLogSink: LogSink {
    /// The maximum number of records.
    public let capacity: Int

    private struct Ring {
        var records: [LogRecord] = []
        /// The index of the oldest record, once the ring is full.
        var start = 0
    }

    private let ring = Mutex(Ring())

    /// Creates a sink.
    ///
    /// - Parameter capacity: The maximum number of records; the oldest are removed first. Values below 1 count
    ///   as 1.
    public init(capacity: Int = 1000) {
        self.capacity = max(1, capacity)
    }

    /// Adds a record and removes the oldest one if the sink is full.
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

    /// Returns the matching records, oldest first.
    public func records(_ query: LogQuery = LogQuery()) -> [LogRecord] {
        query.select(ring.withLock { Array($0.records[$0.start...] + $0.records[..<$0.start]) })
    }

    /// Removes all records.
    public func removeAll() { ring.withLock { $0 = Ring() } }
}
