/// The value of `If-Match` and `If-None-Match`: any entity tag, or a list (RFC 9110, 8.8.3, 13.1.1 and 13.1.2).
public enum EntityTags: Hashable, Sendable {
    /// Any entity tag (`*`).
    case any
    /// A list of tags.
    case list([EntityTag])

    /// One entity tag.
    public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
        /// Whether the tag is weak (`W/`).
        public var isWeak: Bool
        /// The text between the quotes.
        public var value: String

        /// Creates a tag.
        public init(_ value: String, isWeak: Bool = false) {
            self.value = value
            self.isWeak = isWeak
        }

        /// The tag in the notation of the field.
        public var description: String { "\(isWeak ? "W/" : "")\"\(value)\"" }
    }

    /// Parses the value of the field.
    ///
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar.
    public init(parsing text: String) throws(QueryError) {
        var scanner = HeaderScanner(text)
        scanner.skipSpace()
        if scanner.take("*") {
            self = .any
        } else {
            var tags: [EntityTag] = []
            repeat {
                scanner.skipSpace()
                tags.append(try scanner.entityTag())
                scanner.skipSpace()
            } while scanner.take(",")
            self = .list(tags)
        }
        scanner.skipSpace()
        try scanner.requireEnd()
    }

    /// Returns whether a tag is in the list.
    ///
    /// - Parameter weakly: whether weak tags match too. `If-None-Match` compares weakly, and so does `If-Match` for
    ///   OData's ETags (OData Protocol 4.01, 8.2.4).
    public func contains(_ tag: EntityTag, weakly: Bool = true) -> Bool {
        switch self {
        case .any: true
        case .list(let tags): tags.contains { $0.value == tag.value && (weakly || (!$0.isWeak && !tag.isWeak)) }
        }
    }
}

extension HeaderScanner {
    fileprivate mutating func entityTag() throws(QueryError) -> EntityTags.EntityTag {
        let isWeak = take("W")
        if isWeak { try require("/") }
        guard take("\"") else { throw failure(expected: "an entity tag in quotes, or *") }
        let start = position
        while let next = current, next != "\"", Self.isVisible(next) { position += 1 }
        let value = text(from: start)
        try require("\"")
        return .init(value, isWeak: isWeak)
    }
}
