import ODataQuery
import ODataSQL
import OfflineOData

/// Dynamic queries over the objects of a package.
extension PackageDatabase {
    /// Returns the whole result of a dynamic query.
    ///
    /// ```swift
    /// let c = QueryAlias<Customer>("c"), o = QueryAlias<SalesOrder>("o")
    /// let idle = DynamicQuery.from(c)
    ///     .where(!DynamicQuery.from(o).where(o.customerID == c.id).exists).select(c.city)
    /// for row in try await crm.execute(idle) { print(try row.optional("City", as: String.self) ?? "-") }
    /// ```
    ///
    /// - Throws: `SelectionError` with the place of a fault in a query that was made by names; `ODataError` 413 for more
    ///   than 100,000 rows. If the query needs an attribute that was not loaded, the error names it and the defining
    ///   query that loads it (`ODataError.isNotLoaded`).
    public func execute(_ query: DynamicQuery) async throws -> SelectionResult {
        try await store.queries.select(query)
    }

    /// Returns the rows of a dynamic query one after the other, from a snapshot of the result.
    ///
    /// - Throws: `SelectionError` with the place of a fault.
    public func rows(of query: DynamicQuery) throws(SelectionError) -> SelectionRows {
        try store.queries.rows(of: query)
    }
}
