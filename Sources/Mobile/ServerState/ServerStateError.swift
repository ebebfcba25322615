import ErrorCodes

/// An error of an operation on the state of a mobile server.
public enum ServerStateError: Error, Hashable, Sendable {
    /// The row does not exist.
    case missing(kind: String, name: String)
    /// A row with this name exists.
    case alreadyExists(kind: String, name: String)
    /// The row was changed: its ETag is not that of the caller.
    case changed(kind: String, name: String)
    /// The setting is read-only for devices, so nothing of the call was written (70005).
    case settingNotEditable(name: String)
    /// A value exceeds a limit.
    case limitExceeded(name: String, limit: Int)
    /// A later build has changed the tables.
    case newerSchema(found: Int, known: Int)
    /// The tables have not been migrated to this build.
    case olderSchema(found: Int, known: Int)
    /// A sealed value cannot be opened: it was moved, changed, or sealed under other keys.
    case sealedValue(table: String, key: String)
    /// The state cannot be reached, or is closed.
    case unavailable(reason: String)
    /// The files are damaged.
    case damaged(reason: String)
    /// The driver does not have this operation.
    case unsupported(operation: String)
}

extension ServerStateError: CustomStringConvertible {
    /// A description of the problem without secrets.
    public var description: String {
        switch self {
        case .missing(let kind, let name): "There is no \(kind) '\(name)'."
        case .alreadyExists(let kind, let name): "The \(kind) '\(name)' exists already."
        case .changed(let kind, let name): "The \(kind) '\(name)' was changed by somebody else."
        case .settingNotEditable(let name): "The setting '\(name)' is read-only, so no setting was changed."
        case .limitExceeded(let name, let limit): "\(name) exceeds the limit of \(limit)."
        case .newerSchema(let found, let known):
            "The tables have version \(found), and this build knows versions up to \(known)."
        case .olderSchema(let found, let known):
            "The tables have version \(found), and this build needs version \(known)."
        case .sealedValue(let table, let key): "The sealed value '\(key)' of \(table) cannot be opened."
        case .unavailable(let reason): "The state of the server is not available: \(reason)"
        case .damaged(let reason): "The state of the server is damaged: \(reason)"
        case .unsupported(let operation): "This state cannot \(operation)."
        }
    }
}

extension ServerStateError: CodedError {
    /// An error code of the form `state.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .missing: "missing"
            case .alreadyExists: "already-exists"
            case .changed: "changed"
            case .settingNotEditable: "setting-not-editable"
            case .limitExceeded: "limit-exceeded"
            case .newerSchema: "newer-schema"
            case .olderSchema: "older-schema"
            case .sealedValue: "sealed-value"
            case .unavailable: "unavailable"
            case .damaged: "damaged"
            case .unsupported: "unsupported"
            }
        return ErrorCode(rawValue: "state.\(name)")
    }

    /// The kind of remedy.
    public var failureKind: FailureKind {
        switch self {
        case .missing: .missing
        case .alreadyExists, .changed: .conflict
        case .settingNotEditable, .limitExceeded: .request
        case .newerSchema, .olderSchema, .unsupported: .unsupported
        case .sealedValue, .damaged: .damaged
        case .unavailable: .transient
        }
    }
}
