import ODataModel

/// The access of a caller to an entity set or singleton.
///
/// ```swift
/// definition.authorization = { principal, set in
///     guard let principal else { return .none }
///     if set == "Orders" { return Access(rowFilter: "Owner eq '\(principal.name)'", hiding: ["Margin"]) }
///     return .full
/// }
/// ```
///
/// ``AccessRights`` computes it from a list of permissions.
public struct Access: Hashable, Sendable {
    /// A closure that returns the access of a caller to an entity set or singleton.
    public typealias Rule = @Sendable (Principal?, _ set: String) throws -> Access

    /// A kind of access to entities.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
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
    /// The condition of readable entities. Entities that do not match do not exist for the caller: in collections,
    /// expands, counts, conditions and changes.
    public var rowFilter: AccessFilter?
    /// The further conditions of changes by their kind. An update must match before and after the change, a creation
    /// after it, and a deletion before it. The condition of ``Kind/read`` is ignored.
    public var changeFilters: [Kind: AccessFilter]
    /// The names of properties that the caller can neither see nor use in a query or change.
    public var hiddenProperties: Set<String>

    /// Creates an access; by default, full access.
    public init(
        _ kinds: Set<Kind> = Set(Kind.allCases), rowFilter: AccessFilter? = nil,
        changeFilters: [Kind: AccessFilter] = [:], hiding: Set<String> = []
    ) {
        self.kinds = kinds
        self.rowFilter = rowFilter
        self.changeFilters = changeFilters
        hiddenProperties = hiding
    }

    /// Unrestricted access.
    public static let full = Access()
    /// Read access only.
    public static let readOnly = Access([.read])
    /// No access.
    public static let none = Access([])

    /// Returns whether a kind of access is permitted for at least some entities.
    public func allows(_ kind: Kind) -> Bool { kinds.contains(kind) }

    /// Whether all entities with all their properties can be read.
    package var readsAll: Bool { allows(.read) && rowFilter == nil && hiddenProperties.isEmpty }

    /// Returns the error for a refused access: 401 for an anonymous caller, 403 for an authenticated one (RFC
    /// 9110, 15.5.2 and 15.5.4).
    package static func refusal(_ principal: Principal?, _ resource: String) -> ODataError {
        principal == nil
            ? ODataError(
                status: 401, code: "Unauthorized", message: "\(resource) requires a sign-in.", target: resource)
            : ODataError(
                status: 403, code: "Forbidden",
                message: "You do not have permission for this operation on \(resource).", target: resource)
    }
}
