import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// A call of an action or function, for the code that answers it.
public struct ServiceCall {
    /// The overload that is called.
    public let operation: ODataOperation
    /// The arguments by name, checked against the declaration; optional ones that were left out are missing.
    public let arguments: [String: ODataValue]
    /// The request.
    public let request: ODataRequest
    /// Reads, and for an action changes, the store in the transaction of the call.
    public let transaction: ServiceTransaction
    /// The path to what it is called on, resolved; `nil` for an unbound operation.
    let binding: BoundURL?

    /// Who calls.
    public var principal: Principal? { request.context.principal }

    /// An argument that must be there.
    ///
    /// - Throws: ``ODataError`` 400 with the parameter as target when it is missing, null or of another type.
    public func argument<Value: ODataValueConvertible>(_ name: String) throws -> Value {
        guard let value: Value = try argument(name) else {
            throw ODataError(
                status: 400, code: "MissingParameter", message: "The parameter \(name) is missing.", target: name)
        }
        return value
    }

    /// An argument that may be left out or null.
    ///
    /// - Throws: ``ODataError`` 400 with the parameter as target when it is of another type.
    public func argument<Value: ODataValueConvertible>(_ name: String) throws -> Value? {
        guard let given = arguments[name], !given.isNull else { return nil }
        if let value = Value(odataValue: given) { return value }
        // A whole number is a number of any kind.
        if case .integer(let number) = given, let value = Value(odataValue: .double(Double(number))) { return value }
        throw ODataError(
            status: 400, code: "InvalidParameter", message: "The parameter \(name) must be of type \(Value.self).",
            target: name)
    }

    /// The entity that it is called on.
    ///
    /// - Throws: ``ODataError`` 404 when there is none.
    public func boundEntity() throws -> ODataEntity {
        guard let binding, let entity = try transaction.entities(binding, limit: 1).first else {
            throw ODataError.notFound(binding.map { StoreReader.name(of: $0.resource.steps) } ?? "\(operation.name)")
        }
        return entity
    }

    /// The entities of the collection that it is called on, filters in the path applied.
    public func boundEntities() throws -> [ODataEntity] {
        guard let binding else { return [] }
        return try transaction.entities(binding)
    }

    /// The path of what it is called on as it stands in the URL, to read from there on, as
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

/// What an operation gives.
public enum OperationResult: Sendable {
    /// Nothing: 204.
    case none
    /// A value of the declared type: primitive, complex, or a collection of these.
    case value(ODataValue)
    /// An entity. One that was read from the store can be expanded, selected from and continued by a path.
    case entity(ODataEntity)
    /// Entities in this order. Those that were read from one entity set can be filtered, expanded, ordered, paged
    /// and counted further.
    case entities([ODataEntity])
    /// The entities at a URL relative to the service root, as `Products?$orderby=Price desc&$top=10`, to which
    /// further options are applied. Without `$top` and `$skip` no entity is read for it.
    case query(String)
}
