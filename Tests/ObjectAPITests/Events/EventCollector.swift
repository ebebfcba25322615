import ObjectAPI
import Synchronization

/// Collects the events of a package, for tests that look at them later.
final class EventCollector<Package: ObjectPackage>: Sendable {
    private let events = Mutex<[PackageEvent<Package>]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ database: PackageDatabase<Package>) {
        let stream = database.events()
        task.withLock {
            $0 = Task { [weak self] in
                for await event in stream { self?.add(event) }
            }
        }
    }

    deinit { task.withLock { $0?.cancel() } }

    private func add(_ event: PackageEvent<Package>) { events.withLock { $0.append(event) } }

    var all: [PackageEvent<Package>] { events.withLock { $0 } }

    /// The events in words.
    var words: [String] { all.map(Self.word) }

    /// Waits until an event has come, 10 seconds at most, and returns all words.
    func words(through last: String) async throws -> [String] {
        for _ in 0..<10_000 {
            let words = words
            if words.contains(last) { return words }
            try await Task.sleep(for: .milliseconds(1))
        }
        return words
    }

    static func word(_ event: PackageEvent<Package>) -> String {
        switch event {
        case .synchronization(let status, let context): "\(context ?? "-") \(status)"
        case .replaySucceeded(let successes):
            "accepted \(successes.map { "\($0.change.rawValue) \($0.object.entitySet)" }.joined(separator: ", "))"
        case .replayFailed(let failures): "refused \(failures.map { String($0.code) }.joined(separator: ", "))"
        case .operationCompleted: "operation"
        case .imported(let summary): "imported \(summary.inserted) \(summary.updated) \(summary.removed)"
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .recovered: "recovered"
        case .subscriptionEnded(let sets): "ended \(sets.joined(separator: ", "))"
        case .loginFailed(let message): "login failed: \(message)"
        case .overflowed(let count): "overflowed \(count)"
        }
    }
}
