import ODataModel
import ODataQuery

/// The same requests for queries that are built in Swift.
extension DataService {
    /// All entities that satisfy a query, following its pages.
    ///
    /// ```swift
    /// let customers = try await service.entities(ResourceQuery("Customers").orderBy("CompanyName").top(3))
    /// ```
    public func entities(_ query: ResourceQuery, preferences: Preferences = Preferences()) async throws -> [ODataEntity]
    {
        try await entities(query.url, preferences: preferences)
    }

    /// One page of what satisfies a query.
    public func page(_ query: ResourceQuery, preferences: Preferences = Preferences()) async throws -> EntityPage {
        try await page(query.url, preferences: preferences)
    }

    /// All pages of what satisfies a query, each read when it is asked for.
    public func pages(_ query: ResourceQuery, preferences: Preferences = Preferences()) -> EntityPages {
        pages(query.url, preferences: preferences)
    }

    /// The first entity that satisfies a query; `nil` when there is none.
    public func first(_ query: ResourceQuery) async throws -> ODataEntity? { try await first(query.url) }

    /// The number of entities that satisfy a query's filter and search.
    public func count(_ query: ResourceQuery) async throws -> Int64 { try await count(query.url) }

    /// The entity that a query addresses, by key or as a singleton; `nil` when there is none.
    public func entity(_ query: ResourceQuery) async throws -> ODataEntity? { try await entity(query.url) }
}
