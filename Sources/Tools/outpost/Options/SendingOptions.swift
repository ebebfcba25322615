import ArgumentParser
import ODataModel
import OfflineOData
import ToolLanguage

/// The options for sending changes.
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
        help: .text(
            """
            The policy for conflicts. 'fail' puts the change into the error archive. 'merge' combines both changes \
            unless they affect the same property. 'mine' sends the change again; 'theirs' gives it up. \
            SET=policy is for one entity set. May be repeated.
            """, valueName: "policy"))
    var onConflict: [Choice] = []

    @Flag(
        help: .text(
            "Combine the changes of an entity into one request, and omit entities that were created and deleted."))
    var fold = false

    @Option(
        help: .text(
            """
            A property with unique values of your own. If the response to a creation is lost, the tool finds the \
            entity by this property. May be repeated.
            """, valueName: "set=property"))
    var correlate: [String] = []

    @Flag(
        name: .customLong("from-copy"),
        help: .text("Send the changes of a copied or restored clone, although another copy may have sent the same."))
    var fromCopy = false

    mutating func validate() throws { _ = try uploadOptions }

    /// Returns whether a held queue is sent; a person at a terminal is asked.
    func sendsHeldQueue(of store: OfflineStore) async throws -> Bool {
        guard !fromCopy, let hold = try await store.changes.hold() else { return fromCopy }
        // Without an answer, the error of the upload names the next step.
        guard let answer = Terminal.confirm("\(LibraryText.text(hold.description)) Send them all the same?") else {
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

    /// Sets the policies of single entity sets in a store.
    ///
    /// - Throws: ``Failure`` for an entity set that the service does not have.
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
                    advice: "List the entity sets: outpost status DIR", status: .misused)
            }
            options.sync.conflictPolicies[set] = choice.policy.policy
        }
        try store.setOptions(options)
    }

    /// Checks that the properties of `--correlate` exist.
    func requireProperties(in model: EntityDataModel) throws {
        for (set, property) in try uploadOptions.correlationProperties.sorted(by: { $0.key < $1.key }) {
            guard let shape = model.shape(ofSet: set) else {
                throw Failure(
                    message: "--correlate: the service has no entity set \(set).",
                    advice: "List the entity sets: outpost status DIR", status: .misused)
            }
            guard shape.ordinal(of: property) != nil else {
                throw Failure(
                    message: "--correlate: \(set) has no property \(property).",
                    advice: "List its properties: outpost query DIR '\(set)?$top=1'", status: .misused)
            }
        }
    }
}
