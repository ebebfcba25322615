import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// A call of an action or function, as its handler receives it.
public struct ServiceCall {
    /// The called overload.
    public let operation: ODataOperation
    /// The arguments by name, validated against the declaration. Omitted optional arguments are missing.
    public let arguments: [String: ODataValue]
    /// The request that calls the operation.
    public let request: ODataRequest
    /// The transaction of the call. Only actions may change entities.
    public let transaction: ServiceTransaction
    /// The resolved path of the binding parameter; `nil` for an unbound operation.
    let binding: BoundURL?

    /// The caller.
    public var principal: Principal? { request.context.principal }

    /// Returns a required argument.
    ///
    /// - Throws: ``ODataError`` 400 with the parameter as target if the argument is missing, null or of another
    ///   type.
    public func argument<Value: ODataValueConvertible>(_ name: String) throws -> Value {
        guard let value: Value = try argument(name) else {
            throw ODataError(
                status: 400, code: "MissingParameter", message: "The parameter \(name) is missing.", target: name)
        }
        return value
    }

    /// Returns an optional argument; `nil` if the argument is missing or null.
    ///
    /// - Throws: ``ODataError`` 400 with the parameter as target if the argument is of another type.
    public func argument<Value: ODataValueConvertible>(_ name: String) throws -> Value? {
        guard let given = arguments[name], !given.isNull else { return nil }
        if let value = Value(odataValue: given) { return value }
        // An integer is accepted for any numeric type.
        if case .integer(let number) = given, let value = Value(odataValue: .double(Double(number))) { return value }
        throw ODataError(
            status: 400, code: "InvalidParameter", message: "The parameter \(name) must be of type \(Value.self).",
            target: name)
    }

    /// Returns the entity to which the operation is bound.
    ///
    /// - Throws: ``ODataError`` 404 if the entity does not exist.
    public func boundEntity() throws -> ODataEntity {
        guard let binding, let entity = try transaction.entities(binding, limit: 1).first else {
            throw ODataError.notFound(binding.map { StoreReader.name(of: $0.resource.steps) } ?? "\(operation.name)")
        }
        return entity
    }

    /// Returns the entities to which the operation is bound, after the filters in the path.
    public func boundEntities() throws -> [ODataEntity] {
        guard let binding else { return [] }
        return try transaction.entities(binding)
    }

    /// The URL of the binding parameter, from which further entities can be read, for example
    /// `call.transaction.entities("\(call.boundPath)/Category")`.
    public var boundPath: String {
        var url = ODataURL(path: request.url.path)
        let name = operation.name.name
        if let position = url.path.segments.lastIndex(where: { segment in
            if case .name(let text, _) = segment { text.text == name || text.text.hasSuffix(".\(name)") } else { false }
        }) {
            url.path.segments.removeSubrange(position...)
        }
        return url.urlEncoded()
    }
}

/// The result of an operation.
public enum OperationResult: Sendable {
    /// No result: 204.
    case none
    /// A value of the declared type: primitive, complex, or a collection of these.
    case value(ODataValue)
    /// An entity. If it was read from the store, the request can expand it, select properties and continue the
    /// path.
    case entity(ODataEntity)
    /// Entities in this order. If they were read from one entity set, the request can filter, expand, order,
    /// page and count them.
    case entities([ODataEntity])
    /// The entities at a URL relative to the service root, such as `Products?$orderby=Price desc&$top=10`. The
    /// options of the request are added. Without `$top` and `$skip`, the entities are read only once.
    case query(String)
}
