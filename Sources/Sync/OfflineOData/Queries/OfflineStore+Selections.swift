import ODataQuery
import ODataSQL

/// Dynamic queries over the local rows, with the local changes on top.
///
/// They read the store alone and are never sent. The rows of unfinished downloads are hidden, and a set that the store
/// does not hold as a whole answers with the error of its other reads.
extension OfflineStore.Queries {
    /// Returns the whole result of a dynamic query.
    ///
    /// ```swift
    /// let idle = Selection.from("Customers", as: "c")
    ///     .where(.notExists(.from("Orders", as: "o").where(.attribute("o.CustomerID", .equal, .attribute("c.ID")))))
    ///     .select("c.Name")
    /// for row in try await store.queries.select(idle) { print(try row.value("Name", as: String.self)) }
    /// ```
    ///
    /// - Throws: `SelectionError` with the place of a fault; `ODataError` 413 for more than 100,000 rows, 501 for a
    ///   construct without SQL. If a row that can contribute lacks a value that the query reads, the error names the
    ///   attribute and the defining query that loads it (`ODataError.isNotLoaded`).
    public func select(_ selection: Selection) async throws -> SelectionResult {
        try await store.checkingModel { try await store.local.select(selection) }
    }

    /// Returns the rows of a dynamic query one after the other. They come from a snapshot of the result in an encrypted
    /// temporary file, so that changes meanwhile have no effect and only some rows are in memory.
    ///
    /// - Throws: `SelectionError` with the place of a fault.
    public func rows(of selection: Selection) throws(SelectionError) -> SelectionRows {
        try store.local.rows(of: selection)
    }

    /// Explains a dynamic query: the query as it was understood, the SQL and SQLite's plan.
    ///
    /// - Throws: as ``select(_:)``.
    public func explain(_ selection: Selection) async throws -> QueryExplanation {
        try await store.checkingModel { try await store.local.explain(selection) }
    }
}
