import Foundation
import ODataModel
import Secrets

/// A source of images that a person reads and a program does not.
public protocol CaptchaIssuer: Sendable {
    /// Returns a PNG image of a text.
    ///
    /// - Parameter text: Five characters of ``Captchas/alphabet``.
    func image(of text: String) -> [UInt8]
}

/// The challenges of an application: an image for a person, and a sealed text that any node can check.
///
/// A challenge is stored nowhere until it is solved. Its id then enters the table `once`, so that it is solved once
/// (`design-review.md` 26).
public struct Captchas: Sendable {
    /// The characters, without those that are mistaken for others.
    public static let alphabet = "234679ACDEFGHJKMNPQRTVWXYZ"
    /// The number of characters of a text.
    public static let length = 5
    /// The time in which a challenge is solved, in seconds.
    public static let lifetime: Int64 = 300
    /// The number of attempts before the caller has to wait.
    public static let rounds = 3
    /// The maximum number of bytes of an image.
    public static let maxImageLength = 48 * 1024

    /// A challenge as the response contains it.
    public struct Challenge: Sendable {
        /// The sealed challenge, which the answer contains again.
        public var id: String
        /// The PNG image.
        public var image: [UInt8]
        /// The end of the challenge in seconds since 1970.
        public var expires: Int64
        /// The number of attempts that are left, with this one.
        public var roundsLeft: Int
    }

    /// The result of an answer.
    public enum Verdict: Hashable, Sendable {
        /// The text is right; `id` enters the table `once` until `expires`.
        case solved(id: String, expires: Int64)
        /// The text is wrong, or the challenge is old; so many rounds are left.
        case wrong(roundsLeft: Int)
    }

    private struct Sealed: Codable {
        var text: String
        var expires: Int64
        var rounds: Int
        var id: String
    }

    private let cipher: RecordCipher
    private let issuer: any CaptchaIssuer

    /// Creates challenges.
    ///
    /// - Parameters:
    ///   - key: A key of all nodes for this purpose alone.
    ///   - issuer: The source of the images.
    public init(key: EncryptionKey, issuer: any CaptchaIssuer = DotCaptcha()) {
        cipher = RecordCipher(key: key, purpose: "captcha")
        self.issuer = issuer
    }

    /// Returns a new challenge.
    ///
    /// - Parameters:
    ///   - application: The application, for which alone the challenge counts.
    ///   - roundsLeft: The number of attempts, with this one.
    ///   - now: The time in seconds since 1970.
    public func make(for application: String, roundsLeft: Int = rounds, at now: Int64) throws -> Challenge {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array(Self.alphabet)
        let text = String((0..<Self.length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
        let expires = now + Self.lifetime
        let sealed = Sealed(text: text, expires: expires, rounds: roundsLeft, id: UUID().uuidString)
        let bytes = try cipher.seal(Array(try JSONEncoder().encode(sealed)), context: Array(application.utf8))
        return Challenge(
            id: Base64URL.encode(bytes), image: issuer.image(of: text), expires: expires, roundsLeft: roundsLeft)
    }

    /// Checks an answer: challenge, semicolon, text.
    public func check(_ answer: String, for application: String, at now: Int64) -> Verdict {
        let parts = answer.split(separator: ";", maxSplits: 1).map(String.init)
        guard answer.utf8.count <= 1024, parts.count == 2, let bytes = Base64URL.decode(parts[0]),
            let plain = try? cipher.open(bytes, context: Array(application.utf8)),
            let sealed = try? JSONDecoder().decode(Sealed.self, from: Data(plain))
        else { return .wrong(roundsLeft: Self.rounds - 1) }
        let given = parts[1].trimmingCharacters(in: .whitespaces).uppercased()
        guard sealed.expires >= now, given == sealed.text else { return .wrong(roundsLeft: sealed.rounds - 1) }
        return .solved(id: sealed.id, expires: sealed.expires)
    }
}
