import ErrorCodes

/// Why a store was not given to another user. Nothing was changed: the previous user is still the current one.
///
/// ```swift
/// do {
///     try await store.users.switch(to: "anna")
/// } catch UserSwitchError.changesWait(let user, let count) {
///     show("\(count) changes of \(user) wait.")
/// }
/// ```
public enum UserSwitchError: Error, Sendable, CustomStringConvertible {
    /// Changes of the previous user wait to be sent, and what was to happen with them was not said.
    case changesWait(previousUser: String, count: Int)
    /// There are drafts of the previous user, or entities of sets that only the store has, which would be lost.
    case localEntitiesRemain(previousUser: String, count: Int)
    /// The forced upload of the previous user's changes failed, or some are refused or in doubt. Let him sign in
    /// again and settle them, or discard them.
    case uploadFailed(previousUser: String, remaining: Int, reason: String)

    /// The code of the older products for all of them, −10425.
    public var code: Int { -10_425 }

    /// Who still has the store.
    public var previousUser: String {
        switch self {
        case .changesWait(let user, _), .localEntitiesRemain(let user, _), .uploadFailed(let user, _, _): user
        }
    }

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .changesWait(let user, let count): "\(count) changes of \(user) wait to be sent."
        case .localEntitiesRemain(let user, let count):
            "\(count) drafts or other entities of \(user) are in this store alone."
        case .uploadFailed(let user, let remaining, let reason):
            "The changes of \(user) could not all be sent (\(remaining) remain): \(reason)"
        }
    }
}

extension UserSwitchError: CodedError {
    /// `offline.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .changesWait: "changes-wait"
            case .localEntitiesRemain: "local-entities-remain"
            case .uploadFailed: "upload-failed"
            }
        return ErrorCode(rawValue: "offline.\(name)")
    }

    /// The changes of the user before have to be decided about.
    public var failureKind: FailureKind { .conflict }
}
