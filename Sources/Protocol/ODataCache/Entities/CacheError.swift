import ErrorCodes
public import ODataModel

/// Why a cache refuses something. What it held before, it holds still.
public enum CacheError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A capacity is not within 0 to 65,535.
    case capacity(Int)
    /// The cache has no model to check entities against; see ``EntityCache/adopt(_:)``.
    case noModel
    /// The cache holds entities of another model.
    case otherModel
    /// The model has no entity set of this name.
    case unknownCollection(String)
    /// An entity is of a type that does not belong to the collection.
    case foreignType(QualifiedName, collection: String)
    /// An entity has no key, and could not be found again.
    case keyMissing(collection: String)
    /// A local change does not fit, because the collection is full of others.
    case full(collection: String)

    /// What is wrong.
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
    /// `cache.…`.
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

    /// The cache is used in a way that it does not allow.
    public var failureKind: FailureKind { .request }
}
