import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Changes to all members of a collection, as `Orders/$filter(Freight gt 50)/$each`
/// (OData Protocol 4.01, 11.4.13 and 11.4.14).
extension StoreProvider {
    /// Updates or deletes each entity that the path addresses, in one transaction: all or none.
    func changeEach(_ request: ODataRequest, _ bound: BoundURL, in database: Database) throws -> ODataResponse {
        guard case .entities(let shape, let set) = bound.resource.target else {
            throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
        }
        let segments = bound.resource.steps.filter { $0 != .each }
        let query = bound.query ?? StoreReader.query(shape, set)
        let (compiled, options) = try reader.prepare(query, segments, now: self.options.now(), database)
        let members = try StoreReader.entities(compiled, query, mapping, options, database, limit: .max)
        let plain = segments.filter { segment in
            if case .filter = segment { false } else { true }
        }
        let target = try WriteTarget(
            BoundResource(steps: plain, target: bound.resource.target), writer: writer, database: database)
        // The members were found in this transaction: a condition on one ETag says nothing of all of them.
        let single = writer.unconditional(request)
        var changed: [Entity] = []
        for member in members {
            // What was deleted before may have taken this along.
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
        guard request.method == .update, request.preferences.returns == .representation else {
            return ODataResponse(status: 204)
        }
        var response = ODataResponse(body: .page(EntityPage(entities: changed)))
        response.preferencesApplied.append("return=representation")
        return response
    }
}
