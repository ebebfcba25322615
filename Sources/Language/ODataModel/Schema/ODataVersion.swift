/// A version of the OData protocol.
public enum ODataVersion: String, Hashable, Sendable, Comparable, CaseIterable {
    /// OData 1.0.
    case v1 = "1.0"
    /// OData 2.0.
    case v2 = "2.0"
    /// OData 3.0.
    case v3 = "3.0"
    /// OData 4.0.
    case v4 = "4.0"
    /// OData 4.01.
    case v401 = "4.01"

    /// Returns whether the left version is earlier.
    public static func < (left: ODataVersion, right: ODataVersion) -> Bool {
        left.order < right.order
    }

    private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
