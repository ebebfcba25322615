import ArgumentParser
import ODataModel
import OfflineOData

/// How changes are sent.
struct SendingOptions: ParsableArguments {
    /// The policies that need no program.
    enum Policy: String, ExpressibleByArgument, CaseIterable {
        case fail, mine, theirs
    }

    @Option(
        help: ArgumentHelp(
            "When somebody else has changed the entity: 'fail' puts the change into the error archive, "
                + "'mine' sends it again on top, 'theirs' gives it up."))
    var conflicts = Policy.fail

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
    func sendsHeldQueue(of store: OfflineODataProvider) async throws -> Bool {
        guard !fromCopy, let hold = try await store.queueHold() else { return fromCopy }
        // Without an answer, the upload says what there is to do.
        guard let answer = Terminal.confirm(TerminalText("\(hold.description) Send them all the same?")) else {
            return false
        }
        guard answer else { throw QuietExit(status: .failed) }
        return true
    }

    var uploadOptions: UploadOptions {
        get throws {
            var options = UploadOptions(conflictPolicy: policy, foldsRequests: fold)
            options.correlationProperties = try NamedValue.dictionary(
                correlate, option: "--correlate", example: "Orders=Number")
            return options
        }
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

    private var policy: ConflictPolicy {
        switch conflicts {
        case .fail: .fail
        case .mine: .clientWins
        case .theirs: .serverWins
        }
    }
}
