import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Keys as they stand in URLs and conditions.
enum KeyURL {
    /// `Set(key)`; for a singleton, which has no key, its name.
    static func url(set: String, key: EntityKey, _ mapping: StorageMapping) -> ODataURL {
        url(set: set, key: key, shape: mapping.tables[set]?.shape, mapping.model)
    }

    /// `Set(key)`; for a singleton, which has no key, its name.
    ///
    /// - Parameters:
    ///   - shape: the type of the entity, which literals of enumerations need.
    ///   - model: has the names of their members; without it they are numbers.
    static func url(set: String, key: EntityKey, shape: Shape?, _ model: EntityDataModel? = nil) -> ODataURL {
        let arguments: PathArguments = key.parts.isEmpty ? .none : .key(KeyPredicate(key, shape: shape, model: model))
        return ODataURL(path: ResourcePath([.name(Identifier(set), arguments)]))
    }

    /// `k1 eq v1 and k2 eq v2`.
    static func condition(_ key: EntityKey, shape: Shape, _ model: EntityDataModel) -> Expression {
        let literals =
            switch KeyPredicate(key, shape: shape, model: model) {
            case .single(let literal): [literal]
            case .compound(let arguments): arguments.map(\.value)
            }
        let terms = zip(key.parts, literals).map { part, literal in
            Expression.binary(.equal, .path([.name(Identifier(part.name))]), literal)
        }
        return terms.dropFirst().reduce(terms[0]) { .binary(.and, $0, $1) }
    }

    /// The key that stands at the end of an entity id such as `http://host/service/Orders(1)`, `Boxes(1)/Slips(2)` for what
    /// is contained, or `Papers(1)/Depot.Letter` for what is of a derived type; services before V4 write it in their own
    /// way, as in `Orders(1L)`.
    ///
    /// - Returns: `nil` when the id does not follow the conventions, or is one of something else.
    static func key(inID id: String, shape: Shape, model: EntityDataModel) -> EntityKey? {
        // Where the service root ends, the id does not tell: the last segments that mean an entity are it.
        let segments = id.split(separator: "/")
        let dialects: [QueryDialect] = model.version < .v4 ? [.v2, .v4] : [.v4]
        for count in 1...max(1, segments.count) {
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
    private static func isKin(_ one: Shape, _ other: Shape, _ model: EntityDataModel) -> Bool {
        func derives(_ shape: Shape, from base: Shape) -> Bool {
            var type: Shape? = shape
            while let current = type {
                if current.name == base.name { return true }
                type = current.baseType.flatMap { model.shape($0) }
            }
            return false
        }
        return derives(one, from: other) || derives(other, from: one)
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
