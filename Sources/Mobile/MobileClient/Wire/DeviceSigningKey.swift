import Crypto
import Foundation
import ODataModel

/// The private key of a registration on the curve P-256. It never leaves the device.
struct DeviceSigningKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// Creates a random key.
    init() { key = P256.Signing.PrivateKey() }

    /// Creates the key that was kept; `nil` if the bytes are no key.
    init?(bytes: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: Data(bytes)) else { return nil }
        self.key = key
    }

    /// The private key for the vault.
    var bytes: [UInt8] { Array(key.rawRepresentation) }

    /// Returns a proof that a request comes from this device (RFC 9449, 4.2).
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - url: The URL without query.
    ///   - authorization: The value of `Authorization`.
    ///   - nonce: The nonce of the server.
    ///   - now: The time in seconds since 1970.
    func proof(method: String, url: String, authorization: String?, nonce: String?, now: Int64) throws -> String {
        let point = Array(key.publicKey.x963Representation)
        let (x, y) = (Base64URL.encode(Array(point[1..<33])), Base64URL.encode(Array(point[33...])))
        let header = Header(jwk: Header.Key(x: x, y: y))
        let claims = Claims(
            jti: UUID().uuidString, htm: method, htu: url, iat: now,
            ath: authorization.map(Self.credentialsHash), nonce: nonce)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let parts = [try encoder.encode(header), try encoder.encode(claims)]
        let signed = parts.map { Base64URL.encode(Array($0)) }.joined(separator: ".")
        let signature = try key.signature(for: Array(signed.utf8))
        return "\(signed).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }

    private struct Header: Encodable {
        struct Key: Encodable {
            var kty = "EC"
            var crv = "P-256"
            var x: String
            var y: String
        }
        var typ = "dpop+jwt"
        var alg = "ES256"
        var jwk: Key
    }

    private struct Claims: Encodable {
        var jti: String
        var htm: String
        var htu: String
        var iat: Int64
        var ath: String?
        var nonce: String?
    }

    /// The SHA-256 of the credentials behind the scheme.
    private static func credentialsHash(_ authorization: String) -> String {
        let credentials = authorization.firstIndex(of: " ").map { authorization[$0...].drop { $0 == " " } }
        return Base64URL.encode(Array(SHA256.hash(data: Array((credentials ?? authorization[...]).utf8))))
    }
}
