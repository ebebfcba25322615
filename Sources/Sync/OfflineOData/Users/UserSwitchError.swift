import ErrorCodes

/// The reason for which a store was not handed over to another user. Nothing was changed: the previous user is
/// still the current one.
///
/// ```swift
/// do {
///     try await store.users.switch(to: "anna")
/// } catch UserSwitchError.changesWait(let user, let count) {
///     show("\(count) changes of \(user) wait.")
/// }
/// ```
public enum UserSwitchError: Error, Sendable, CustomStringConvertible {
    /// The previous user has pending changes, and no treatment was given for them.
    case changesWait(previousUser: String, count: Int)
    /// There are drafts of the previous user, or entities of client-only sets, which would be lost.
    case localEntitiesRemain(previousUser: String, count: Int)
    /// The upload of the previous user's changes failed, or some were refused or have an unknown outcome. Let the
    /// user sign in again and settle them, or discard them.
    case uploadFailed(previousUser: String, remaining: Int, reason: String)

    /// The code of the older products for all of them, −10425.
    public var code: Int { -10_425 }

    /// The user who still has the store.
    public var previousUser: String {
        switch self {
        case .changesWait(let user, _), .localEntitiesRemain(let user, _), .uploadFailed(let user, _, _): user
        }
    }

    /// The fault and its remedy.
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

    /// The changes of the previous user need a decision.
    public var failureKind: FailureKind { .conflict }
}
