import Crypto
import Foundation
import ODataModel

/// The public key of a device: a point on the curve P-256, which proves that a request comes from the device.
public struct DeviceKey: Hashable, Sendable {
    /// The uncompressed point (ANSI X9.63), 65 bytes.
    public let bytes: [UInt8]

    /// Creates a key from the uncompressed point.
    ///
    /// - Returns: `nil` if the bytes are no point on the curve.
    public init?(bytes: [UInt8]) {
        guard let key = try? P256.Signing.PublicKey(x963Representation: bytes) else { return nil }
        self.init(key)
    }

    /// Creates a key from that of swift-crypto.
    public init(_ key: P256.Signing.PublicKey) { bytes = Array(key.x963Representation) }

    /// Creates a key from the members `x` and `y` of a JSON Web Key (RFC 7518, 6.2.1).
    ///
    /// - Returns: `nil` if the members are no coordinates of 32 bytes in base64url, or the point is not on the curve.
    public init?(x: String, y: String) {
        guard let first = Base64URL.decode(x), let second = Base64URL.decode(y), first.count == 32, second.count == 32
        else { return nil }
        self.init(bytes: [4] + first + second)
    }

    /// The thumbprint (RFC 7638): SHA-256 of the canonical JSON Web Key in base64url.
    public var thumbprint: String {
        let (x, y) = coordinates
        let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8))))
    }

    /// The coordinates in base64url, as in a JSON Web Key.
    public var coordinates: (x: String, y: String) {
        (Base64URL.encode(Array(bytes[1..<33])), Base64URL.encode(Array(bytes[33...])))
    }

    /// Returns whether a raw signature (RFC 7518, 3.4) of 64 bytes belongs to the text.
    public func isValid(_ signature: [UInt8], for text: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: bytes),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: text)
    }
}
