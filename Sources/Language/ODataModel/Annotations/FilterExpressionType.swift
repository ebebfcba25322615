/// The comparisons that a filter may apply to a property (Capabilities vocabulary, `FilterExpressionType`).
public enum FilterExpressionType: String, Hashable, Sendable {
    /// One value in a single `eq`: `single-value` in SAP attributes.
    case singleValue = "SingleValue"
    /// Several values, in `eq` and `in` combined by `or`: `multi-value` in SAP attributes.
    case multiValue = "MultiValue"
    /// One interval: a single `eq`, `lt`, `le`, `gt` or `ge`, or a lower and an upper bound combined by `and`. The
    /// SAP attribute is `interval`.
    case singleRange = "SingleRange"
    /// Several intervals, combined by `or`.
    case multiRange = "MultiRange"
    /// `startswith`, `endswith` and `contains`.
    case searchExpression = "SearchExpression"
    /// Several intervals, or `startswith`, `endswith` and `contains`, combined by `or`.
    case multiRangeOrSearchExpression = "MultiRangeOrSearchExpression"
}

private let restrictions = Vocabulary.filterRestrictions

extension Property {
    /// The comparisons that a filter may apply: `sap:filter-restriction`, `Common.FilterExpressionType`; `nil` if
    /// the value is absent or unknown.
    public var filterExpressionType: FilterExpressionType? {
        guard
            case .constant(_, let text)? = annotation(Vocabulary.common + "FilterExpressionType")?.value,
            let name = text.split(separator: "/").last
        else { return nil }
        // The older term, whose values are enumeration members, has another name for an interval.
        return name == "SingleInterval" ? .singleRange : FilterExpressionType(rawValue: String(name))
    }
}

extension EntitySet {
    /// The comparisons that filters over the set may apply, by property path: `FilterExpressionRestrictions` of
    /// `Capabilities.FilterRestrictions`.
    public var filterExpressionRestrictions: [String: FilterExpressionType] {
        guard
            case .collection(let items)? = annotation(restrictions)?.value?.recordProperty(
                "FilterExpressionRestrictions")
        else { return [:] }
        var result: [String: FilterExpressionType] = [:]
        for item in items {
            guard let allowed = item.recordProperty("AllowedExpressions")?.string.flatMap(FilterExpressionType.init),
                let property = item.recordProperty("Property")
            else { continue }
            switch property {
            case .path(_, let path), .constant(_, let path): result[path] = allowed
            default: continue
            }
        }
        return result
    }
}
