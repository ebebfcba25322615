/// The name of a secret: 1 to 128 of the characters `a-z`, `A-Z`, `0-9`, `.`, `_`, `-`, not beginning with a dot.
///
/// The rule makes a name a safe file name everywhere. On file systems that ignore case, two names that
/// differ in case alone are one secret.
public struct SecretName: Hashable, Sendable, CustomStringConvertible {
    /// The longest name, in characters.
    public static let maximumLength = 128

    /// The name as text.
    public let text: String

    /// Checks a name.
    ///
    /// - Parameter text: The name.
    /// - Throws: ``DataVaultError/illegalName(_:position:)`` with the position of the first character that
    ///   is not allowed, counted from 0; the length of the name when it is too long, 0 when it is empty.
    public init(_ text: String) throws(DataVaultError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.first != UInt8(ascii: ".") else { throw .illegalName(text, position: 0) }
        let wrong = text.unicodeScalars.enumerated().first { !Self.isLegal($0.element) }
        if let wrong { throw .illegalName(text, position: wrong.offset) }
        guard bytes.count <= Self.maximumLength else { throw .illegalName(text, position: bytes.count) }
        self.text = text
    }

    /// The name as text.
    public var description: String { text }

    private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }
}
