import ErrorCodes

/// Why something cannot be kept, read or removed. No case carries what is kept, nor a key.
public enum PersistenceError: Error, Hashable, Sendable {
    /// The store is encrypted, and it was given no key; see ``PersistentStore/setKey(_:)``.
    case keyMissing(folder: String)
    /// The key does not open the store.
    case wrongKey(folder: String)
    /// The store was made with a passphrase and given a key, or the other way round; `expected` is what it needs.
    case wrongKindOfKey(folder: String, expected: String)
    /// The store is kept under another policy than was said: it is neither converted nor wiped silently.
    case otherPolicy(folder: String, found: StoragePolicy, expected: StoragePolicy)
    /// What says how the store is kept is damaged, or was made by a later version.
    case unknownFormat(path: String)
    /// The store was removed while it was in use.
    case storeRemoved(folder: String)
    /// A name is empty or longer than ``PersistentStore/Limits/nameBytes``.
    case illegalName(bytes: Int, limit: Int)
    /// A value has more bytes than ``PersistentStore/Limits/valueBytes``; a stream has no limit.
    case tooLarge(name: String, bytes: Int, limit: Int)
    /// An item was altered, cut or belongs to another store. The other items are not concerned.
    case damaged(name: String)
    /// A value cannot be encoded; what it holds is not told.
    case unencodable(name: String)
    /// An item holds something else than was asked for.
    case undecodable(name: String, expected: String)
    /// There is something in the folder that the store was to move to.
    case folderInUse(folder: String)
    /// A folder or file lets others in, or belongs to another user.
    case exposed(path: String)
    /// Another process keeps the store busy.
    case busy(folder: String)
    /// The task was cancelled; what was there before is there still.
    case cancelled
    /// The system refused an operation; `code` is its `errno`.
    case system(operation: String, path: String, code: Int32)
    /// The key could not be had from the secret store.
    case keyStore(reason: String)
}

extension PersistenceError: CustomStringConvertible {
    /// One sentence that says what is wrong and, where one can, what to do.
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
    /// `persistence.…`.
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

    /// Another key, another folder, or a later time.
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
