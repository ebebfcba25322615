import Crypto
import ODataModel

/// Nonces for device proofs (RFC 9449, 8) that every node of a server makes and checks without stored state.
///
/// A nonce is the time of its creation with a MAC under a key that all nodes have.
public struct ProofNonces: Sendable {
    /// The time for which a nonce is accepted, in seconds.
    public static let lifetime: Int64 = 300
    /// The difference between the clocks of two nodes that is tolerated, in seconds.
    static let tolerance: Int64 = 5

    private let key: SymmetricKey
    private static let macLength = 16

    /// Creates nonces.
    ///
    /// - Parameter key: A key of all nodes for this purpose alone.
    public init(key: SymmetricKey) { self.key = key }

    /// Returns a new nonce.
    ///
    /// - Parameter now: The time in seconds since 1970.
    public func make(at now: Int64) -> String {
        let time = Self.bytes(now)
        return Base64URL.encode(time + mac(time))
    }

    /// Returns the age of a nonce in seconds; `nil` if no node made the nonce, or if it is too old.
    public func age(of nonce: String, at now: Int64) -> Int64? {
        guard nonce.utf8.count <= 64, let bytes = Base64URL.decode(nonce), bytes.count == 8 + Self.macLength else {
            return nil
        }
        let time = Array(bytes[..<8])
        let difference = zip(mac(time), bytes[8...]).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) }
        guard difference == 0 else { return nil }
        let (age, overflow) = now.subtractingReportingOverflow(
            Int64(bitPattern: time.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }))
        guard !overflow, age >= -Self.tolerance, age <= Self.lifetime else { return nil }
        return max(0, age)
    }

    private func mac(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key).prefix(Self.macLength))
    }

    private static func bytes(_ time: Int64) -> [UInt8] {
        let pattern = UInt64(bitPattern: time)
        return (0..<8).map { UInt8(truncatingIfNeeded: pattern >> UInt64(56 - 8 * $0)) }
    }
}
