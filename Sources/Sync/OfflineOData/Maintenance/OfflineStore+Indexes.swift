import ODataQuery
import ODataSQL
import ODataService

extension OfflineStore {
    /// The indexes of the store.
    public var indexes: Indexes { Indexes(store: self) }

    /// The indexes that speed up reads of a store, and the explanation of reads.
    ///
    /// ```swift
    /// let query = try ODataURL(parsing: "Customers?$filter=Address/City eq 'Oslo'")
    /// print(try await store.indexes.explain(query))
    /// try await store.indexes.create(on: "Customers", paths: ["Address/City"])
    /// ```
    public struct Indexes: Sendable {
        let store: OfflineStore
    }

    var propertyIndexes: PropertyIndexes {
        PropertyIndexes(mapping: local.mapping, textForm: texts.forms?.compared)
    }

    /// Recreates full-text indexes of an earlier version, which are not used any more.
    func renewSearchIndexes() async throws {
        let indexes = propertyIndexes
        guard try await database.read({ try !indexes.outdatedSearches(in: $0).isEmpty }) else { return }
        try await database.write { database in
            for set in try indexes.outdatedSearches(in: database) { try indexes.createSearch(on: set, in: database) }
        }
    }
}

extension OfflineStore.Indexes {
    /// Explains a read of the store: the query as it was understood, the SQL and SQLite's plan.
    ///
    /// - Throws: `ODataError` as reading would.
    public func explain(_ url: ODataURL) async throws -> QueryExplanation {
        try await store.checkingModel { try await store.local.explain(url) }
    }

    /// Returns the requested indexes, by set and name.
    ///
    /// - Throws: `StoreError`.
    public func all() async throws -> [PropertyIndexes.Index] {
        let indexes = store.propertyIndexes
        return try await store.database.read { try indexes.list(in: $0) }
    }

    /// Creates an index for filters and orders by properties, the most significant one first.
    ///
    /// - Parameters:
    ///   - set: the entity set.
    ///   - paths: paths such as `Address/City`, with ` desc` for a descending order.
    /// - Returns: the index; the existing one if there is one.
    /// - Throws: `ODataError` 404 for an unknown set, 400 for a path that leads to no single value.
    @discardableResult
    public func create(on set: String, paths: [String]) async throws -> PropertyIndexes.Index {
        let indexes = store.propertyIndexes
        return try await store.database.write { try indexes.create(on: set, paths: paths, in: $0) }
    }

    /// Creates the full-text index of a set, which `$search` uses from then on.
    ///
    /// - Throws: `ODataError` 404 for an unknown set, 400 for one without text.
    @discardableResult
    public func createSearch(on set: String) async throws -> PropertyIndexes.Index {
        let indexes = store.propertyIndexes
        return try await store.database.write { try indexes.createSearch(on: set, in: $0) }
    }

    /// Removes an index. Nothing happens if it does not exist.
    ///
    /// - Throws: `StoreError`.
    public func drop(_ index: PropertyIndexes.Index) async throws {
        let indexes = store.propertyIndexes
        try await store.database.write { try indexes.drop(index, in: $0) }
    }
}
