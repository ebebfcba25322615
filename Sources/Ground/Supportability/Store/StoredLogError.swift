import ErrorCodes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An error of opening, reading or writing a stored log.
public enum StoredLogError: Error, Hashable, Sendable {
    /// The system refused an operation on a file; `code` is its `errno`.
    case system(operation: String, path: String, code: Int32)
    /// The log is encrypted, but no ``LogSealing`` was passed.
    case keyMissing(folder: String)
    /// The log is encrypted with another key.
    case wrongKey(folder: String)
    /// The log is not encrypted, but a ``LogSealing`` was passed. The log is neither encrypted nor erased
    /// silently.
    case notSealed(folder: String)
    /// The file with the storage format is damaged or from a later version.
    case unknownFormat(path: String)
    /// Other processes used the log for longer than ``StoredLog/lockPatience``.
    case busy(folder: String)
    /// A record could not be encoded or sealed.
    case unwritable
    /// The limits are invalid; `expected` describes valid ones.
    case invalidLimits(expected: String)
}

extension StoredLogError: CustomStringConvertible {
    /// A description of the problem and, if there is one, of its remedy.
    public var description: String {
        switch self {
        case .system(let operation, let path, let code):
            "\(operation) \(path) failed: \(String(cString: strerror(code)))"
        case .keyMissing(let folder): "the log in \(folder) is encrypted, and no key was given"
        case .wrongKey(let folder): "the log in \(folder) is encrypted under another key"
        case .notSealed(let folder): "the log in \(folder) is not encrypted: open it without a key, or remove it"
        case .unknownFormat(let path): "\(path) is damaged, or was made by a later version"
        case .busy(let folder): "other processes keep the log in \(folder) busy"
        case .unwritable: "a log record could not be written"
        case .invalidLimits(let expected): "the limits of a log must be \(expected)"
        }
    }
}

extension StoredLogError: CodedError {
    /// `log.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .system: "system"
            case .keyMissing: "key-missing"
            case .wrongKey: "wrong-key"
            case .notSealed: "not-encrypted"
            case .unknownFormat: "unknown-format"
            case .busy: "busy"
            case .unwritable: "unwritable"
            case .invalidLimits: "limits"
            }
        return ErrorCode(rawValue: "log.\(name)")
    }

    /// Another key, another folder, or a later time.
    public var failureKind: FailureKind {
        switch self {
        case .keyMissing, .wrongKey: .credentials
        case .unknownFormat: .damaged
        case .busy: .transient
        case .system, .unwritable: .device
        case .notSealed, .invalidLimits: .request
        }
    }
}
