import ArgumentParser
import OfflineOData

/// The changes in the error archive that a command settles.
struct SettlingOptions: ParsableArguments {
    /// What becomes of them.
    enum Settlement: String {
        case retried
        case accepted
        case discarded

        fileprivate func settle(_ ids: [Int64], in store: OfflineODataProvider) async throws -> Int {
            switch self {
            case .retried: try await store.retry(ids)
            case .accepted: try await store.accept(ids)
            case .discarded: try await store.discard(ids)
            }
        }

        fileprivate var text: String {
            switch self {
            case .retried: "to push again"
            case .accepted: "taken as made"
            case .discarded: "given up"
            }
        }
    }

    @OptionGroup var store: StoreOptions
    @Argument(help: "The numbers of the changes; all of this kind when left out.") var ids: [Int64] = []
    @Flag(help: "Report as JSON.") var json = false

    /// Settles changes, and says how many.
    ///
    /// - Parameter isMeant: which kind of changes may be chosen; any when left out.
    func settle(_ settlement: Settlement, where isMeant: ((QueuedRequest) -> Bool)? = nil) async throws {
        let count = try await store.reading { provider in
            guard let isMeant else { return try await settlement.settle(ids, in: provider) }
            let meant = try await provider.status().failed.filter(isMeant).map(\.id)
            if let other = ids.first(where: { !meant.contains($0) }) {
                throw Failure(message: "Change #\(other) is not one of these.", advice: "See them all: outpost errors")
            }
            let chosen = ids.isEmpty ? meant : ids
            return chosen.isEmpty ? 0 : try await settlement.settle(chosen, in: provider)
        }
        print(
            json
                ? JSONText([settlement.rawValue: count]).text
                : "\(Terminal.plural(count, "change")) \(settlement.text).")
    }
}
