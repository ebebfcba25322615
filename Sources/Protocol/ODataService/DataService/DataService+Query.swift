import ODataModel
import ODataQuery

/// Variants of the same requests for queries that are built in Swift.
extension DataService {
    /// Returns all entities that satisfy a query, following its pages.
    ///
    /// ```swift
    /// let customers = try await service.entities(ResourceQuery("Customers").orderBy("CompanyName").top(3))
    /// ```
    public func entities(_ query: ResourceQuery, preferences: Preferences = Preferences()) async throws -> [ODataEntity]
    {
        try await entities(query.url, preferences: preferences)
    }

    /// Returns one page of the result of a query.
    public func page(_ query: ResourceQuery, preferences: Preferences = Preferences()) async throws -> EntityPage {
        try await page(query.url, preferences: preferences)
    }

    /// Returns all pages of the result of a query, each of which is read on demand.
    public func pages(_ query: ResourceQuery, preferences: Preferences = Preferences()) -> EntityPages {
        pages(query.url, preferences: preferences)
    }

    /// Returns the first entity that satisfies a query; `nil` if there is none.
    public func first(_ query: ResourceQuery) async throws -> ODataEntity? { try await first(query.url) }

    /// Returns the number of entities that satisfy the filter and search of a query.
    public func count(_ query: ResourceQuery) async throws -> Int64 { try await count(query.url) }

    /// Returns the entity that a query addresses, by key or as a singleton; `nil` if there is none.
    public func entity(_ query: ResourceQuery) async throws -> ODataEntity? { try await entity(query.url) }
}
