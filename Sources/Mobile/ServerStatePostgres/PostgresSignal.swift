import Foundation
import PostgresClient
import ServerState
import Synchronization

/// Notices between the nodes by LISTEN and NOTIFY. A node sends at most one message every 50 ms, outside of the
/// transactions that it tells of: a NOTIFY in each commit costs most of the throughput (trap 10).
final class PostgresSignal: Signal {
    private struct State {
        var waiting: Set<SignalTopic> = []
        var isSending = false
        var next = 0
        var open: [Int: AsyncStream<Set<SignalTopic>>.Continuation] = [:]
    }

    static let channel = "outpost_state"
    /// The time between two messages.
    static let interval = Duration.milliseconds(50)
    /// The greatest size of a message of PostgreSQL is 8,000 bytes.
    static let sizeLimit = 7_500

    private let client: PostgresClient
    private let node = UUID().uuidString
    private let state = Mutex(State())
    private let reader = Mutex<Task<Void, Never>?>(nil)

    init(_ client: PostgresClient) {
        self.client = client
        let notices = client.noticeStream()
        client.listen(to: Self.channel)
        reader.withLock { reader in
            reader = Task { [weak self] in
                for await notice in notices { self?.take(notice) }
            }
        }
    }

    deinit { reader.withLock { $0?.cancel() } }

    func send(_ topics: Set<SignalTopic>) async {
        guard !topics.isEmpty else { return }
        deliver(topics)
        let isFirst = state.withLock { state in
            state.waiting.formUnion(topics)
            defer { state.isSending = true }
            return !state.isSending
        }
        guard isFirst else { return }
        // The first notice goes at once, those of the next 50 ms go together.
        Task { [weak self] in
            while let self, await self.sendWaiting() { try? await Task.sleep(for: Self.interval) }
        }
    }

    /// Sends the waiting notices.
    ///
    /// - Returns: `false` if nothing waited: the next notice begins anew.
    private func sendWaiting() async -> Bool {
        let topics = state.withLock { state -> Set<SignalTopic> in
            defer { state.waiting = [] }
            state.isSending = !state.waiting.isEmpty
            return state.waiting
        }
        guard !topics.isEmpty else { return false }
        for payload in SignalText.payloads(topics, from: node) {
            // A lost notice costs a second.
            _ = try? await client.write(
                PostgresStatement("select pg_notify($1, $2)", [.text(Self.channel), .text(payload)]))
        }
        return true
    }

    private func take(_ notice: PostgresNotice) {
        guard case .message(Self.channel, let payload) = notice, let (sender, topics) = SignalText.read(payload),
            sender != node
        else { return }
        deliver(topics)
    }

    private func deliver(_ topics: Set<SignalTopic>) {
        for reader in state.withLock({ Array($0.open.values) }) { reader.yield(topics) }
    }

    func topics() -> AsyncStream<Set<SignalTopic>> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Set<SignalTopic>.self, bufferingPolicy: .bufferingNewest(1000))
        let number = state.withLock { state in
            state.next += 1
            state.open[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.open.removeValue(forKey: number) }
        }
        return stream
    }
}

/// The text of notices: the sender, then a topic in each line.
enum SignalText {
    static func payloads(_ topics: Set<SignalTopic>, from sender: String) -> [String] {
        var payloads: [String] = []
        var text = sender
        for line in topics.map(line).sorted() {
            if text.utf8.count + line.utf8.count + 1 > PostgresSignal.sizeLimit {
                payloads.append(text)
                text = sender
            }
            text += "\n" + line
        }
        return payloads + [text]
    }

    private static func line(_ topic: SignalTopic) -> String {
        switch topic {
        case .feed(let number): "f\(number)"
        case .scope(let name): "s\(name)"
        case .jobs: "j"
        }
    }

    /// Reads a message. Lines of a later build are left out.
    static func read(_ payload: String) -> (sender: String, topics: Set<SignalTopic>)? {
        let lines = payload.split(separator: "\n", omittingEmptySubsequences: false)
        guard let sender = lines.first else { return nil }
        let topics = lines.dropFirst().compactMap { line -> SignalTopic? in
            switch line.first {
            case "f": Int64(line.dropFirst()).map { .feed($0) }
            case "s": .scope(String(line.dropFirst()))
            case "j": .jobs
            default: nil
            }
        }
        return (String(sender), Set(topics))
    }
}
