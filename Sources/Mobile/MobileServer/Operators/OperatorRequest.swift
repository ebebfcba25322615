import ODataService
import ServerState

/// The sender of a request to the operators' API.
struct OperatorRequest: Sendable {
    /// The request that the current task answers.
    @TaskLocal static var current: OperatorRequest?

    /// The time for which a repeated sign-in counts.
    static let confirmation = Duration.seconds(600)

    /// The name for the audit: `operator:NAME` or `key:ID`.
    var actor: String
    /// The name of the operator, or the id of the service key.
    var name: String
    /// The role.
    var role: OperatorRole
    /// The only application of a service key; `nil` for all.
    var application: String?
    /// The last time at which the operator showed password and TOTP.
    var confirmedAt: ServerInstant?
    /// The time of the request.
    var now: ServerInstant

    /// The principal for the read model.
    var principal: Principal {
        Principal(name: actor, roles: [role.rawValue], claims: application.map { ["application": $0] } ?? [:])
    }

    /// Refuses a sender with a lesser role.
    func require(_ least: OperatorRole, _ resource: String) throws(ODataError) {
        guard role >= least else {
            throw ODataError(.roleMissing, "\(resource) needs the role \(least.rawValue).", target: resource)
        }
    }

    /// Refuses a sender without a recent sign-in, which wipes, keys and operators need.
    func requireConfirmation() throws(ODataError) {
        guard let confirmedAt, now - confirmedAt <= Self.confirmation else {
            throw ODataError(
                status: 403, code: "ConfirmationRequired",
                message: "Show password and one-time password again at session/confirm.")
        }
    }

    /// Refuses a service key of another application.
    func requireAccess(to application: String) throws(ODataError) {
        guard self.application == nil || self.application == application else {
            throw ODataError(.roleMissing, "The key is for another application.", target: application)
        }
    }
}

/// The least roles for the sets of the operators' API.
enum OperatorRights {
    /// Returns the role that reads a set.
    static func reading(_ set: String) -> OperatorRole {
        switch set {
        case "DirectoryUsers", "Approvals", "Uploads", "LogRecords": .support
        case "Operators", "Secrets", "Audit": .security
        default: .viewer
        }
    }

    /// Returns the role that changes a set; `nil` if nobody does.
    static func changing(_ set: String) -> OperatorRole? {
        switch set {
        case "Settings", "Uploads": .support
        case "Applications", "ConfigurationVersions", "Policies", "DirectoryUsers", "ServiceKeys",
            "SharedDocuments", "Bundles":
            .manager
        case "Operators", "Secrets": .security
        default: nil
        }
    }

    /// Whether changes of a set need a repeated sign-in.
    static func needsConfirmation(_ set: String) -> Bool { ["Operators", "Secrets", "ServiceKeys"].contains(set) }

    /// Returns the role that calls an action.
    static func calling(_ action: String) -> OperatorRole {
        switch action {
        case "Activate": .manager
        case "Reset", "MakeLink": .security
        default: .support
        }
    }

    /// Whether an action needs a repeated sign-in.
    static func needsConfirmation(action: String) -> Bool {
        ["Wipe", "WipeAll", "Approve", "Reset", "MakeLink"].contains(action)
    }
}
