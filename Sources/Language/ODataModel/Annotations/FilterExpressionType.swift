/// How a filter may compare a property (Capabilities vocabulary, `FilterExpressionType`).
public enum FilterExpressionType: String, Hashable, Sendable {
    /// With one value, by a single `eq`: `single-value` in SAP's attributes.
    case singleValue = "SingleValue"
    /// With some values, by `eq` and `in` combined by `or`: `multi-value` in SAP's attributes.
    case multiValue = "MultiValue"
    /// With one interval: a single `eq`, `lt`, `le`, `gt` or `ge`, or a lower and an upper bound combined by `and`:
    /// `interval` in SAP's attributes.
    case singleRange = "SingleRange"
    /// With some intervals, combined by `or`.
    case multiRange = "MultiRange"
    /// By `startswith`, `endswith` and `contains`.
    case searchExpression = "SearchExpression"
    /// With some intervals, or by `startswith`, `endswith` and `contains`, combined by `or`.
    case multiRangeOrSearchExpression = "MultiRangeOrSearchExpression"
}

private let restrictions = Vocabulary.filterRestrictions

extension Property {
    /// How a filter may compare it: `sap:filter-restriction`, `Common.FilterExpressionType`; `nil` where nothing is said, or
    /// what is said is not known.
    public var filterExpressionType: FilterExpressionType? {
        guard
            case .constant(_, let text)? = annotation(Vocabulary.common + "FilterExpressionType")?.value,
            let name = text.split(separator: "/").last
        else { return nil }
        // The older term, whose values are members of an enumeration, has a name of its own for an interval.
        return name == "SingleInterval" ? .singleRange : FilterExpressionType(rawValue: String(name))
    }
}

extension EntitySet {
    /// How filters over the set may compare its properties, by path: `FilterExpressionRestrictions` of
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
