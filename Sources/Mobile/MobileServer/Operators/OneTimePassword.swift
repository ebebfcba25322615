import Crypto
import Foundation

/// One-time passwords by time (TOTP, RFC 6238): six digits, SHA-1, a new one every 30 seconds.
///
/// ```swift
/// let password = OneTimePassword(secret: secret)
/// let step = password.step(matching: "287082", at: 59)  // 1
/// ```
public struct OneTimePassword: Sendable {
    /// The time for which a password is shown, in seconds.
    public static let period: Int64 = 30
    /// The number of digits.
    public static let digits = 6
    /// The number of bytes of a new secret, as RFC 4226, 4 recommends.
    public static let secretLength = 20

    private let secret: [UInt8]

    /// Creates the passwords of a secret.
    public init(secret: [UInt8]) { self.secret = secret }

    /// Returns a new random secret.
    public static func makeSecret() -> [UInt8] {
        SymmetricKey(size: .init(bitCount: secretLength * 8)).withUnsafeBytes { Array($0) }
    }

    /// Returns the password of a step.
    public func password(step: Int64) -> String {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> Int64(56 - 8 * $0)) }
        let mac = Array(
            HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret)))
        let offset = Int(mac[mac.count - 1] & 15)
        let value = mac[offset..<(offset + 4)].reduce(0 as UInt32) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(value % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.count) + text
    }

    /// Returns the step to which a password belongs, if it is the present step or a neighbour (RFC 6238, 5.2).
    ///
    /// The caller remembers the step, and accepts no step twice.
    ///
    /// - Parameter now: The time in seconds since 1970.
    public func step(matching text: String, at now: Int64) -> Int64? {
        let given = Array(text.filter { $0 != " " }.utf8)
        let present = now / Self.period
        var found: Int64?
        // Each step is compared, so that the time tells nothing about the matching one.
        for step in [present, present - 1, present + 1] {
            let expected = Array(password(step: step).utf8)
            guard given.count == expected.count else { continue }
            if zip(given, expected).reduce(0 as UInt8, { $0 | ($1.0 ^ $1.1) }) == 0, found == nil { found = step }
        }
        return found
    }

    /// Returns the URL from which authenticator apps read the secret.
    ///
    /// - Parameters:
    ///   - operatorName: The name of the operator.
    ///   - issuer: The name of the server.
    public func url(for operatorName: String, issuer: String) -> String {
        func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        return "otpauth://totp/\(escaped(issuer)):\(escaped(operatorName))?secret=\(Self.base32(secret))"
            + "&issuer=\(escaped(issuer))"
    }

    /// Returns bytes in base32 without padding (RFC 4648, 6).
    static func base32(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var result = ""
        var (bits, count) = (0 as UInt32, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                result.append(alphabet[Int(bits >> UInt32(count)) & 31])
            }
            bits &= (1 << UInt32(count)) - 1
        }
        if count > 0 { result.append(alphabet[Int(bits << UInt32(5 - count)) & 31]) }
        return result
    }
}
