import Foundation
public import ODataModel
public import ODataQuery
import ODataService

/// The entities of a cache as a source of the evaluator.
private struct CacheRows: EvaluationSource {
    let rows: [String: [ODataEntity]]
    func rows(of set: String) -> [any EvaluationRow] { rows[set] ?? [] }
    func singleton(_ name: String) -> (any EvaluationRow)? { nil }
}

extension EntityCache {
    /// Evaluates a query over the cached entities of one collection: `$filter`, `$orderby`, `$search`, `$skip`,
    /// `$top` and `$count`. The result is that of a service with exactly these entities.
    ///
    /// ```swift
    /// let costly = try await cache.entities(matching: ODataURL(parsing: "Orders?$filter=Freight gt 50"))
    /// ```
    ///
    /// - Returns: The entities, and their number before `$skip` and `$top` if `$count` requests it.
    /// - Throws: `QueryError` for an invalid query, an error with status 501 for unsupported options (`$apply`,
    ///   `$compute`, `$expand`, `$select`, navigation), `EvaluationError`, ``CacheError/noModel``.
    public func entities(matching url: ODataURL) async throws -> (entities: [ODataEntity], count: Int?) {
        guard let model = await model else { throw CacheError.noModel }
        let options = url.options
        guard options.expand.isEmpty, options.select.isEmpty, options.compute.isEmpty, options.apply.isEmpty else {
            throw ODataError.notImplemented("a projection or expansion over a cache")
        }
        let bound = try Binder(model: model).bind(url)
        guard case .entities(_, let set?) = bound.resource.target, bound.resource.steps.count == 1,
            let query = bound.query
        else { throw ODataError.notImplemented("a query over anything but an entity set of a cache") }
        let entities = await entities(of: set.name)
        let source = CacheRows(rows: [set.name: entities])
        let evaluator = Evaluator(model: model, source: source, now: Self.now)
        let page = try evaluator.evaluate(query, over: entities)
        let byKey = Dictionary(entities.compactMap { entity in entity.key.map { ($0, entity) } }) { $1 }
        return (page.rows.compactMap { $0.key.flatMap { byKey[$0] } }, page.count)
    }

    private static var now: ODataDateTimeOffset {
        ODataDateTimeOffset(seconds: Int64(Date().timeIntervalSince1970), picoseconds: 0)
    }
}
