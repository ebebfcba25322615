import ODataModel

/// A name in a URL with the place where it stands. Two identifiers are equal when the bytes of their texts are.
public struct Identifier: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The text, percent-decoded; dotted when qualified.
    public let text: String
    /// The offset of the first character in the text that was parsed; `nil` when made in code.
    public let offset: Int?

    /// Makes an identifier.
    public init(_ text: String, at offset: Int? = nil) {
        self.text = text
        self.offset = offset
    }

    /// Makes an identifier in code.
    public init(stringLiteral value: String) { self.init(value) }

    /// The text.
    public var description: String { text }

    /// Whether the name begins with `@`, as those of annotations and aliases do.
    var isAnnotation: Bool { text.utf8.first == UInt8(ascii: "@") }

    /// Equal when the bytes of the text are: a name that Unicode holds to be written alike is another name in the result.
    public static func == (left: Identifier, right: Identifier) -> Bool { left.text.isIdentical(inUTF8To: right.text) }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
