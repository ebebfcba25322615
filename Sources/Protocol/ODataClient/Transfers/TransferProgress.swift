import ODataHTTP
import Synchronization

/// How far several transfers are, each alone and all together.
///
/// Each transfer gets a listener for its options. What a challenge or a lost connection made void is taken back: the
/// sums may shrink, and never count a byte twice.
///
/// ```swift
/// let progress = TransferProgress()
/// var options = TransferOptions()
/// options.report = progress.listener(expectedUpload: file.length)
/// Task { for await state in progress.updates { bar.fraction = state.fraction ?? 0 } }
/// ```
public final class TransferProgress: Sendable {
    /// The sums at a moment.
    public struct Snapshot: Sendable, Hashable {
        /// Bytes sent so far.
        public var sent: Int64 = 0
        /// Bytes received so far.
        public var received: Int64 = 0
        /// Bytes to be sent in all; `nil` when that of some transfer is not known, or cannot be.
        public var expectedToSend: Int64? = 0
        /// Bytes to be received in all; `nil` when that of some transfer is not known, or cannot be: `Content-Length` says
        /// anything.
        public var expectedToReceive: Int64? = 0
        /// How many transfers have been finished.
        public var finished = 0
        /// How many transfers there are.
        public var transfers = 0

        /// How much of the bytes has gone through, 0 to 1; `nil` where that is not known.
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

    /// Makes one without transfers.
    public init() {}

    /// Adds a transfer.
    ///
    /// - Parameters:
    ///   - expectedUpload: the bytes that it sends, where known beforehand; 0 for none.
    ///   - expectedDownload: the bytes that it receives, where known beforehand.
    /// - Returns: what ``TransferOptions/report`` of the transfer is to be.
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

    /// The sums now.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// The sums each time they change; a slow reader gets the newest. It ends with the object, not with the transfers.
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
