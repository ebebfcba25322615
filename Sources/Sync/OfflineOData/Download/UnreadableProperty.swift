/// A value of the service that does not fit the type of its property and is not stored (rule 40). The property is
/// not loaded, and uploads leave it out.
public struct UnreadableProperty: Hashable, Sendable {
    /// The entity set, or the path of a contained collection.
    public let entitySet: String
    /// The entity as a URL below the service root; `nil` for a row without a readable key, which is not stored.
    public let entity: String?
    /// The property's name or path; `nil` if the key itself is missing.
    public let property: String?
    /// The value as the service wrote it, cut to a readable length.
    public let text: String
    /// The reason, in words.
    public let reason: String
}
