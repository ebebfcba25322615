/// One thing in which two versions of a model differ, and whether a client of the older one can go on with the newer
/// (OData Protocol 4.01, 5.2 *Model Versioning*).
public struct ModelDifference: Hashable, Sendable, CustomStringConvertible {
    /// What happened to the element.
    public enum Kind: String, Hashable, Sendable {
        /// The newer version has it, the older one does not.
        case added
        /// The older version has it, the newer one does not.
        case removed
        /// Both have it, and it is not the same.
        case changed
    }

    /// The path of the element, such as `NS.Order/Freight`; empty for the model itself.
    public var path: String
    /// What happened to it.
    public var kind: Kind
    /// What it is and what it was, such as `property, MaxLength 10 instead of 20`.
    public var detail: String
    /// Whether what a client of the older version reads and writes stays right.
    public var isCompatible: Bool
    /// Why or why not.
    public var reason: String

    /// Makes a difference.
    public init(path: String, kind: Kind, detail: String, isCompatible: Bool, reason: String) {
        self.path = path
        self.kind = kind
        self.detail = detail
        self.isCompatible = isCompatible
        self.reason = reason
    }

    /// All of it in one line.
    public var description: String {
        "\(isCompatible ? "compatible" : "incompatible"): \(path) \(kind.rawValue) (\(detail)): \(reason)"
    }
}

extension EntityDataModel {
    /// In what this model differs from an older version of it, in the order of the older version, what was added last.
    ///
    /// ```swift
    /// let breaking = newer.differences(from: older).filter { !$0.isCompatible }
    /// ```
    public func differences(from older: EntityDataModel) -> [ModelDifference] {
        var comparison = ModelComparison(old: older, new: self)
        comparison.compare()
        return comparison.differences
    }
}
