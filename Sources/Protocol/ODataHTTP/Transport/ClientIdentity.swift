import ErrorCodes

/// A certificate and its private key, by which a client authenticates itself in TLS (RFC 8446, 4.4.2).
///
/// ```swift
/// let identity = ClientIdentity.pkcs12(bytes, passphrase: passphrase)
/// let transport = try NIOTransport(configuration: .init(clientIdentity: identity))
/// ```
public struct ClientIdentity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The encoding of the identity.
    public enum Encoding: Sendable, Hashable {
        /// The chain and the key as PEM (RFC 7468).
        case pem(chain: [UInt8], key: [UInt8], passphrase: String?)
        /// The chain and the key in one archive (RFC 7292).
        case pkcs12([UInt8], passphrase: String?)
    }

    /// The encoded certificates and key, for transports.
    public let encoding: Encoding

    /// Returns an identity from a certificate chain, the client's own certificate first, and its private key as
    /// PEM.
    ///
    /// - Parameter passphrase: the passphrase of an encrypted key.
    public static func pem(chain: [UInt8], key: [UInt8], passphrase: String? = nil) -> ClientIdentity {
        ClientIdentity(encoding: .pem(chain: chain, key: key, passphrase: passphrase))
    }

    /// Returns an identity from an archive (`.p12`, `.pfx`) with certificates and the private key.
    public static func pkcs12(_ bytes: [UInt8], passphrase: String?) -> ClientIdentity {
        ClientIdentity(encoding: .pkcs12(bytes, passphrase: passphrase))
    }

    /// Bytes that are unique to the identity, to distinguish users. They are as secret as the identity.
    package var distinguishingBytes: [UInt8] {
        switch encoding {
        case .pem(let chain, let key, _): Array("pem \(chain.count) ".utf8) + chain + key
        case .pkcs12(let bytes, _): Array("pkcs12 ".utf8) + bytes
        }
    }

    /// A placeholder without the contents.
    public var description: String { "‹redacted›" }
    /// A mirror without the contents.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The error for an unusable certificate or identity.
public struct ClientIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause of the error.
    public let reason: String

    /// Creates an error.
    public init(reason: String) { self.reason = reason }

    /// A message with the cause.
    public var description: String { "The client's certificate cannot be used: \(reason)" }
}

extension ClientIdentityError: CodedError {
    /// `configuration.unusable-identity`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "configuration.unusable-identity") }
    /// Another certificate, or another password for it.
    public var failureKind: FailureKind { .credentials }
}
