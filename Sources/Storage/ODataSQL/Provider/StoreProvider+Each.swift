import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Changes to all members of a collection, such as `Orders/$filter(Freight gt 50)/$each` (OData Protocol 4.01,
/// 11.4.13 and 11.4.14).
extension StoreProvider {
    /// Updates or deletes all entities that the path addresses, in one transaction.
    ///
    /// Only the segments of the path select entities. The query options of an update are evaluated after the change
    /// and select the entities and properties of the response (OData URL Conventions 4.01, 4.12). With such
    /// options, the response contains entities unless the client prefers a minimal response.
    func changeEach(_ request: ODataRequest, _ bound: BoundURL, in database: Database) throws -> ODataResponse {
        guard case .entities(let shape, let set) = bound.resource.target else {
            throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
        }
        let segments = bound.resource.steps.filter { $0 != .each }
        let query = StoreReader.query(shape, set)
        let (compiled, options) = try reader.prepare(query, segments, now: self.options.now(), in: database)
        let members = try StoreReader.entities(
            compiled, query, mapping: mapping, options: options, in: database, limit: .max)
        let plain = segments.filter { segment in
            if case .filter = segment { false } else { true }
        }
        let target = try WriteTarget(
            BoundResource(steps: plain, target: bound.resource.target), writer: writer, database: database)
        // The members were read in this transaction, and a condition on one ETag cannot apply to all of them.
        let single = request.unconditional
        var changed: [ODataEntity] = []
        for member in members {
            // An earlier deletion may have removed this member, too.
            guard try writer.read(key: member.key, in: target.set, parent: target.parent, database: database) != nil
            else { continue }
            switch request.method {
            case .delete:
                try writer.delete(
                    key: member.key, in: target.set, parent: target.parent, request: single, database: database)
            case .update:
                let patch = try entity(request)
                changed.append(
                    try writer.update(
                        patch, key: member.key, in: target.set, parent: target.parent, request: single,
                        database: database
                    ).entity)
            default: throw ODataError.methodNotAllowed(request.method, allowed: ["GET", "PATCH", "DELETE"])
            }
        }
        let returns = request.preferences.returns
        let hasOptions = request.url.options.shapesResponse
        guard request.method == .update, returns == .representation || (returns == nil && hasOptions) else {
            var response = ODataResponse(status: 204)
            if let returns { response.preferencesApplied.append("return=\(returns.rawValue)") }
            return response
        }
        // Options that cannot be applied do not cause a refusal of the change (11.4.1.5).
        guard bound.query?.apply.isEmpty ?? true else { return ODataResponse(status: 204) }
        var page = EntityPage(entities: changed)
        if hasOptions, let wanted = bound.query {
            page = try answer(changed, in: target.set, steps: plain, query: wanted, database: database)
        }
        var response = ODataResponse(body: .page(page))
        if returns != nil { response.preferencesApplied.append("return=representation") }
        return response
    }

    /// Reads changed entities according to the query options.
    ///
    /// - Parameters:
    ///   - changed: the entities.
    ///   - set: the set of the entities. They are read from the set, because a change may remove them from the
    ///     path.
    ///   - steps: the path without the segments that select members.
    ///   - query: the query options.
    private func answer(
        _ changed: [ODataEntity], in set: String, steps: [BoundSegment], query: BoundQuery, database: Database
    ) throws -> EntityPage {
        var steps = steps
        if let entitySet = model.entitySet(set), let shape = model.shape(entitySet.type) {
            let cast = query.shape == shape ? [] : [BoundSegment.cast(query.shape)]
            steps = [.entitySet(entitySet, shape)] + cast
        }
        var query = query
        let keys = KeyCondition.any(of: changed.compactMap(\.key), query)
        query.filter = query.filter.map { BoundExpression.binary(.and, keys, $0, .primitive(.boolean)) } ?? keys
        let (compiled, options) = try reader.prepare(query, steps, now: self.options.now(), in: database)
        var page = EntityPage()
        if query.count { page.count = try StoreReader.count(compiled, in: database) }
        page.entities = try StoreReader.entities(
            compiled, query, mapping: mapping, options: options, in: database, limit: .max)
        return page
    }
}
