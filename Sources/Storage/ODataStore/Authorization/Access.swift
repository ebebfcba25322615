import ODataModel
import ODataService

/// What a caller may do with an entity set or singleton.
///
/// ```swift
/// definition.authorization = { principal, set in
///     guard let principal else { return .none }
///     if set == "Orders" { return Access(rowFilter: "Owner eq '\(principal.name)'", hiding: ["Margin"]) }
///     return .full
/// }
/// ```
public struct Access: Hashable, Sendable {
    /// What can be done with entities.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// Read them, count them, reach them by navigation.
        case read
        /// Create them.
        case create
        /// Change them and their links.
        case update
        /// Delete them.
        case delete
    }

    /// What may be done.
    public var kinds: Set<Kind>
    /// A `$filter` expression over the set: the others do not exist for the caller, in collections, expands,
    /// counts, conditions and changes alike.
    public var rowFilter: String?
    /// The names of properties that the caller neither sees nor may use in a query or change.
    public var hiddenProperties: Set<String>

    /// Makes an access.
    public init(_ kinds: Set<Kind> = Set(Kind.allCases), rowFilter: String? = nil, hiding: Set<String> = []) {
        self.kinds = kinds
        self.rowFilter = rowFilter
        hiddenProperties = hiding
    }

    /// Everything.
    public static let full = Access()
    /// Reading alone.
    public static let readOnly = Access([.read])
    /// Nothing.
    public static let none = Access([])

    func allows(_ kind: Kind) -> Bool { kinds.contains(kind) }

    /// 401 for nobody known, 403 for somebody (RFC 9110, 15.5.2 and 15.5.4).
    static func refusal(_ principal: Principal?, _ resource: String) -> ODataError {
        principal == nil
            ? ODataError(
                status: 401, code: "Unauthorized", message: "\(resource) is for known callers only.", target: resource)
            : ODataError(
                status: 403, code: "Forbidden", message: "You may not do this with \(resource).", target: resource)
    }
}
