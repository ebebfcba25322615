import Crypto
import Foundation
import ODataModel

/// A proof that a request comes from the device that holds a key (RFC 9449, 4.2), as it stands in the field `DPoP`.
///
/// The type is the parsed form with a valid signature. ``ProofCheck`` decides whether the proof fits a request.
///
/// ```swift
/// let proof = try DeviceProof(request.headerFields[proofField] ?? "")
/// print(proof.key.thumbprint)
/// ```
public struct DeviceProof: Hashable, Sendable {
    /// The key that signed the proof.
    public let key: DeviceKey
    /// The unique id of the proof (`jti`).
    public let id: String
    /// The method of the request (`htm`).
    public let method: String
    /// The URL of the request without query and fragment (`htu`).
    public let url: String
    /// The time of creation in seconds since 1970 (`iat`), by the clock of the device.
    public let issuedAt: Int64
    /// The SHA-256 of the credentials in base64url (`ath`).
    public let credentialsHash: String?
    /// The nonce of the server (`nonce`).
    public let nonce: String?

    /// The maximum number of bytes of a proof.
    public static let maxLength = 4096
    /// The maximum number of bytes of the id.
    public static let maxIDLength = 128

    private struct Header: Decodable {
        var typ: String
        var alg: String
        var jwk: Key
        var crit: [String]?
        var b64: Bool?
    }

    private struct Key: Decodable {
        var kty: String
        var crv: String
        var x: String
        var y: String
        /// The private part, which a proof never contains.
        var d: String?
    }

    private struct Claims: Decodable {
        var jti: String
        var htm: String
        var htu: String
        var iat: Double
        var ath: String?
        var nonce: String?
    }

    /// Parses a proof and verifies its signature.
    ///
    /// - Throws: ``DeviceProofError/malformed(_:)`` or ``DeviceProofError/signature``.
    public init(_ text: String) throws(DeviceProofError) {
        guard text.utf8.count <= Self.maxLength else { throw .malformed("it is longer than \(Self.maxLength) bytes") }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !text.utf8.contains(where: Self.isForeign) else {
            throw .malformed("it has not three parts in base64url")
        }
        let header: Header = try Self.decode(parts[0], "header")
        guard header.typ.lowercased() == "dpop+jwt" else { throw .malformed("typ is not dpop+jwt") }
        guard header.alg == "ES256" else { throw .malformed("alg is not ES256") }
        guard header.crit == nil, header.b64 == nil else { throw .malformed("it needs an unknown extension") }
        guard header.jwk.d == nil else { throw .malformed("it contains a private key") }
        guard header.jwk.kty == "EC", header.jwk.crv == "P-256",
            let key = DeviceKey(x: header.jwk.x, y: header.jwk.y)
        else { throw .malformed("jwk is no key on P-256") }
        let claims: Claims = try Self.decode(parts[1], "payload")
        guard (1...Self.maxIDLength).contains(claims.jti.utf8.count) else {
            throw .malformed("jti has not 1 to \(Self.maxIDLength) bytes")
        }
        guard claims.iat.magnitude < 1e12 else { throw .malformed("iat is no time") }
        guard let signature = Base64URL.decode(parts[2]), signature.count == 64,
            key.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { throw .signature }
        self.key = key
        id = claims.jti
        method = claims.htm
        url = claims.htu
        issuedAt = Int64(claims.iat.rounded(.down))
        credentialsHash = claims.ath
        nonce = claims.nonce
    }

    /// Returns the value of `ath` for a field `Authorization`: SHA-256 of the credentials behind the scheme, which
    /// for a bearer token is that of RFC 9449, 4.2.
    public static func credentialsHash(of authorization: String) -> String {
        let credentials = authorization.firstIndex(of: " ").map { authorization[$0...].drop { $0 == " " } }
        return Base64URL.encode(Array(SHA256.hash(data: Array((credentials ?? authorization[...]).utf8))))
    }

    private static func decode<Part: Decodable>(_ text: String, _ name: String) throws(DeviceProofError) -> Part {
        guard let bytes = Base64URL.decode(text), let part = try? JSONDecoder().decode(Part.self, from: Data(bytes))
        else { throw .malformed("the \(name) cannot be read") }
        return part
    }

    /// Returns whether a byte is none of base64url and no dot. Padding and the alphabet of plain base64 are refused.
    private static func isForeign(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            false
        default: true
        }
    }
}
