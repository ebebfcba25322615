/// A difference between two versions of a model, and whether clients of the older version work with the newer
/// version (OData Protocol 4.01, 5.2 *Model Versioning*).
///
/// ```swift
/// for difference in try await client.model.differences(from: store.model) where !difference.isCompatible {
///     show(difference.path, difference.reason)
/// }
/// ```
public struct ModelDifference: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of difference.
    public enum Kind: String, Hashable, Sendable {
        /// Only the newer version has the element.
        case added
        /// Only the older version has the element.
        case removed
        /// Both versions have the element, but it differs.
        case changed
    }

    /// The path of the element, such as `NS.Order/Freight`; empty for the model itself.
    public var path: String
    /// The kind of difference.
    public var kind: Kind
    /// The new and the old state, such as `property, MaxLength 10 instead of 20`.
    public var detail: String
    /// Whether requests and responses remain valid for a client of the older version.
    public var isCompatible: Bool
    /// The reason why the difference is compatible or not.
    public var reason: String

    /// Creates a difference.
    public init(path: String, kind: Kind, detail: String, isCompatible: Bool, reason: String) {
        self.path = path
        self.kind = kind
        self.detail = detail
        self.isCompatible = isCompatible
        self.reason = reason
    }

    /// The whole difference in one line.
    public var description: String {
        "\(isCompatible ? "compatible" : "incompatible"): \(path) \(kind.rawValue) (\(detail)): \(reason)"
    }
}

extension EntityDataModel {
    /// Returns the differences between this model and an older version of it, in the order of the older version.
    /// Additions come last.
    ///
    /// ```swift
    /// let older = store.model  // the client has read the newer one
    /// let breaking = try await client.model.differences(from: older).filter { !$0.isCompatible }
    /// ```
    public func differences(from older: EntityDataModel) -> [ModelDifference] {
        var comparison = ModelComparison(old: older, new: self)
        comparison.compare()
        return comparison.differences
    }
}
