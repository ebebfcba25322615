import ODataModel
import ODataQuery

/// Checks whether a query can define a part of a service that is kept offline.
enum DefiningQueryCheck {
    /// Checks that the keys of the read sets have a maximum length.
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

    /// Checks that the parameters of a query are in conditions, where values replace them.
    ///
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)``.
    static func requireParametersInConditions(of query: DefiningQuery, model: EntityDataModel) throws(OfflineError) {
        var set = ""
        for segment in query.url.path.segments {
            if case .name(let name, _) = segment, set.isEmpty { set = name.text }
            for value in keyValues(of: segment) {
                guard case .alias(let name) = value, query.url.options.aliases[name.text] == nil else { continue }
                let key = model.shape(ofStored: set)?.key.first?.path ?? "ID"
                throw OfflineError.invalidDefiningQuery(
                    name: query.name,
                    reason: "the parameter @\(name.text) cannot be in a key. Use a condition instead, such as "
                        + "\(set)?$filter=\(key) eq @\(name.text).")
            }
        }
        guard let word = wordLikeParameter(in: query.url.options) else { return }
        throw OfflineError.invalidDefiningQuery(
            name: query.name,
            reason: "$search takes no parameters. Put \(word) into double quotes to search for the word.")
    }

    private static func keyValues(of segment: PathSegment) -> [CommonExpression] {
        switch segment {
        case .name, .key: segment.children
        default: []
        }
    }

    /// A search word that looks like a parameter.
    private static func wordLikeParameter(in options: QueryOptions) -> String? {
        func find(_ search: SearchExpression) -> String? {
            if case .word(let word) = search, word.hasPrefix("@") { return word }
            return search.children.lazy.compactMap(find).first
        }
        return options.search.flatMap(find)
            ?? options.expand.lazy.compactMap { wordLikeParameter(in: $0.options) }.first
    }

    /// Checks that no two queries read a set without a key: their rows could not be identified.
    ///
    /// - Parameters:
    ///   - query: the query to be added.
    ///   - set: the entity set that it reads.
    ///   - others: the entity sets that the other queries read.
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)``.
    static func requireKeyOrAlone(
        _ query: DefiningQuery, _ set: String, others: some Sequence<String>, model: EntityDataModel
    ) throws(OfflineError) {
        guard model.entitySet(set)?.hasKey(in: model) == false, others.contains(set) else { return }
        throw .invalidDefiningQuery(
            name: query.name,
            reason: "another query reads \(set) already, and entities without a key cannot be told apart. "
                + "Keep one of the queries.")
    }

    /// The entity set that a query reads.
    ///
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)``; `QueryError` for names that the model
    ///   does not have.
    static func entitySet(of query: DefiningQuery, model: EntityDataModel) throws -> String {
        let bound = try query.bound(to: model)
        let name: String
        switch bound.resource.target {
        case .entities(_, let set?) where bound.resource.steps.count == 1:
            guard set.hasKey(in: model) || query.url.options == QueryOptions() else {
                throw OfflineError.invalidDefiningQuery(
                    name: query.name,
                    reason:
                        "the entities of \(set.name) have no key. Such a set can be kept only as a whole: "
                        + "leave the query options out.")
            }
            name = set.name
        case .entity where bound.resource.steps.count == 1:
            guard case .singleton(let singleton, _)? = bound.resource.steps.first else { fallthrough }
            name = singleton.name
        default:
            throw OfflineError.invalidDefiningQuery(
                name: query.name,
                reason: "it must read an entity set, a singleton, one entity, or a contained collection.")
        }
        if query.isShared, let parameter = QueryParameters.names(in: query.url).min() {
            throw OfflineError.invalidDefiningQuery(
                name: query.name,
                reason:
                    "a shared query has the same result for every user, and the parameter @\(parameter) may differ. "
                    + "Write its value into the query, or do not share the query.")
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

extension DefiningQuery {
    /// Binds the names of the query, with null for each of its parameters.
    ///
    /// - Throws: `QueryError` for names that the model does not have, with the name of the query.
    func bound(to model: EntityDataModel) throws(QueryError) -> BoundURL {
        do throws(QueryError) {
            return try Binder(model: model).bind(QueryParameters.blank(url))
        } catch {
            throw error.inDefiningQuery(name, text)
        }
    }
}

extension QueryError {
    /// The same error with the name and the text of its defining query.
    func inDefiningQuery(_ name: String, _ text: String) -> QueryError {
        var error = self
        error.text = error.text ?? text
        error.part = (["defining query \(name)"] + [part].compactMap(\.self)).joined(separator: ", ")
        return error
    }
}
