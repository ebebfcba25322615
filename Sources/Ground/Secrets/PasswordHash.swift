import Crypto
import CryptoExtras
import ErrorCodes
import Foundation

/// A password in the form that a server stores: a scrypt digest (RFC 7914) with its salt and cost, as a PHC
/// string.
///
/// ```swift
/// let hash = try PasswordHash(of: "correct horse")
/// print(hash.text)                    // $scrypt$ln=15,r=8,p=3$…$…
/// try PasswordHash(hash.text).matches("correct horse")   // true
/// ```
///
/// The format is `$scrypt$ln=…,r=…,p=…$salt$digest`, with salt and digest in base64 without padding, as in
/// Passlib and the PHC string format. `ln` is the binary logarithm of the cost N.
public struct PasswordHash: Sendable {
    /// The cost of the digest.
    public let parameters: ScryptParameters
    private let salt: [UInt8]
    private let digest: [UInt8]

    /// The maximum working memory of one check, 128·N·r, in bytes (128 MiB).
    public static let maximumMemory = 128 << 20
    /// The accepted lengths of salts, in bytes.
    public static let saltLengths = 8...64
    /// The accepted lengths of digests, in bytes.
    public static let digestLengths = 16...64
    /// The maximum length of a password, in bytes of UTF-8.
    public static let maximumPasswordLength = 1024

    private static let identifier = "scrypt"

    /// The default cost: N = 2^15, r = 8, p = 3, which takes 32 MiB of memory and about a third of a second.
    public static let standardParameters: ScryptParameters? = try? ScryptParameters(
        costExponent: 15, blockSize: 8, parallelization: 3)

    /// Digests a password with a new salt of 16 bytes.
    ///
    /// - Parameters:
    ///   - password: At least one character; normalised to Unicode's form C.
    ///   - parameters: The cost; `nil` for ``standardParameters``.
    /// - Throws: ``PasswordHashError/passwordLength(bytes:)``, or ``PasswordHashError/digestFailed`` if memory
    ///   is lacking.
    public init(of password: String, parameters: ScryptParameters? = nil) throws(PasswordHashError) {
        let parameters = parameters ?? Self.standardParameters ?? .standard
        var bytes = Self.bytes(of: password)
        defer { wipe(&bytes) }
        guard (1...Self.maximumPasswordLength).contains(bytes.count) else {
            throw .passwordLength(bytes: bytes.count)
        }
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        self.parameters = parameters
        self.salt = salt
        digest = try Self.digest(bytes, salt, parameters: parameters, length: 32)
    }

    /// Parses a PHC string.
    ///
    /// - Throws: ``PasswordHashError/notScrypt`` for a password in plain text and for a digest of another kind,
    ///   such as bcrypt. ``PasswordHashError/malformed(_:)`` for a scrypt digest that is invalid or needs more
    ///   than ``maximumMemory``. No error contains a part of the text.
    public init(_ text: String) throws(PasswordHashError) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].isEmpty, parts[1] == Self.identifier else { throw .notScrypt }
        guard parts.count == 5 else { throw .malformed("ln, r and p, a salt and a digest, each behind a dollar sign") }
        parameters = try Self.parameters(parts[2])
        guard let salt = Self.decoded(parts[3]), Self.saltLengths.contains(salt.count) else {
            throw .malformed("a salt of 8 to 64 bytes in base64 without padding")
        }
        guard let digest = Self.decoded(parts[4]), Self.digestLengths.contains(digest.count) else {
            throw .malformed("a digest of 16 to 64 bytes in base64 without padding")
        }
        self.salt = salt
        self.digest = digest
    }

    /// The PHC string.
    public var text: String {
        let cost = "ln=\(parameters.costExponent),r=\(parameters.blockSize),p=\(parameters.parallelization)"
        return "$\(Self.identifier)$\(cost)$\(Self.encoded(salt))$\(Self.encoded(digest))"
    }

    /// Returns whether a password matches the digest. The check takes as long as the creation of the digest.
    ///
    /// - Throws: ``PasswordHashError/digestFailed`` if there is too little memory.
    public func matches(_ password: String) throws(PasswordHashError) -> Bool {
        var bytes = Self.bytes(of: password)
        defer { wipe(&bytes) }
        guard bytes.count <= Self.maximumPasswordLength else { return false }
        let other = try Self.digest(bytes, salt, parameters: parameters, length: digest.count)
        // The lengths are equal, and every byte is compared in every case.
        return zip(digest, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func bytes(of password: String) -> [UInt8] {
        Array(password.precomposedStringWithCanonicalMapping.utf8)
    }

    private static func digest(
        _ password: [UInt8], _ salt: [UInt8], parameters: ScryptParameters, length: Int
    ) throws(PasswordHashError) -> [UInt8] {
        do {
            return try KDF.Scrypt.deriveKey(
                from: password, salt: salt, outputByteCount: length, rounds: 1 << Int(parameters.costExponent),
                blockSize: Int(parameters.blockSize), parallelism: Int(parameters.parallelization)
            ).withUnsafeBytes { Array($0) }
        } catch {
            throw .digestFailed
        }
    }

    private static func parameters(_ text: Substring) throws(PasswordHashError) -> ScryptParameters {
        let error = PasswordHashError.malformed("a cost such as ln=15,r=8,p=3 within \(maximumMemory >> 20) MiB")
        var values: [UInt32] = []
        for (part, name) in zip(text.split(separator: ",", omittingEmptySubsequences: false), ["ln=", "r=", "p="]) {
            guard part.hasPrefix(name), let value = UInt32(part.dropFirst(name.count)) else { throw error }
            values.append(value)
        }
        guard values.count == 3, text.filter({ $0 == "," }).count == 2, let exponent = UInt8(exactly: values[0]),
            let parameters = try? ScryptParameters(
                costExponent: exponent, blockSize: values[1], parallelization: values[2]),
            128 * Int(parameters.blockSize) << Int(parameters.costExponent) <= maximumMemory
        else { throw error }
        return parameters
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
    }

    private static func decoded(_ text: Substring) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "=") }), text.utf8.count % 4 != 1 else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).map(Array.init)
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    /// Always `‹redacted›`.
    public var description: String { redactedText }

    /// A mirror that contains only `‹redacted›`.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct) }
}

/// An error of creating or parsing a password digest. No case contains a part of the password or the digest.
public enum PasswordHashError: Error, Hashable, Sendable {
    /// The text is not a scrypt digest: it is a password in plain text, or a digest of another kind.
    case notScrypt
    /// The text begins like a scrypt digest but is invalid; the value describes the expected content.
    case malformed(String)
    /// A password is empty or longer than ``PasswordHash/maximumPasswordLength`` bytes.
    case passwordLength(bytes: Int)
    /// The digest could not be computed because of too little memory.
    case digestFailed
}

extension PasswordHashError: CustomStringConvertible {
    /// A description of the problem and of the expected content.
    public var description: String {
        switch self {
        case .notScrypt: "this is no scrypt digest, which begins with $scrypt$"
        case .malformed(let expected): "the scrypt digest cannot be read: expected \(expected)"
        case .passwordLength(let bytes):
            "a password has 1 to \(PasswordHash.maximumPasswordLength) bytes, this one \(bytes)"
        case .digestFailed: "there is not enough memory to check a password"
        }
    }
}

extension PasswordHashError: CodedError {
    /// An error code of the form `secret.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .notScrypt, .malformed: "password-hash"
            case .passwordLength: "password-length"
            case .digestFailed: "no-memory"
            }
        return ErrorCode(rawValue: "secret.\(name)")
    }

    /// The kind of remedy: another text, or more memory.
    public var failureKind: FailureKind {
        if case .digestFailed = self { return .transient }
        return .request
    }
}
