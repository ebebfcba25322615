import ErrorCodes
public import ODataModel

/// The reason why a cache refuses an operation. The content of the cache is unchanged.
public enum CacheError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A capacity is not in the range from 0 to 65,535.
    case capacity(Int)
    /// The cache has no model with which to check entities; see ``EntityCache/adopt(_:)``.
    case noModel
    /// The cache contains entities of another model.
    case otherModel
    /// The model contains no entity set of this name.
    case unknownCollection(String)
    /// The type of an entity does not belong to the collection.
    case foreignType(QualifiedName, collection: String)
    /// An entity has no key.
    case keyMissing(collection: String)
    /// A local change does not fit, because the collection is full of other local changes.
    case full(collection: String)

    /// An explanation of the error.
    public var description: String {
        switch self {
        case .capacity(let capacity): "a capacity is 0 to \(MemoryEntityCache.Limits.maximumCapacity), not \(capacity)"
        case .noModel: "the cache has no model"
        case .otherModel: "the cache holds entities of another model; clear it first"
        case .unknownCollection(let name): "the model has no entity set \(name)"
        case .foreignType(let type, let collection): "\(type) does not belong to \(collection)"
        case .keyMissing(let collection): "an entity for \(collection) has no key"
        case .full(let collection): "\(collection) is full of local changes"
        }
    }
}

extension CacheError: CodedError {
    /// The code `cache.` with the name of the error, such as `cache.no-model`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .capacity: "capacity"
            case .noModel: "no-model"
            case .otherModel: "other-model"
            case .unknownCollection: "unknown-set"
            case .foreignType: "foreign-type"
            case .keyMissing: "key-missing"
            case .full: "full"
            }
        return ErrorCode(rawValue: "cache.\(name)")
    }

    /// Always `FailureKind.request`.
    public var failureKind: FailureKind { .request }
}
