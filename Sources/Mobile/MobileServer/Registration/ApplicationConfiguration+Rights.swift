import ODataService

extension ApplicationConfiguration {
    /// Returns the rights of users at a destination: role, set, verbs and filter, as in `outpost serve --rights`.
    ///
    /// The verb `call` stands for calls of functions and actions.
    ///
    /// - Returns: `nil` if the application has no permissions, so that every user may do everything.
    public func rights(at destination: String) -> AccessRights? {
        guard !permissions.isEmpty else { return nil }
        var rights = AccessRights()
        rights.permissions = permissions.compactMap { rule in
            guard rule.destination == nil || rule.destination == destination else { return nil }
            var verbs = Set(rule.verbs.compactMap { Access.Kind(rawValue: $0) })
            // Rights of an operation are `read` for a function and `update` for an action.
            if rule.verbs.contains("call") { verbs.formUnion([.read, .update]) }
            return AccessPermission(role: rule.role, set: rule.set, verbs: verbs, filter: rule.filter)
        }
        return rights
    }
}
