import ODataModel
import ODataQuery

/// Keys as they stand in URLs and conditions.
enum KeyURL {
    /// `Set(key)`; for a singleton, which has no key, its name.
    static func url(set: String, key: EntityKey) -> ODataURL {
        guard !key.parts.isEmpty else { return ODataURL(path: ResourcePath([.name(Identifier(set), .none)])) }
        return ODataURL(path: ResourcePath([.name(Identifier(set), .key(predicate(key)))]))
    }

    static func predicate(_ key: EntityKey) -> KeyPredicate {
        if key.parts.count == 1 { return .single(.literal(Literal(key.parts[0].value))) }
        return .compound(
            key.parts.map {
                Expression.NamedArgument(name: Identifier($0.name), value: .literal(Literal($0.value)))
            })
    }

    /// `k1 eq v1 and k2 eq v2`.
    static func condition(_ key: EntityKey) -> Expression {
        let terms = key.parts.map { part in
            Expression.binary(
                .equal, .path([.name(Identifier(part.name))]), .literal(Literal(part.value)))
        }
        return terms.dropFirst().reduce(terms[0]) { .binary(.and, $0, $1) }
    }

    /// The key that stands at the end of an entity id such as `http://host/service/Orders(1)`; services before V4 write it
    /// in their own way, as in `Orders(1L)`.
    ///
    /// - Returns: `nil` when the id does not follow the conventions.
    static func key(inID id: String, shape: Shape, model: EntityDataModel) -> EntityKey? {
        // The last segment has the key, whatever the service root before it.
        guard let segment = id.split(separator: "/").last else { return nil }
        let dialects: [QueryDialect] = model.version < .v4 ? [.v2, .v4] : [.v4]
        for dialect in dialects {
            guard let url = try? ODataURL(parsing: String(segment), options: ParsingOptions(dialect: dialect)),
                let bound = try? Binder(model: model).bind(url).resource
            else { continue }
            for case .key(let key) in bound.steps.reversed() { return key }
        }
        return nil
    }
}

extension Entity {
    /// An entity with nothing but its key loaded.
    init(shape: Shape, key: EntityKey) {
        self.init(shape: shape)
        for property in shape.key { self[property.path] = key[property.name] }
        markUnchanged()
    }
}
