import Crypto
import Foundation

/// A proof key (RFC 7636, 4): a code can be redeemed only with the verifier from which its request was made.
struct ProofKey: Sendable {
    let verifier: String
    /// The SHA-256 hash of the verifier (method S256).
    let challenge: String

    init(verifier: String = random()) {
        self.verifier = verifier
        challenge = Self.encode(Data(SHA256.hash(data: Data(verifier.utf8))))
    }

    /// Returns 256 random bits as 43 characters of the base64url alphabet.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return encode(Data((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
