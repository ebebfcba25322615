import ErrorCodes

/// Why a key, a passphrase or a key envelope was refused.
///
/// No case carries secret material: an error may be logged as it is.
public enum SecretError: Error, Hashable, Sendable {
    /// A key has the wrong number of bytes; 32 were expected.
    case keyLength(bytes: Int)
    /// A hexadecimal key has the wrong number of digits; 64 were expected.
    case hexadecimalLength(digits: Int)
    /// A character of a hexadecimal key, counted from 0, is not one of `0-9`, `a-f`, `A-F`.
    case hexadecimalDigit(position: Int)
    /// A passphrase has no characters.
    case emptyPassphrase
    /// A passphrase for something new has fewer code points than ``KeySource/minimumPassphraseLength``.
    case shortPassphrase(length: Int, minimum: Int)
    /// Other users can read or replace a file with a secret.
    case exposed(path: String, problem: Exposure)
    /// A key file could not be opened or read; `code` is the `errno` of the system.
    case keyFileUnreadable(path: String, code: Int32)
    /// A key file is longer than ``KeyFile/maximumByteCount`` bytes.
    case keyFileTooLarge(path: String, limit: Int)
    /// A key file is neither a key nor text: it has no header, is no 32 bytes, and no UTF-8.
    case keyFileNotText(path: String)
    /// A key file begins with the header of ``KeyFile``, and what was expected does not follow.
    case keyFileMalformed(path: String, expected: String)
    /// A file of 32 bytes that are no text can open what it was used for before, and is no key for something new.
    case keyFileWithoutHeader(path: String)
    /// Derivation parameters lie outside the ranges of ``ScryptParameters``.
    case derivationParameters(ScryptParameters)
    /// A salt has the wrong number of bytes; 16 were expected.
    case saltLength(bytes: Int)
    /// The derivation itself failed, for lack of memory.
    case derivationFailed
    /// The cipher itself failed, for lack of memory.
    case sealingFailed
    /// An envelope is malformed at a byte offset, where something else was expected.
    case envelopeMalformed(offset: Int, expected: String)
    /// An envelope needs a passphrase and was given a key, or the other way round.
    case wrongKindOfKey(expected: KeyKind)
    /// The key or passphrase does not open the envelope, or the envelope or its context was altered.
    case wrongKey

    /// The two things that open an envelope.
    public enum KeyKind: String, Hashable, Sendable {
        /// A 256-bit key.
        case key
        /// A passphrase, from which a key is derived.
        case passphrase
    }
}

extension SecretError: CustomStringConvertible {
    /// One sentence that says what is wrong and what was expected.
    public var description: String {
        switch self {
        case .keyLength(let bytes): "a key has 32 bytes, this one \(bytes)"
        case .hexadecimalLength(let digits): "a hexadecimal key has 64 digits, this one \(digits)"
        case .hexadecimalDigit(let position): "character \(position) of the key is not a hexadecimal digit"
        case .emptyPassphrase: "the passphrase is empty"
        case .shortPassphrase(let length, let minimum):
            "the passphrase is too short to resist guessing: it has \(length) characters, and at least \(minimum) are needed"
        case .exposed(let path, let problem): "the secret in \(path) is not safe: \(problem)"
        case .keyFileUnreadable(let path, let code): "the key file \(path) cannot be read (errno \(code))"
        case .keyFileTooLarge(let path, let limit): "the key file \(path) is longer than \(limit) bytes"
        case .keyFileNotText(let path): "the key file \(path) holds neither a key nor a passphrase in UTF-8"
        case .keyFileMalformed(let path, let expected): "the key file \(path) is damaged: expected \(expected)"
        case .keyFileWithoutHeader(let path):
            "\(path) is no key file for something new: it does not begin with '\(KeyFile.header)'"
        case .derivationParameters(let parameters): "derivation parameters out of range: \(parameters)"
        case .saltLength(let bytes): "a salt has 16 bytes, this one \(bytes)"
        case .derivationFailed: "the key could not be derived from the passphrase"
        case .sealingFailed: "the record could not be encrypted"
        case .envelopeMalformed(let offset, let expected): "key envelope, byte \(offset): expected \(expected)"
        case .wrongKindOfKey(let expected): "a \(expected.rawValue) is needed to open this"
        case .wrongKey: "the key is wrong, or what it protects was altered"
        }
    }
}

extension SecretError: CodedError {
    /// `secret.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .keyLength: "key-length"
            case .hexadecimalLength: "key-length"
            case .hexadecimalDigit: "key-digit"
            case .emptyPassphrase: "empty-passphrase"
            case .shortPassphrase: "short-passphrase"
            case .exposed: "exposed"
            case .keyFileUnreadable: "key-file"
            case .keyFileTooLarge: "key-file"
            case .keyFileNotText: "key-file"
            case .keyFileMalformed: "key-file"
            case .keyFileWithoutHeader: "key-file"
            case .derivationParameters: "derivation-parameters"
            case .saltLength: "salt-length"
            case .derivationFailed: "no-memory"
            case .sealingFailed: "no-memory"
            case .envelopeMalformed: "damaged"
            case .wrongKindOfKey: "wrong-kind-of-key"
            case .wrongKey: "wrong-key"
            }
        return ErrorCode(rawValue: "secret.\(name)")
    }

    /// Another key, another file, or more memory.
    public var failureKind: FailureKind {
        switch self {
        case .wrongKey, .wrongKindOfKey, .emptyPassphrase, .shortPassphrase: .credentials
        case .derivationFailed, .sealingFailed: .transient
        case .envelopeMalformed: .damaged
        case .keyFileUnreadable, .exposed: .device
        default: .request
        }
    }
}
