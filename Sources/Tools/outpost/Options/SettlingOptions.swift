import ArgumentParser
import ODataModel
import ODataQuery
import OfflineOData
import ToolLanguage

/// The changes in the error archive that a command settles.
struct SettlingOptions: ParsableArguments {
    /// The outcome of settling changes.
    enum Settlement: String {
        case retried
        case accepted
        case discarded

        fileprivate func settle(
            _ ids: [Int64], keys: [Int64: EntityKey], in store: OfflineStore
        ) async throws -> Int {
            switch self {
            case .retried: try await store.changes.retry(ids)
            case .accepted: try await store.changes.accept(ids, keys: keys)
            case .discarded: try await store.changes.discard(ids)
            }
        }

        fileprivate var text: TerminalText {
            switch self {
            case .retried: "to push again"
            case .accepted: "taken as made"
            case .discarded: "given up"
            }
        }
    }

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The numbers of the changes; the default is all of this kind.")) var ids: [Int64] = []
    @Flag(help: .text("Report as JSON.")) var json = false

    /// Settles changes and prints their number.
    ///
    /// - Parameters:
    ///   - keys: the keys that the service gave to created entities.
    ///   - isMeant: whether a change may be chosen; `nil` allows every change.
    func settle(
        _ settlement: Settlement, keys: GivenKeys? = nil, where isMeant: ((QueuedRequest) -> Bool)? = nil
    ) async throws {
        let count = try await store.reading { provider in
            let failed = try await provider.changes.archived()
            let keys = try keys?.keys(of: failed, model: provider.model) ?? [:]
            guard let isMeant else { return try await settlement.settle(ids, keys: keys, in: provider) }
            let meant = failed.filter(isMeant).map(\.id)
            if let other = ids.first(where: { !meant.contains($0) }) {
                throw Failure(
                    message: "Change #\(other) is not one of these.",
                    advice: "See them all: outpost changes DIR --failed")
            }
            let chosen = ids.isEmpty ? meant : ids
            return chosen.isEmpty ? 0 : try await settlement.settle(chosen, keys: keys, in: provider)
        }
        print(
            json
                ? JSONText([settlement.rawValue: count]).text
                : "\(Terminal.plural(count, "change")) \(settlement.text).")
    }
}

/// The keys that the service gave to created entities after a lost response.
struct GivenKeys: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: .text(
            """
            The key that the service gave to the entity of change ID, as in a URL: 4=10248 or 4='ALFKI'. May be \
            repeated.
            """, valueName: "ID=key"))
    var texts: [String] = []

    mutating func validate() throws { _ = try pairs }

    private var pairs: [String: String] {
        get throws { try NamedValue.dictionary(texts, option: "--key", example: "4=10248") }
    }

    /// Returns the keys by the number of their change.
    ///
    /// - Throws: ``Failure`` for a number that no change has, and for text that is no key of the entity set.
    fileprivate func keys(of requests: [QueuedRequest], model: EntityDataModel) throws -> [Int64: EntityKey] {
        var keys: [Int64: EntityKey] = [:]
        for (number, text) in try pairs {
            guard let id = Int64(number), let request = requests.first(where: { $0.id == id }) else {
                throw Failure(
                    message: "There is no change #\(number) to settle.",
                    advice: "See them all: outpost changes DIR --failed")
            }
            let address = "\(request.entitySet)(\(text))"
            let bound = try? Binder(model: model).bind(ODataURL(parsing: address))
            guard case .key(let key)? = bound?.resource.steps.last else {
                throw Failure(message: "'\(text)' is no key of \(request.entitySet).", status: .misused)
            }
            keys[id] = key
        }
        return keys
    }
}
