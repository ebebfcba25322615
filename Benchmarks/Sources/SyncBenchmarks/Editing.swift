import Foundation
import Measuring
import ODataQuery
import ODataService
import OfflineOData
import Synchronization

/// The time for which an edit waits while its store synchronises: never more than 100 ms, with any data from the
/// service.
enum Editing {
    /// The most milliseconds.
    static let limit = 100.0
    /// An order that only the store has: those of the service are hidden until the first download has ended.
    static let ownOrder = 1 << 40

    /// Edits an order again and again until some work ends.
    ///
    /// - Returns: milliseconds by the clock of the edit that took longest, and how many edits there were.
    static func longestWait(
        _ id: Int, _ store: OfflineStore, during work: @escaping @Sendable () async throws -> Void
    ) async throws -> (milliseconds: Double, edits: Int) {
        // The first one prepares caches for all others.
        try await store.setEmployee(0, of: id)
        let end = End()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { end.reach() }
                try await work()
            }
            var (longest, edits) = (0.0, 0)
            while !end.isReached {
                let taken = try await Taken.by { try await store.setEmployee(edits % 1000, of: id) }
                longest = max(longest, taken.clock)
                edits += 1
                try await Task.sleep(for: .milliseconds(5))
            }
            try await group.waitForAll()
            return (longest * 1000, edits)
        }
    }

    /// Prints the longest wait beside its limit.
    static func report(_ title: String, _ wait: (milliseconds: Double, edits: Int)) {
        require(wait.edits > 3, "\(title): \(wait.edits) edits")
        Figure("longest wait of an edit during \(title)", wait.milliseconds, unit: "ms")
            .print(atMost: limit, "\(wait.edits) edits")
    }

    private final class End: Sendable {
        private let reached = Atomic<Bool>(false)
        var isReached: Bool { reached.load(ordering: .relaxed) }
        func reach() { reached.store(true, ordering: .relaxed) }
    }
}
