import Crypto
import Secrets

/// A purpose of a key of the server. Each purpose has a key of its own, wrapped by the master key.
public enum ServerKeyPurpose: String, Hashable, Sendable, CaseIterable, Codable {
    /// The encrypted files of the state.
    case files
    /// Sealed values in the tables.
    case records
    /// The MAC of delta tokens.
    case tokens
    /// The chain of the audit.
    case audit
    /// Nonces of device proofs and sealed challenges.
    case nonces
    /// The HMAC of activation codes.
    case codes
    /// Spool files.
    case spool
    /// The authority of device certificates.
    case certificates
}

/// The keys of the server, one for each purpose. They survive `rekey`, which only wraps them anew
/// (`design-review.md` 13).
///
/// ```swift
/// let keys = ServerKeys.generate()
/// let tag = keys.authenticationCode(for: bytes, .tokens)
/// ```
public struct ServerKeys: Sendable {
    private let keys: [ServerKeyPurpose: EncryptionKey]

    /// Creates keys; a missing one is generated.
    public init(_ keys: [ServerKeyPurpose: EncryptionKey]) {
        var all = keys
        for purpose in ServerKeyPurpose.allCases where all[purpose] == nil { all[purpose] = .generate() }
        self.keys = all
    }

    /// Generates a key for each purpose.
    public static func generate() -> ServerKeys { ServerKeys([:]) }

    /// Returns the key of a purpose.
    public func key(_ purpose: ServerKeyPurpose) -> EncryptionKey { keys[purpose] ?? .generate() }

    /// Returns a cipher for values of a purpose. The associated data binds a value to its place.
    public func cipher(_ purpose: ServerKeyPurpose) -> RecordCipher {
        RecordCipher(key: key(purpose), purpose: "outpost server \(purpose.rawValue)")
    }

    /// Returns the HMAC-SHA256 of bytes, 32 bytes.
    public func authenticationCode(for bytes: some Sequence<UInt8>, _ purpose: ServerKeyPurpose) -> [UInt8] {
        var code = HMAC<SHA256>(key: key(purpose).symmetricKey)
        code.update(data: Array(bytes))
        return Array(code.finalize())
    }
}
