import Crypto

/// A code that an operator gives to a person, such as `K7Q2-M9XV-3HTD`: 12 characters of 5 bits each.
///
/// The server keeps only a MAC of a code, because short codes could be found from a digest (`design-review.md` 39).
public struct ActivationCode: Hashable, Sendable {
    /// The characters without `I`, `L`, `O` and `U`, which are mistaken for others.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    private static let length = 12

    private let characters: String

    /// Creates a random code.
    public init() {
        var generator = SystemRandomNumberGenerator()
        characters = String(
            (0..<Self.length).map { _ in Self.alphabet[Int.random(in: 0..<32, using: &generator)] })
    }

    /// Reads a typed code: in any case, with hyphens and spaces or without, with `O` for 0, `I` and `L` for 1.
    ///
    /// - Returns: `nil` if the text is no code.
    public init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        var characters = ""
        for character in text.uppercased() where character != "-" && character != " " {
            switch character {
            case "O": characters.append("0")
            case "I", "L": characters.append("1")
            case _ where Self.alphabet.contains(character): characters.append(character)
            default: return nil
            }
        }
        guard characters.count == Self.length else { return nil }
        self.characters = characters
    }

    /// The code in three groups.
    public var text: String {
        let characters = Array(characters)
        return stride(from: 0, to: Self.length, by: 4).map { String(characters[$0..<($0 + 4)]) }.joined(separator: "-")
    }

    /// Returns the MAC under which the code is stored.
    ///
    /// - Parameter key: The key for this purpose.
    public func digest(key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(characters.utf8), using: key))
    }
}
