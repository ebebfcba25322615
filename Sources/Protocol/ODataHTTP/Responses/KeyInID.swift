import ODataModel
import ODataQuery

/// Keys in entity ids.
///
/// All code that needs the key of an entity in a delta uses this one rule. Two different rules could treat two
/// items about one entity as items about two.
package enum KeyInID {
    /// Returns the key at the end of an entity id, such as `http://host/service/Orders(1)`.
    ///
    /// The id may also be that of a contained entity, as in `Boxes(1)/Slips(2)`, or have a type cast, as in
    /// `Papers(1)/Depot.Letter`. Services before V4 use their own notation, as in `Orders(1L)`.
    ///
    /// - Returns: `nil` if the id does not follow the conventions, or identifies an entity of another type.
    package static func key(_ id: String, shape: TypeShape, model: EntityDataModel) -> EntityKey? {
        // The id does not show the end of the service root, so the shortest trailing path of an entity is used.
        let segments = id.split(separator: "/")
        let dialects: [QueryDialect] = model.version < .v4 ? [.v2, .v4] : [.v4]
        for count in 1...min(max(1, segments.count), QueryLimits.maxDepth) {
            let path = segments.suffix(count).joined(separator: "/")
            for dialect in dialects {
                guard let url = try? ODataURL(parsing: path, options: ParsingOptions(dialect: dialect)),
                    let bound = try? Binder(model: model).bind(url).resource,
                    case .entity(let found, _) = bound.target, isKin(found, shape, in: model)
                else { continue }
                for case .key(let key) in bound.steps.reversed() { return key }
            }
        }
        return nil
    }

    /// Returns whether one of two types derives from the other, or both are the same.
    private static func isKin(_ one: TypeShape, _ other: TypeShape, in model: EntityDataModel) -> Bool {
        func derives(_ shape: TypeShape, from base: TypeShape) -> Bool {
            var type: TypeShape? = shape
            while let current = type {
                if current.name == base.name { return true }
                type = current.baseType.flatMap { model.shape($0) }
            }
            return false
        }
        return derives(one, from: other) || derives(other, from: one)
    }
}
