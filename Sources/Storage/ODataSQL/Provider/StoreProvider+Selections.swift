import ODataModel
import ODataQuery
import ODataService

/// Dynamic queries.
extension StoreProvider {
    /// Returns the whole result of a dynamic query.
    ///
    /// ```swift
    /// let cities = Selection.from("Customers", as: "c").select("c.City").distinct()
    /// let result = try await provider.select(cities)
    /// ```
    ///
    /// - Throws: `SelectionError` for a wrong query; `ODataError` 413 for more than 100,000 rows, 501 for a construct
    ///   without SQL.
    public func select(_ selection: Selection) async throws -> SelectionResult {
        try await select(selection) { _ in }
    }

    /// Returns the whole result of a dynamic query that a closure permits.
    package func select(
        _ selection: Selection, permitted: (BoundSelection) throws -> Void
    ) async throws -> SelectionResult {
        let bound = try binder.bind(selection)
        return try await Self.translated {
            try permitted(bound)
            return try await reader.select(bound, in: database)
        }
    }

    /// Returns the rows of a dynamic query one after the other, from a snapshot of the result.
    ///
    /// - Throws: `SelectionError` for a wrong query.
    public func rows(of selection: Selection) throws(SelectionError) -> SelectionRows {
        let bound = try binder.bind(selection)
        return SelectionRows(columns: bound.resultColumns) { [reader, database] in
            try await Self.translated { try await reader.snapshot(bound, in: database) }
        } following: { [reader, database] run in
            try await Self.translated { try await reader.next(run, in: database) }
        }
    }

    /// Explains a dynamic query: the query as it was understood, the SQL and SQLite's plan.
    ///
    /// - Throws: as ``select(_:)``.
    public func explain(_ selection: Selection) async throws -> QueryExplanation {
        let bound = try binder.bind(selection)
        return try await Self.translated { try await reader.explain(bound, in: database) }
    }

    /// Checks a dynamic query without reading rows.
    ///
    /// - Throws: `SelectionError` for a wrong query.
    public func check(_ selection: Selection) throws(SelectionError) { _ = try binder.bind(selection) }

    private static func translated<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw ODataError(translating: error)
        }
    }
}
