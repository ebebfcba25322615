import Measuring
import ODataService
import OfflineOData

/// Changes that wait to be uploaded.
enum Uploads {
    /// Makes changes of so many rows, each by itself or so many in one transaction.
    static func queue(_ changes: Int, atOnce: Int, in store: OfflineStore) async throws {
        for first in stride(from: 0, to: changes, by: atOnce) {
            guard atOnce > 1 else {
                try await store.setEmployee(first % 7 + 200, of: first)
                continue
            }
            try await store.changes.transaction { transaction in
                for id in first..<first + atOnce {
                    try transaction.update("Orders(\(id))", ["Employee": .integer(Int64(id % 7 + 100))])
                }
            }
        }
    }
}

/// How soon an observer sees an edit.
enum Observing {
    /// - Returns: milliseconds by the clock from a hundred edits to the elements that show them, the least first.
    static func latencies(_ store: OfflineStore) async throws -> [Double] {
        var iterator = store.observe.results(of: try .init(parsing: "Orders(7)")).makeAsyncIterator()
        _ = try await iterator.next()
        var times: [Double] = []
        for number in 0..<100 {
            let taken = try await Taken.by {
                try await store.setEmployee(1000 + number, of: 7)
                _ = try await iterator.next()
            }
            times.append(taken.clock * 1000)
        }
        return times.sorted()
    }
}
