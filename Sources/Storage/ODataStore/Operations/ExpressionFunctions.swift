import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import Synchronization

/// The functions of a service that return single values, registered as SQL functions for `$filter`, `$orderby`
/// and `$compute` (OData Protocol 4.01, 11.5.4.1).
///
/// A call reads its bound entity by the key of the row, in the transaction of the query. The function is called
/// for each row that the query visits. A call has no principal.
final class ExpressionFunctions: Sendable {
    /// The longest function name that SQLite accepts, in bytes. Functions with longer names can only be called
    /// by URL.
    private static let maxNameLength = 255

    private let functions: [(operation: ODataOperation, function: ScalarFunction)]
    private let model: EntityDataModel
    private let core = Mutex<ServiceCore?>(nil)

    init(_ definition: ServiceDefinition) {
        let model = definition.model
        self.model = model
        functions = model.schemas.flatMap(\.operations).compactMap { operation in
            guard operation.kind == .function, definition.operations[OperationSignature(operation)] != nil,
                let function = Self.function(operation, in: model),
                AppFunctions.sqlName(function.name).utf8.count <= Self.maxNameLength
            else { return nil }
            return (operation, function)
        }
    }

    /// The names of the functions in queries.
    var names: Set<String> { Set(functions.map(\.function.name)) }

    /// Enables calls of the functions.
    func begin(with core: ServiceCore) { self.core.withLock { $0 = core } }

    /// Registers the functions with a connection.
    func register(in database: Database) {
        let connection = Connection(database: database)
        for (operation, function) in functions {
            let name = AppFunctions.sqlName(function.name)
            let codecs = function.parameters.map { (Operand.canonicalCodec($0), $0) }
            let result = Operand.canonicalCodec(function.returnType)
            database.add(
                function: DatabaseFunction(name, argumentCount: codecs.count) { [self] arguments in
                    // The bound entity does not exist.
                    if arguments.contains(where: \.isNull) { return nil }
                    do {
                        let values = try zip(arguments, codecs).map { try $1.0.decode($0, as: $1.1, in: nil) }
                        return try result.encode(call(operation, values, connection: connection))
                    } catch {
                        throw DatabaseError(
                            resultCode: .SQLITE_ERROR, message: AppFunctions.message(error, "\(operation.name)"))
                    }
                })
        }
    }

    /// Returns the scalar function for an operation; `nil` if expressions cannot call the operation.
    private static func function(_ operation: ODataOperation, in model: EntityDataModel) -> ScalarFunction? {
        switch operation.returnType {
        case .primitive, .enumeration, .typeDefinition: break
        default: return nil
        }
        var types: [TypeReference] = []
        if operation.isBound {
            guard case .entity(let name?)? = operation.parameters.first?.type, let shape = model.shape(name) else {
                return nil
            }
            types = [.primitive(.string)] + shape.key.compactMap { shape.property($0.path)?.type }
            guard types.count == shape.key.count + 1 else { return nil }
        }
        return ScalarFunction(declared: operation, types + operation.ownParameters.map(\.type))
    }

    private func call(
        _ operation: ODataOperation, _ values: [ODataValue], connection: Connection
    ) throws -> ODataValue {
        guard let core = core.withLock({ $0 }), let database = connection.database,
            let handler = core.definition.operations[OperationSignature(operation)]
        else { throw ODataError.notImplemented("\(operation.name) before the service is open") }
        var values = values[...]
        var binding: BoundURL?
        var url = "\(operation.name)()"
        if operation.isBound {
            guard case .string(let name)? = values.popFirst(), let set = model.entitySet(name),
                let shape = model.shape(set.type)
            else { throw ODataError.notImplemented("\(operation.name) here") }
            let key = EntityKey(
                zip(shape.key, values.prefix(shape.key.count)).map { .init(name: $0.name, value: $1) })
            values = values.dropFirst(shape.key.count)
            binding = BoundURL(
                resource: BoundResource(
                    steps: [.entitySet(set, shape), .key(key)], target: .entity(shape, set: set)), query: nil)
            url = EntityID.canonical(set: name, key: key, shape: shape, model: model) + "/\(url)"
        }
        let request = ODataRequest(.read, try ODataURL(parsing: url))
        let arguments = Dictionary(
            zip(operation.ownParameters.map(\.name), values), uniquingKeysWith: { first, _ in first })
        let result = try handler(
            ServiceCall(
                operation: operation, arguments: arguments, request: request,
                transaction: ServiceTransaction(core: core, database: database, request: request), binding: binding))
        switch result {
        case .value(let value): return value
        case .none: return .null
        case .entity, .entities, .query:
            throw ODataError(
                status: 500, code: "InternalError", message: "\(operation.name) gave entities, and no value.")
        }
    }

    /// A weak reference to the connection that owns the functions.
    ///
    /// A function is called only by its own connection, while that connection runs a statement. Therefore, two
    /// threads never use the reference at once.
    private final class Connection: @unchecked Sendable {
        private(set) weak var database: Database?
        init(database: Database) { self.database = database }
    }
}
