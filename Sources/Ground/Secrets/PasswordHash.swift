import Crypto
import CryptoExtras
import ErrorCodes
import Foundation

/// A password as a server keeps it: a scrypt digest (RFC 7914) with its salt and cost, written as a PHC string.
///
/// ```swift
/// let hash = try PasswordHash(of: "correct horse")
/// print(hash.text)                    // $scrypt$ln=15,r=8,p=3$…$…
/// try PasswordHash(hash.text).matches("correct horse")   // true
/// ```
///
/// The text is `$scrypt$ln=…,r=…,p=…$salt$digest`, with salt and digest in base64 without padding, as Passlib and the PHC
/// string format have it. `ln` is the binary logarithm of the cost N.
public struct PasswordHash: Sendable {
    /// The cost of the digest.
    public let parameters: ScryptParameters
    private let salt: [UInt8]
    private let digest: [UInt8]

    /// The largest working memory of one check, 128·N·r, in bytes (128 MiB).
    public static let maximumMemory = 128 << 20
    /// The lengths of salts that are read, in bytes.
    public static let saltLengths = 8...64
    /// The lengths of digests that are read, in bytes.
    public static let digestLengths = 16...64
    /// The longest password, in bytes of UTF-8.
    public static let maximumPasswordLength = 1024

    private static let identifier = "scrypt"

    /// N = 2^15, r = 8, p = 3: 32 MiB of memory, and about a third of a second.
    public static let standardParameters: ScryptParameters? = try? ScryptParameters(
        costExponent: 15, blockSize: 8, parallelization: 3)

    /// Digests a password with a fresh salt of 16 bytes.
    ///
    /// - Parameters:
    ///   - password: at least one character, normalised to Unicode's form C.
    ///   - parameters: the cost; ``standardParameters`` unless another one is given.
    /// - Throws: ``PasswordHashError/passwordLength(bytes:)``, or ``PasswordHashError/digestFailed`` for lack of memory.
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

    /// Reads a PHC string.
    ///
    /// - Throws: ``PasswordHashError/notScrypt`` for a password in plain text and for a digest of another kind, such as
    ///   bcrypt; ``PasswordHashError/malformed(_:)`` for a scrypt digest that cannot be read, or that costs more than
    ///   ``maximumMemory``. No error holds a part of the text.
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

    /// Whether a password is the one that was digested; takes as long as making the digest took.
    ///
    /// - Throws: ``PasswordHashError/digestFailed`` for lack of memory.
    public func matches(_ password: String) throws(PasswordHashError) -> Bool {
        var bytes = Self.bytes(of: password)
        defer { wipe(&bytes) }
        guard bytes.count <= Self.maximumPasswordLength else { return false }
        let other = try Self.digest(bytes, salt, parameters: parameters, length: digest.count)
        // Lengths are equal, and each byte is looked at whatever the others are.
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

    /// A mirror that shows nothing but `‹redacted›`.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [redactedText], displayStyle: .struct) }
}

/// Why a password cannot be digested, or a digest not read. No case holds a part of either.
public enum PasswordHashError: Error, Hashable, Sendable {
    /// The text is no scrypt digest: a password in plain text, or a digest of another kind.
    case notScrypt
    /// The text begins as a scrypt digest, but something else was expected in it.
    case malformed(String)
    /// A password is empty, or longer than ``PasswordHash/maximumPasswordLength`` bytes.
    case passwordLength(bytes: Int)
    /// There is not enough memory.
    case digestFailed
}

extension PasswordHashError: CustomStringConvertible {
    /// What is wrong and what was expected.
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
    /// `secret.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .notScrypt, .malformed: "password-hash"
            case .passwordLength: "password-length"
            case .digestFailed: "no-memory"
            }
        return ErrorCode(rawValue: "secret.\(name)")
    }

    /// Another text, or more memory.
    public var failureKind: FailureKind {
        if case .digestFailed = self { return .transient }
        return .request
    }
}
