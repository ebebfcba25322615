import ODataModel

/// A name in a URL with its position. Two identifiers are equal if the bytes of their texts are.
public struct Identifier: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The percent-decoded text, with dots in a qualified name.
    public let text: String
    /// The offset of the first character in the parsed text; `nil` for a name built in code.
    public let offset: Int?

    /// Creates an identifier.
    public init(_ text: String, at offset: Int? = nil) {
        self.text = text
        self.offset = offset
    }

    /// Creates an identifier without an offset.
    public init(stringLiteral value: String) { self.init(value) }

    /// The text.
    public var description: String { text }

    /// Whether the name begins with `@`, like those of annotations and aliases.
    var isAnnotation: Bool { text.utf8.first == UInt8(ascii: "@") }

    /// Returns whether the bytes of the texts are equal. Canonically equivalent names are different, because the
    /// result contains the name as written.
    public static func == (left: Identifier, right: Identifier) -> Bool { left.text.isIdentical(inUTF8To: right.text) }

    /// Hashes the text, without the offset.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
