import ODataHTTP
import Synchronization

/// The combined progress of several transfers.
///
/// Each transfer receives a listener for its options. Bytes of a challenged or interrupted attempt are
/// subtracted: the sums may decrease, and no byte counts twice.
///
/// ```swift
/// let progress = TransferProgress()
/// var options = TransferOptions()
/// options.report = progress.listener(expectedUpload: 1_048_576)
/// Task { for await state in progress.updates { show(state.fraction ?? 0) } }
/// ```
public final class TransferProgress: Sendable {
    /// The sums of all transfers at one time.
    public struct Snapshot: Sendable, Hashable {
        /// The number of bytes sent so far.
        public var sent: Int64 = 0
        /// The number of bytes received so far.
        public var received: Int64 = 0
        /// The total number of bytes to send; `nil` if it is unknown for a transfer or too large.
        public var expectedToSend: Int64? = 0
        /// The total number of bytes to receive; `nil` if it is unknown for a transfer or too large, since
        /// `Content-Length` is not reliable.
        public var expectedToReceive: Int64? = 0
        /// The number of finished transfers.
        public var finished = 0
        /// The number of all transfers.
        public var transfers = 0

        /// The fraction of transferred bytes, from 0 to 1; `nil` if a total is unknown.
        public var fraction: Double? {
            guard let expectedToSend, let expectedToReceive else { return nil }
            let expected = Double(expectedToSend) + Double(expectedToReceive)
            return expected > 0 ? min(1, (Double(sent) + Double(received)) / expected) : nil
        }
    }

    fileprivate struct Transfer {
        var sent: Int64 = 0
        var received: Int64 = 0
        var expectedToSend: Int64?
        var expectedToReceive: Int64?
        var isFinished = false
    }

    fileprivate struct State {
        var transfers: [Transfer] = []
        var listeners: [AsyncStream<Snapshot>.Continuation] = []
    }

    private let state = Mutex(State())

    /// Creates an object without transfers.
    public init() {}

    /// Adds a transfer.
    ///
    /// - Parameters:
    ///   - expectedUpload: The number of bytes to send, if it is known in advance; 0 for none.
    ///   - expectedDownload: The number of bytes to receive, if it is known in advance.
    /// - Returns: The closure to set as ``TransferOptions/report`` of the transfer.
    public func listener(
        expectedUpload: Int64? = 0, expectedDownload: Int64? = nil
    ) -> @Sendable (TransferEvent) -> Void {
        let index = state.withLock { state in
            state.transfers.append(
                Transfer(expectedToSend: expectedUpload, expectedToReceive: expectedDownload))
            return state.transfers.count - 1
        }
        return { event in
            let change = self.state.withLock { state -> (Snapshot, [AsyncStream<Snapshot>.Continuation])? in
                switch event {
                case .sent(let bytes, let total):
                    state.transfers[index].sent = bytes
                    if let total, total >= 0 { state.transfers[index].expectedToSend = total }
                case .received(let bytes, let total):
                    state.transfers[index].received = bytes
                    if let total, total >= 0 { state.transfers[index].expectedToReceive = total }
                case .interrupted:
                    state.transfers[index].sent = 0
                    state.transfers[index].received = 0
                case .lastByte:
                    state.transfers[index].isFinished = true
                    state.transfers[index].expectedToReceive = state.transfers[index].received
                default: return nil
                }
                return (state.snapshot, state.listeners)
            }
            guard let (snapshot, listeners) = change else { return }
            for listener in listeners { listener.yield(snapshot) }
        }
    }

    /// The current sums.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// The sums after each change; a slow reader receives only the newest. The stream ends when the object is
    /// deallocated, not with the transfers.
    public var updates: AsyncStream<Snapshot> {
        let (stream, continuation) = AsyncStream.makeStream(of: Snapshot.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(
            state.withLock { state in
                state.listeners.append(continuation)
                return state.snapshot
            })
        return stream
    }

    deinit {
        for listener in state.withLock({ $0.listeners }) { listener.finish() }
    }
}

extension TransferProgress.State {
    fileprivate var snapshot: TransferProgress.Snapshot {
        var sum = TransferProgress.Snapshot()
        for transfer in transfers {
            sum.transfers += 1
            sum.finished += transfer.isFinished ? 1 : 0
            sum.sent += transfer.sent
            sum.received += transfer.received
            sum.expectedToSend = Self.sum(sum.expectedToSend, transfer.expectedToSend)
            sum.expectedToReceive = Self.sum(sum.expectedToReceive, transfer.expectedToReceive)
        }
        return sum
    }

    private static func sum(_ sizes: Int64?, _ size: Int64?) -> Int64? {
        guard let sizes, let size else { return nil }
        let (sum, isTooLarge) = sizes.addingReportingOverflow(size)
        return isTooLarge ? nil : sum
    }
}
