import ODataModel
import ODataService

/// The access of a caller to an entity set or singleton.
///
/// ```swift
/// definition.authorization = { principal, set in
///     guard let principal else { return .none }
///     if set == "Orders" { return Access(rowFilter: "Owner eq '\(principal.name)'", hiding: ["Margin"]) }
///     return .full
/// }
/// ```
public struct Access: Hashable, Sendable {
    /// A kind of access to entities.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// Reading, counting and navigating to entities.
        case read
        /// Creating entities.
        case create
        /// Changing entities and their links.
        case update
        /// Deleting entities.
        case delete
    }

    /// The permitted kinds of access.
    public var kinds: Set<Kind>
    /// A `$filter` expression over the set. Entities that do not match do not exist for the caller: in
    /// collections, expands, counts, conditions and changes.
    public var rowFilter: String?
    /// The names of properties that the caller can neither see nor use in a query or change.
    public var hiddenProperties: Set<String>

    /// Creates an access; by default, full access.
    public init(_ kinds: Set<Kind> = Set(Kind.allCases), rowFilter: String? = nil, hiding: Set<String> = []) {
        self.kinds = kinds
        self.rowFilter = rowFilter
        hiddenProperties = hiding
    }

    /// Unrestricted access.
    public static let full = Access()
    /// Read access only.
    public static let readOnly = Access([.read])
    /// No access.
    public static let none = Access([])

    func allows(_ kind: Kind) -> Bool { kinds.contains(kind) }

    /// Returns the error for a refused access: 401 for an anonymous caller, 403 for an authenticated one (RFC
    /// 9110, 15.5.2 and 15.5.4).
    static func refusal(_ principal: Principal?, _ resource: String) -> ODataError {
        principal == nil
            ? ODataError(
                status: 401, code: "Unauthorized", message: "\(resource) requires a sign-in.", target: resource)
            : ODataError(
                status: 403, code: "Forbidden",
                message: "You do not have permission for this operation on \(resource).", target: resource)
    }
}
