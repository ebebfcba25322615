import ArgumentParser
import ODataModel
import OfflineOData

/// How changes are sent.
struct SendingOptions: ParsableArguments {
    /// The policies that need no program.
    enum Policy: String, CaseIterable {
        case fail, merge, mine, theirs

        var policy: ConflictPolicy {
            switch self {
            case .fail: .fail
            case .merge: .merge
            case .mine: .clientWins
            case .theirs: .serverWins
            }
        }
    }

    /// A policy, for all entity sets or for one.
    struct Choice: ExpressibleByArgument {
        var set: String?
        var policy: Policy

        init?(argument: String) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let policy = parts.last.flatMap({ Policy(rawValue: String($0)) }), parts.first?.isEmpty == false
            else { return nil }
            self.policy = policy
            set = parts.count == 2 ? String(parts[0]) : nil
        }

        static var allValueStrings: [String] { Policy.allCases.map(\.rawValue) }
    }

    @Option(
        name: [.customLong("on-conflict"), .customLong("conflicts")],
        help: ArgumentHelp(
            "When somebody else has changed the entity: 'fail' puts the change into the error archive, 'merge' puts both "
                + "together unless both changed the same property, 'mine' sends it again on top, 'theirs' gives it up; for "
                + "one entity set, SET=policy; may be repeated.", valueName: "policy"))
    var onConflict: [Choice] = []

    @Flag(help: "Send one request for several changes of an entity, and none for what was made and deleted.")
    var fold = false

    @Option(
        help: ArgumentHelp(
            "A property whose values are unique and given by you: where the answer to a creation was lost, the entity "
                + "is looked for by it instead of being in doubt; may be repeated.", valueName: "set=property"))
    var correlate: [String] = []

    @Flag(
        name: .customLong("from-copy"),
        help: "Send the changes of a copied or restored clone, although another copy may have sent the same.")
    var fromCopy = false

    mutating func validate() throws { _ = try uploadOptions }

    /// Whether the queue is to be sent although it is held; a person who is there is asked.
    func sendsHeldQueue(of store: OfflineStore) async throws -> Bool {
        guard !fromCopy, let hold = try await store.changes.hold() else { return fromCopy }
        // Without an answer, the upload says what there is to do.
        guard let answer = Terminal.confirm(TerminalText("\(hold.description) Send them all the same?")) else {
            return false
        }
        guard answer else { throw QuietExit(status: .failed) }
        return true
    }

    var uploadOptions: UploadOptions {
        get throws {
            let policy = onConflict.last { $0.set == nil }?.policy ?? .fail
            var options = UploadOptions(conflictPolicy: policy.policy, foldsRequests: fold)
            options.correlationProperties = try NamedValue.dictionary(
                correlate, option: "--correlate", example: "Orders=Number")
            return options
        }
    }

    /// Gives a store the policies of single entity sets.
    ///
    /// - Throws: ``Failure`` for a set that the service does not have.
    func apply(to store: OfflineStore) throws {
        var options = store.options
        for choice in onConflict {
            guard let set = choice.set else { continue }
            // A contained collection is named by its path.
            let outer = String(set.prefix { $0 != "/" })
            let container = store.serviceModel.container
            let names = container.entitySets.map(\.name) + container.singletons.map(\.name)
            guard names.contains(outer) else {
                throw Failure(
                    message: "--on-conflict: the service has no entity set \(set).",
                    advice: "See what it has with: outpost status DIR", status: .misused)
            }
            options.sync.conflictPolicies[set] = choice.policy.policy
        }
        try store.setOptions(options)
    }

    /// Makes sure that the properties of `--correlate` are there.
    func requireProperties(in model: EntityDataModel) throws {
        for (set, property) in try uploadOptions.correlationProperties.sorted(by: { $0.key < $1.key }) {
            guard let shape = model.shape(ofSet: set) else {
                throw Failure(
                    message: "--correlate: the service has no entity set \(set).",
                    advice: "See what it has with: outpost status DIR", status: .misused)
            }
            guard shape.ordinal(of: property) != nil else {
                throw Failure(
                    message: "--correlate: \(set) has no property \(property).",
                    advice: "See what it has with: outpost query DIR '\(set)?$top=1'", status: .misused)
            }
        }
    }
}
