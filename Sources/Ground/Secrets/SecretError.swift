import ErrorCodes

/// An error of a key, a passphrase, a key file or a key envelope.
///
/// No case contains secret material, so errors may be logged unchanged.
///
/// ```swift
/// do {
///     let key = try EncryptionKey(hexadecimal: password)
///     show(key)
/// } catch SecretError.hexadecimalLength(let digits) {
///     show("A key has 64 digits, not \(digits).")
/// }
/// ```
public enum SecretError: Error, Hashable, Sendable {
    /// A key has the wrong number of bytes; 32 were expected.
    case keyLength(bytes: Int)
    /// A hexadecimal key has the wrong number of digits; 64 were expected.
    case hexadecimalLength(digits: Int)
    /// A character of a hexadecimal key, counted from 0, is not one of `0-9`, `a-f`, `A-F`.
    case hexadecimalDigit(position: Int)
    /// A passphrase has no characters.
    case emptyPassphrase
    /// A passphrase for new data has fewer code points than ``KeySource/minimumPassphraseLength``.
    case shortPassphrase(length: Int, minimum: Int)
    /// Other users can read or replace a file with a secret.
    case exposed(path: String, problem: Exposure)
    /// A key file could not be opened or read; `code` is the system's `errno`.
    case keyFileUnreadable(path: String, code: Int32)
    /// A key file is longer than ``KeyFile/maximumByteCount`` bytes.
    case keyFileTooLarge(path: String, limit: Int)
    /// A key file is neither a key nor text: it has no header, is not 32 bytes long, and is not valid UTF-8.
    case keyFileNotText(path: String)
    /// A key file begins with the header of ``KeyFile``, but the expected content does not follow.
    case keyFileMalformed(path: String, expected: String)
    /// A file of 32 bytes that are not text opens older data only; it cannot be the key of new data.
    case keyFileWithoutHeader(path: String)
    /// Derivation parameters are outside the ranges of ``ScryptParameters``.
    case derivationParameters(ScryptParameters)
    /// A salt has the wrong number of bytes; 16 were expected.
    case saltLength(bytes: Int)
    /// The derivation failed because of too little memory.
    case derivationFailed
    /// The cipher failed because of too little memory.
    case sealingFailed
    /// An envelope is malformed at a byte offset; `expected` describes the valid content.
    case envelopeMalformed(offset: Int, expected: String)
    /// An envelope needs a passphrase but a key was passed, or the reverse.
    case wrongKindOfKey(expected: KeyKind)
    /// The key or passphrase does not open the envelope, or the envelope or its context was altered.
    case wrongKey

    /// The kinds of secrets that open an envelope.
    public enum KeyKind: String, Hashable, Sendable {
        /// A 256-bit key.
        case key
        /// A passphrase, which is used to derive a key.
        case passphrase
    }
}

extension SecretError: CustomStringConvertible {
    /// A description of the problem and of the expected value.
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
        case .wrongKey: "the key is wrong, or the protected data was altered"
        }
    }
}

extension SecretError: CodedError {
    /// An error code of the form `secret.…`.
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

    /// The kind of remedy: another key, another file, or more memory.
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
