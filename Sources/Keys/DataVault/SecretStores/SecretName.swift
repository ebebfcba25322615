/// The name of a secret: 1 to 128 of the characters `a-z`, `A-Z`, `0-9`, `.`, `_`, `-`, not starting with a
/// dot.
///
/// Every name is a safe file name. On file systems that ignore case, two names that differ only in case refer
/// to the same secret.
///
/// ```swift
/// let name = try SecretName("orders")
/// let key = try keys.key(named: name)
/// ```
public struct SecretName: Hashable, Sendable, CustomStringConvertible {
    /// The longest name, in characters.
    public static let maximumLength = 128

    /// The name as text.
    public let text: String

    /// Validates a name.
    ///
    /// - Parameter text: The name.
    /// - Throws: ``DataVaultError/illegalName(_:position:)`` with the position of the first illegal character,
    ///   counted from 0. The position is the length of a name that is too long, and 0 for an empty name.
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
