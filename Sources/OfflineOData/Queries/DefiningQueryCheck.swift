import ODataModel
import ODataQuery

/// Tells whether a query can define a part of a service that is kept offline.
enum DefiningQueryCheck {
    /// Checks that the keys of what queries read say how long they may get.
    ///
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)``.
    static func requireMaxLength(of queries: [DefiningQuery], _ sets: [String], _ model: EntityDataModel) throws {
        for (query, set) in zip(queries, sets) {
            guard let shape = model.shape(ofStored: set) else { continue }
            for key in shape.key {
                guard let property = shape.property(key.path), property.facets.maxLength == nil,
                    property.type.primitive == .string || property.type.primitive == .binary
                else { continue }
                throw OfflineError.invalidDefiningQuery(
                    name: query.name, reason: "the key property \(key.path) of \(set) states no MaxLength.")
            }
        }
    }

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
        let name: String
        switch bound.resource.target {
        case .entities(_, let set?) where bound.resource.steps.count == 1: name = set.name
        case .entity where bound.resource.steps.count == 1:
            guard case .singleton(let singleton, _)? = bound.resource.steps.first else { fallthrough }
            name = singleton.name
        default:
            throw OfflineError.invalidDefiningQuery(
                name: query.name,
                reason: "it must read an entity set, a singleton, one entity, or what an entity contains.")
        }
        let options = query.url.options
        let refused: [(Bool, String)] = [
            (!options.apply.isEmpty, "$apply"),
            (!options.compute.isEmpty, "$compute"), (options.skip != nil, "$skip"), (options.count != nil, "$count"),
            (options.skipToken != nil, "$skiptoken"), (options.deltaToken != nil, "$deltatoken"),
        ]
        for (isPresent, name) in refused where isPresent {
            throw OfflineError.invalidDefiningQuery(name: query.name, reason: "\(name) is not supported in it.")
        }
        return name
    }
}
