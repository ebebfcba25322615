import ErrorCodes

/// A certificate and its private key, by which a client shows within TLS who it is (RFC 8446, 4.4.2).
///
/// ```swift
/// let identity = ClientIdentity.pkcs12(bytes, passphrase: passphrase)
/// let transport = try NIOTransport(configuration: .init(clientIdentity: identity))
/// ```
public struct ClientIdentity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// How the identity is written down.
    public enum Encoding: Sendable, Hashable {
        /// The chain and the key as PEM (RFC 7468).
        case pem(chain: [UInt8], key: [UInt8], passphrase: String?)
        /// Both in one archive (RFC 7292).
        case pkcs12([UInt8], passphrase: String?)
    }

    /// What it holds, for transports.
    public let encoding: Encoding

    /// A certificate chain, the client's own first, and its private key as PEM.
    ///
    /// - Parameter passphrase: of an encrypted key.
    public static func pem(chain: [UInt8], key: [UInt8], passphrase: String? = nil) -> ClientIdentity {
        ClientIdentity(encoding: .pem(chain: chain, key: key, passphrase: passphrase))
    }

    /// An archive (`.p12`, `.pfx`) with certificates and the private key.
    public static func pkcs12(_ bytes: [UInt8], passphrase: String?) -> ClientIdentity {
        ClientIdentity(encoding: .pkcs12(bytes, passphrase: passphrase))
    }

    /// Bytes that no other identity has, for telling users apart; they are secret as the identity is.
    package var distinguishingBytes: [UInt8] {
        switch encoding {
        case .pem(let chain, let key, _): Array("pem \(chain.count) ".utf8) + chain + key
        case .pkcs12(let bytes, _): Array("pkcs12 ".utf8) + bytes
        }
    }

    /// Nothing of what it holds.
    public var description: String { "‹redacted›" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A certificate or an identity that cannot be used.
public struct ClientIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let reason: String

    /// Makes an error.
    public init(reason: String) { self.reason = reason }

    /// What is wrong.
    public var description: String { "The client's certificate cannot be used: \(reason)" }
}

extension ClientIdentityError: CodedError {
    /// `configuration.unusable-identity`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "configuration.unusable-identity") }
    /// Another certificate, or another password for it.
    public var failureKind: FailureKind { .credentials }
}
