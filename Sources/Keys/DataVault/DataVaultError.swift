import ErrorCodes

/// An error of a secret store or a vault.
///
/// No case contains a secret, so errors may be logged unchanged.
///
/// ```swift
/// do {
///     try await vault.unlock(VaultCredentials(password: password))
/// } catch DataVaultError.wrongPassword(_, let attemptsLeft) {
///     show("Wrong password.", attemptsLeft as Any)
/// }
/// ```
public enum DataVaultError: Error, Equatable, Sendable {
    /// A name is empty, too long, or has an illegal character at `position`; see ``SecretName``.
    case illegalName(String, position: Int)
    /// A secret is longer than ``DataVaultLimits/maximumSecretByteCount`` bytes.
    case tooLong(name: String, bytes: Int)
    /// A secret or a vault with this name already exists.
    case alreadyExists(name: String)
    /// The secret is not a key.
    case notAKey(name: String)
    /// The secret was sealed with another master key, or altered; see ``SealedSecretStore``.
    case unsealable(name: String)
    /// A file or folder is accessible to other users, or belongs to another user; `mode` is its permissions.
    ///
    /// The permissions are not repaired silently, because the secret may have been read. Set them with `chmod
    /// 600` (for a folder, `chmod 700`), or better, replace the secret.
    case exposed(path: String, mode: UInt32)
    /// The path leads to a symbolic link, a folder, or another object that is not a regular file.
    case notAFile(path: String)
    /// The system refused an operation; `code` is its `errno` (in the keychain, its status).
    case system(operation: String, path: String, code: Int32)
    /// No home folder exists for secrets; pass a folder explicitly.
    case noHome

    /// No vault has this name: it never existed, a process deleted it, or it was destroyed.
    case noVault(name: String)
    /// The vault is locked: by ``Vault/lock()``, by its time-out, or because another process changed its
    /// password or policy.
    case locked(name: String)
    /// The password, the salt or both are wrong. `attemptsLeft` is the number of further wrong attempts after
    /// which the vault is destroyed; `nil` without a limit.
    case wrongPassword(name: String, attemptsLeft: Int?)
    /// This attempt exceeded the limit: the vault was destroyed and its content is lost.
    case destroyed(name: String)
    /// The password violates the vault's policy. After such an unlocking the vault stays locked; call
    /// ``Vault/changePassword(from:to:)``. There is at least one violation; violations are ordered by their
    /// codes.
    case incompatiblePassword(name: String, [PasswordViolation])
    /// The operation needs a password, but none was passed.
    case emptyPassword(name: String)
    /// A number of a policy, a time-out or a limit is negative.
    case negativeNumber(field: String, value: Int)
    /// The name of a value is empty or longer than ``DataVaultLimits/maximumValueNameByteCount`` bytes.
    case illegalValueName(bytes: Int)
    /// The vault would hold more than ``DataVaultLimits/maximumVaultByteCount`` bytes.
    case full(name: String, bytes: Int)
    /// The key store does not have the keys of this vault. The file comes from another machine or account, or
    /// the keys were removed.
    case keysMissing(name: String)
    /// The vault's file is older than the last change of its password or policy: an old copy was restored.
    case olderCopy(name: String)
    /// The vault's file is malformed at a byte offset, or was altered.
    case damaged(path: String, offset: Int, expected: String)
    /// The vault was created in a later version of the format.
    case unsupportedFormat(path: String, version: Int)
    /// Another process held the vault's lock for longer than ``DataVaultLimits/lockPatience`` seconds.
    case busy(name: String)
    /// The task was cancelled while it waited for the vault's lock; nothing was changed.
    case cancelled

    /// The legacy code of the first policy violation, 50 to 57; `nil` for every other error.
    public var code: Int? {
        guard case .incompatiblePassword(_, let violations) = self else { return nil }
        return violations.first?.rawValue
    }

    /// Whether an argument is invalid in every state of the vault (`INVALID_ARG`).
    public var isInvalidArgument: Bool {
        switch self {
        case .illegalName, .alreadyExists, .emptyPassword, .negativeNumber, .illegalValueName: true
        default: false
        }
    }
}

extension DataVaultError: CustomStringConvertible {
    /// A description of the problem and, if there is one, of its remedy.
    public var description: String {
        switch self {
        case .illegalName(let name, let position):
            "\(name.debugDescription) is not a name for a secret (character \(position)): letters, digits, . _ - only"
        case .tooLong(let name, let bytes):
            "the secret \(name) has \(bytes) bytes; the limit is \(DataVaultLimits.maximumSecretByteCount)"
        case .alreadyExists(let name): "there is a secret or a vault named \(name) already"
        case .notAKey(let name): "the secret \(name) is not a key"
        case .unsealable(let name): "the secret \(name) was sealed under another master key, or altered"
        case .exposed(let path, let mode):
            "\(path) is open to others (mode \(String(mode, radix: 8))); only its owner may have access"
        case .notAFile(let path): "\(path) is not a regular file"
        case .system(let operation, let path, let code): "\(operation) of \(path) failed (errno \(code))"
        case .noHome: "there is no home folder to keep secrets in"
        case .noVault(let name): "there is no vault named \(name)"
        case .locked(let name): "the vault \(name) is locked"
        case .wrongPassword(let name, nil): "this password does not open the vault \(name)"
        case .wrongPassword(let name, let left?):
            "this password does not open the vault \(name); after \(left) more wrong ones it is destroyed"
        case .destroyed(let name): "the vault \(name) was destroyed after too many wrong passwords"
        case .incompatiblePassword(let name, let violations):
            "the password is against the policy of the vault \(name): "
                + violations.map(\.description).joined(separator: "; ")
        case .emptyPassword(let name): "the vault \(name) needs a password here"
        case .negativeNumber(let field, let value): "\(field) is \(value); it must be 0 or more"
        case .illegalValueName(let bytes):
            "a value's name has 1 to \(DataVaultLimits.maximumValueNameByteCount) bytes, this one \(bytes)"
        case .full(let name, let bytes):
            "the vault \(name) would hold \(bytes) bytes; the limit is \(DataVaultLimits.maximumVaultByteCount)"
        case .keysMissing(let name):
            "the key store has no keys of the vault \(name): it comes from elsewhere, or they were removed"
        case .olderCopy(let name): "the file of the vault \(name) is older than its last change of password or policy"
        case .damaged(let path, let offset, let expected):
            "\(path), byte \(offset): expected \(expected)"
        case .unsupportedFormat(let path, let version): "\(path) has format \(version), which is not known here"
        case .busy(let name): "another process keeps the vault \(name) locked for its own use"
        case .cancelled: "cancelled"
        }
    }
}

extension DataVaultError: CodedError {
    /// An error code of the form `vault.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .illegalName: "illegal-name"
            case .tooLong: "too-long"
            case .alreadyExists: "exists"
            case .notAKey: "no-key"
            case .unsealable: "unsealable"
            case .exposed: "exposed"
            case .notAFile: "no-file"
            case .system: "system"
            case .noHome: "no-home"
            case .noVault: "unknown-vault"
            case .locked: "locked"
            case .wrongPassword: "wrong-password"
            case .destroyed: "destroyed"
            case .incompatiblePassword: "weak-password"
            case .emptyPassword: "empty-password"
            case .negativeNumber: "negative-number"
            case .illegalValueName: "illegal-name"
            case .full: "full"
            case .keysMissing: "keys-missing"
            case .olderCopy: "older-copy"
            case .damaged: "damaged"
            case .unsupportedFormat: "unsupported-format"
            case .busy: "busy"
            case .cancelled: "cancelled"
            }
        return ErrorCode(rawValue: "vault.\(name)")
    }

    /// The kind of remedy: another password, a repaired file, or a changed call.
    public var failureKind: FailureKind {
        switch self {
        case .locked, .wrongPassword, .emptyPassword: .credentials
        case .busy: .transient
        case .cancelled: .cancelled
        case .noVault: .missing
        case .exposed, .notAFile, .system, .noHome: .device
        case .unsealable, .destroyed, .keysMissing, .olderCopy, .damaged: .damaged
        case .unsupportedFormat: .unsupported
        default: .request
        }
    }
}
