/// The entity tags of `If-Match` and `If-None-Match` (RFC 9110, 8.8.3, 13.1.1 and 13.1.2).
struct EntityTags {
    private let tags: [String]

    init(_ text: String) { tags = HeaderTokens.split(text, at: ",").filter { !$0.isEmpty } }

    /// Weak comparison, as OData asks for (Protocol 4.01, 8.2.4 and 8.2.5).
    func contains(_ etag: String) -> Bool {
        tags.contains { $0 == "*" || Self.opaque($0) == Self.opaque(etag) }
    }

    /// Strong comparison: neither is weak, and both are the same.
    static func isStronglyEqual(_ left: String, _ right: String) -> Bool {
        left == right && !left.hasPrefix("W/")
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
