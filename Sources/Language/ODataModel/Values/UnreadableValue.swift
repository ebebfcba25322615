/// A value in a response that is no value of its property's type: the property is not loaded, and the rest of its entity is.
public struct UnreadableValue: Hashable, Codable, Sendable {
    /// The most characters of ``text`` and of ``reason``.
    public static let maxLength = 200

    /// The value as the service wrote it, cut to a readable length.
    public var text: String
    /// The reason and the expected form, in words.
    public var reason: String

    /// Makes a description of a value; both texts are cut to ``maxLength`` characters.
    public init(text: String, reason: String) {
        self.text = String(text.prefix(Self.maxLength))
        self.reason = String(reason.prefix(Self.maxLength))
    }
}
