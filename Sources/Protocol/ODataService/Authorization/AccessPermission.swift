import ODataQuery

/// The permission of a role to use some or all entities of a set.
///
/// ```swift
/// let own = AccessPermission(role: "sales", set: "Orders", verbs: [.read, .update], filter: "Owner eq @user")
/// ```
public struct AccessPermission: Hashable, Sendable {
    /// The role of all callers, including anonymous ones.
    public static let everyone = "everyone"
    /// The role of all authenticated callers.
    public static let signedIn = "signed-in"
    /// The name that stands for all entity sets and singletons of a service. It does not include operations and views
    /// without a key.
    public static let allSets = "*"

    /// The role: ``everyone``, ``signedIn``, a role of ``AccessRights/members``, or a role of the caller's token.
    public var role: String
    /// The name of an entity set, a singleton, or an operation import; or ``allSets``.
    public var set: String
    /// The permitted kinds of access.
    public var verbs: Set<Access.Kind>
    /// The condition on the entities, as a `$filter` expression; `nil` for all entities. `@user` stands for the name of
    /// the caller and `@claim_NAME` for a claim. A caller without a named claim does not have the permission.
    public var filter: String?

    /// Creates a permission.
    ///
    /// - Parameters:
    ///   - role: the role.
    ///   - set: the name of an entity set, a singleton or an operation import, or ``allSets``.
    ///   - verbs: the permitted kinds of access.
    ///   - filter: the condition on the entities; `nil` for all of them.
    public init(role: String, set: String, verbs: Set<Access.Kind>, filter: String? = nil) {
        self.role = role
        self.set = set
        self.verbs = verbs
        self.filter = filter
    }

    // MARK: Values of the caller

    /// The alias of the caller's name.
    static let userAlias = "user"
    /// The start of the aliases of claims.
    static let claimPrefix = "claim_"

    /// The names of the parameter aliases in a filter. Text in quotes contains none.
    static func aliases(in filter: String) -> Set<String> {
        var names: Set<String> = []
        var isQuoted = false
        var rest = filter.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "'" { isQuoted.toggle() }
            guard !isQuoted, scalar == "@" else { continue }
            let name = rest.prefix { $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0) }
            if !name.isEmpty { names.insert(String(name)) }
        }
        return names
    }

    /// Returns the filter with the values of a caller.
    ///
    /// - Returns: `nil` if the caller lacks a value, so that the permission does not apply.
    func condition(for principal: Principal?) -> AccessFilter? {
        guard let filter else { return nil }
        var values: [String: String] = [:]
        for alias in Self.aliases(in: filter) {
            guard let value = Self.value(of: alias, for: principal) else { return nil }
            values[alias] = value
        }
        return AccessFilter(filter, values: values)
    }

    private static func value(of alias: String, for principal: Principal?) -> String? {
        if alias == userAlias { return principal?.name }
        guard alias.hasPrefix(claimPrefix) else { return nil }
        return principal?.claims[String(alias.dropFirst(claimPrefix.count))]
    }
}
