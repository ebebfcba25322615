import ODataQuery
import ODataSQL
import ODataService

/// Dynamic queries of a service.
extension StoreService {
    /// Returns the whole result of a dynamic query for a caller, who sees only the rows that other reads show.
    ///
    /// ```swift
    /// let mine = Selection.from("Orders", as: "o").select(.column(.count, as: "orders"))
    /// let result = try await service.select(mine, for: principal)
    /// ```
    ///
    /// - Parameter principal: the caller; `nil` for one who did not sign in.
    /// - Throws: `SelectionError` for a wrong query; `ODataError` 401 or 403 if the caller may not read one of the sets
    ///   or not all of their properties, 405 for a set that nobody can read, 413 for more than 100,000 rows.
    public func select(_ selection: Selection, for principal: Principal? = nil) async throws -> SelectionResult {
        try await provider(for: principal).select(selection) { bound in
            for set in bound.allEntitySets where !model.allows("ReadRestrictions", "Readable", on: set) {
                throw ODataError.methodNotAllowed(
                    .read, allowed: core.writer.allowedMethods(of: set, isEntity: false))
            }
            try core.access?.restriction(for: principal).check(bound)
        }
    }
}
