import ODataQuery

/// The way in which a defining query is downloaded.
public struct DownloadExplanation: Hashable, Sendable {
    /// The query's name.
    public var name: String
    /// The query.
    public var query: String
    /// The way in which it is downloaded, in words.
    public var method: String
    /// The optional parts that requests leave out because the service refused them. A refusal counts for seven
    /// days.
    public var leftOut: [String] = []
    /// The treatment of each expanded property, in words.
    public var parts: [String]
}

extension OfflineStore.Queries {
    /// Explains the download of each defining query and each expanded navigation property.
    ///
    /// - Throws: `StoreError`.
    public func explainDownloads() async throws -> [DownloadExplanation] {
        let (all, refused) = try await store.database.read {
            (try QueryTable.all(in: $0), try RefusedParts.stored(in: $0))
        }
        let now = store.environment.instant.seconds
        let mapping = store.mapping
        return all.filter { $0.parent == nil }.map { query in
            let left = refused.parts(of: query.entitySet, now: now).map(\.name).sorted()
            let wholes = query.sets(in: mapping).dropFirst()
            let method =
                !query.isLoaded
                ? "not downloaded yet"
                : query.deltaLink != nil
                    ? "only what changed, by the service's delta link" : "everything again, and compared"
            let parts = QueryTable.withParts([query], of: all).dropFirst().map { part in
                let way = part.deltaLink != nil ? "by its delta link" : "everything again, and compared"
                return "\(part.navigation ?? part.name): split, \(part.text): \(way)"
            }
            return DownloadExplanation(
                name: query.name, query: query.text, method: method, leftOut: left,
                parts: parts + wholes.map { "\($0): read whole with it" })
        }
    }

    /// Resolves the names of a query without answering it.
    ///
    /// - Throws: `QueryError` with the place of the unknown name.
    public func check(_ url: ODataURL) throws(QueryError) {
        _ = try store.traits.queryLanguage.bind(url, model: store.model)
    }
}
