import ODataModel
import ODataQuery

/// Tells whether a query can define a part of a service that is kept offline.
enum DefiningQueryCheck {
    /// The entity set that a query reads.
    ///
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)``; `QueryError` for names that the model
    ///   does not have.
    static func entitySet(of query: DefiningQuery, model: EntityDataModel) throws -> String {
        let bound: BoundURL
        do throws(QueryError) {
            bound = try Binder(model: model).bind(QueryParameters.blank(query.url))
        } catch {
            var error = error
            error.text = error.text ?? query.text
            throw error
        }
        guard case .entities(_, let set?) = bound.resource.target, bound.resource.steps.count == 1 else {
            throw OfflineError.invalidDefiningQuery(name: query.name, reason: "it must read an entity set.")
        }
        let options = query.url.options
        let refused: [(Bool, String)] = [
            (!options.expand.isEmpty, "$expand"), (!options.apply.isEmpty, "$apply"),
            (!options.compute.isEmpty, "$compute"), (options.skip != nil, "$skip"), (options.count != nil, "$count"),
            (options.skipToken != nil, "$skiptoken"), (options.deltaToken != nil, "$deltatoken"),
        ]
        for (isPresent, name) in refused where isPresent {
            throw OfflineError.invalidDefiningQuery(name: query.name, reason: "\(name) is not supported in it.")
        }
        return set.name
    }
}
