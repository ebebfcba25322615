import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Keys in the form of URLs and conditions.
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
    static func url(set: String, key: EntityKey, shape: TypeShape?, _ model: EntityDataModel? = nil) -> ODataURL {
        let arguments: PathArguments = key.parts.isEmpty ? .none : .key(KeyPredicate(key, shape: shape, model: model))
        return ODataURL(path: ResourcePath([.name(Identifier(set), arguments)]))
    }

    /// `k1 eq v1 and k2 eq v2`.
    static func condition(_ key: EntityKey, shape: TypeShape, _ model: EntityDataModel) -> CommonExpression {
        let literals = KeyPredicate(key, shape: shape, model: model).children
        let terms = zip(key.parts, literals).map { part, literal in
            CommonExpression.binary(.equal, .path([.name(Identifier(part.name))]), literal)
        }
        return terms.dropFirst().reduce(terms[0]) { .binary(.and, $0, $1) }
    }

    /// The key at the end of an entity id (``KeyInID``).
    ///
    /// - Returns: `nil` if the id does not follow the conventions, or belongs to another type.
    static func key(inID id: String, shape: TypeShape, model: EntityDataModel) -> EntityKey? {
        KeyInID.key(id, shape: shape, model: model)
    }
}

extension ODataEntity {
    /// An entity with nothing but its key loaded.
    init(shape: TypeShape, key: EntityKey) {
        self.init(shape: shape)
        for property in shape.key { self[property.path] = key[property.name] }
        markUnchanged()
    }
}
