/// A name in a URL with the place where it stands. Two identifiers are equal when their text is.
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

    /// Equal when the text is.
    public static func == (left: Identifier, right: Identifier) -> Bool { left.text == right.text }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
