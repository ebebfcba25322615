import ODataModel
import ODataQuery

/// Keys that stand in entity ids.
///
/// Whoever looks for the key of an entity that a delta names by its id alone goes by this one rule: two rules that do not agree
/// would hold two items about one entity for items about two.
package enum KeyInID {
    /// The key that stands at the end of an entity id such as `http://host/service/Orders(1)`, `Boxes(1)/Slips(2)` for what
    /// is contained, or `Papers(1)/Depot.Letter` for what is of a derived type; services before V4 write it in their own
    /// way, as in `Orders(1L)`.
    ///
    /// - Returns: `nil` when the id does not follow the conventions, or is one of something else.
    package static func key(_ id: String, shape: TypeShape, model: EntityDataModel) -> EntityKey? {
        // Where the service root ends, the id does not tell: the last segments that mean an entity are it, as many as a path may
        // have.
        let segments = id.split(separator: "/")
        let dialects: [QueryDialect] = model.version < .v4 ? [.v2, .v4] : [.v4]
        for count in 1...min(max(1, segments.count), QueryLimits.maxDepth) {
            let path = segments.suffix(count).joined(separator: "/")
            for dialect in dialects {
                guard let url = try? ODataURL(parsing: path, options: ParsingOptions(dialect: dialect)),
                    let bound = try? Binder(model: model).bind(url).resource,
                    case .entity(let found, _) = bound.target, isKin(found, shape, model)
                else { continue }
                for case .key(let key) in bound.steps.reversed() { return key }
            }
        }
        return nil
    }

    /// Whether one of two types derives from the other, or both are one.
    private static func isKin(_ one: TypeShape, _ other: TypeShape, _ model: EntityDataModel) -> Bool {
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
