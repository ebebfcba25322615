import ErrorCodes

/// The reason why an item cannot be stored, read or removed. No case contains stored content or a key.
public enum PersistenceError: Error, Hashable, Sendable {
    /// The store is encrypted, but no key was set; see ``PersistentStore/setKey(_:)``.
    case keyMissing(folder: String)
    /// The key does not match the store.
    case wrongKey(folder: String)
    /// The store was created with a passphrase but opened with a key, or vice versa; `expected` is the required
    /// kind.
    case wrongKindOfKey(folder: String, expected: String)
    /// The policy differs from that of the store, which is neither converted nor erased implicitly.
    case otherPolicy(folder: String, found: StoragePolicy, expected: StoragePolicy)
    /// The description of the store is damaged, or was written by a later version.
    case unknownFormat(path: String)
    /// The store was removed while it was in use.
    case storeRemoved(folder: String)
    /// A name is empty or longer than ``PersistentStore/Limits/nameBytes``.
    case illegalName(bytes: Int, limit: Int)
    /// A value has more than ``PersistentStore/Limits/valueBytes`` bytes; a stream has no limit.
    case tooLarge(name: String, bytes: Int, limit: Int)
    /// An item was altered or truncated, or belongs to another store. Other items are not affected.
    case damaged(name: String)
    /// A value cannot be encoded. Its content is not included.
    case unencodable(name: String)
    /// An item does not contain a value of the expected type.
    case undecodable(name: String, expected: String)
    /// The destination folder of the store is not empty.
    case folderInUse(folder: String)
    /// A folder or file is accessible to other users, or belongs to another user.
    case exposed(path: String)
    /// Another process has locked the store.
    case busy(folder: String)
    /// The task was cancelled; the previous content is unchanged.
    case cancelled
    /// The system reported an error; `code` is its `errno`.
    case system(operation: String, path: String, code: Int32)
    /// The secret store did not provide the key.
    case keyStore(reason: String)
}

extension PersistenceError: CustomStringConvertible {
    /// A sentence that explains the error and, if possible, the remedy.
    public var description: String {
        switch self {
        case .keyMissing(let folder): "the store in \(folder) is encrypted, and has no key"
        case .wrongKey(let folder): "the key does not open the store in \(folder)"
        case .wrongKindOfKey(let folder, let expected): "the store in \(folder) is opened by a \(expected)"
        case .otherPolicy(let folder, let found, let expected):
            "the store in \(folder) is kept as \(found.rawValue), not as \(expected.rawValue): change its policy first"
        case .unknownFormat(let path): "\(path) is damaged, or was made by a later version"
        case .storeRemoved(let folder): "the store in \(folder) was removed"
        case .illegalName(let bytes, let limit): "a name has 1 to \(limit) bytes, this one \(bytes)"
        case .tooLarge(let name, let bytes, let limit):
            "\(name) has \(bytes) bytes; the limit is \(limit), beyond which it has to be a stream"
        case .damaged(let name): "\(name) is damaged"
        case .unencodable(let name): "\(name) cannot be encoded"
        case .undecodable(let name, let expected): "\(name) is not \(expected)"
        case .folderInUse(let folder): "there is something in \(folder) already"
        case .exposed(let path): "\(path) is open to others; only its owner may have access"
        case .busy(let folder): "another process keeps the store in \(folder) busy"
        case .cancelled: "cancelled"
        case .system(let operation, let path, let code): "\(operation) of \(path) failed (errno \(code))"
        case .keyStore(let reason): reason
        }
    }
}

extension PersistenceError: CodedError {
    /// The code `persistence.` with the name of the error, such as `persistence.wrong-key`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .keyMissing: "key-missing"
            case .wrongKey: "wrong-key"
            case .wrongKindOfKey: "wrong-kind-of-key"
            case .otherPolicy: "other-policy"
            case .unknownFormat: "unknown-format"
            case .storeRemoved: "removed"
            case .illegalName: "illegal-name"
            case .tooLarge: "too-large"
            case .damaged: "damaged"
            case .unencodable: "unencodable"
            case .undecodable: "undecodable"
            case .folderInUse: "folder-in-use"
            case .exposed: "exposed"
            case .busy: "busy"
            case .cancelled: "cancelled"
            case .system: "system"
            case .keyStore: "key-store"
            }
        return ErrorCode(rawValue: "persistence.\(name)")
    }

    /// The kind of failure, such as credentials for a key or device for a folder.
    public var failureKind: FailureKind {
        switch self {
        case .keyMissing, .wrongKey, .wrongKindOfKey: .credentials
        case .storeRemoved: .missing
        case .damaged, .unknownFormat: .damaged
        case .busy: .transient
        case .cancelled: .cancelled
        case .exposed, .system, .keyStore: .device
        default: .request
        }
    }
}
