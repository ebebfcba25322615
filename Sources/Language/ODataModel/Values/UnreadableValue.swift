/// A value in a response that is not valid for its property's type. The property is not loaded, but the rest of the
/// entity is.
public struct UnreadableValue: Hashable, Codable, Sendable {
    /// The maximum number of characters of ``text`` and ``reason``.
    public static let maxLength = 200

    /// The original value, truncated to ``maxLength``.
    public var text: String
    /// A description of the reason and the expected form.
    public var reason: String

    /// Creates a description of a value; both texts are truncated to ``maxLength`` characters.
    public init(text: String, reason: String) {
        self.text = String(text.prefix(Self.maxLength))
        self.reason = String(reason.prefix(Self.maxLength))
    }
}
