import GRDB
import ODataModel
import ODataQuery

/// The SQL functions that an app or a service has registered.
package enum AppFunctions {
    /// Returns the SQL name of a registered function. The prefix avoids conflicts with functions of SQLite and of
    /// this library.
    package static func sqlName(_ name: String) -> String { "app:\(name)" }

    /// Adds the functions of a registry to a connection.
    static func register(_ registry: FunctionRegistry, in database: Database) {
        for function in registry.scalar.values.joined() { database.add(function: scalar(function)) }
        for function in registry.aggregate.values {
            Accumulator.register(sqlName(function.name), 2, in: database.sqliteConnection) {
                AppAggregate(function)
            }
        }
    }

    private static func scalar(_ function: ScalarFunction) -> DatabaseFunction {
        let parameters = function.parameters.map { (Operand.canonicalCodec($0), $0) }
        let result = Operand.canonicalCodec(function.returnType)
        return DatabaseFunction(
            sqlName(function.name), argumentCount: parameters.count, pure: true
        ) { arguments in
            do {
                let values = try zip(arguments, parameters).map { try $1.0.decode($0, as: $1.1, in: nil) }
                return try result.encode(function(values))
            } catch {
                throw DatabaseError(resultCode: .SQLITE_ERROR, message: message(error, function.name))
            }
        }
    }

    /// Returns the error message of a registered function. Its errors become errors of the request.
    package static func message(_ error: any Error, _ name: String) -> String {
        StoreFunctions.message(of: error) ?? "\(FunctionError.mark)\(name): \(error)"
    }
}

/// A registered aggregation method; the second argument is the type of the values.
private final class AppAggregate: Accumulator {
    private let function: AggregateFunction
    private var values: [ODataValue] = []
    private var type: PrimitiveType?

    init(_ function: AggregateFunction) { self.function = function }

    override func add(_ arguments: Arguments) throws { values.append(try value(arguments)) }

    override func remove(_ arguments: Arguments) throws {
        let value = try value(arguments)
        if let index = values.firstIndex(of: value) { values.remove(at: index) }
    }

    private func value(_ arguments: Arguments) throws -> ODataValue {
        let name = String.fromDatabaseValue(arguments.value(1)) ?? ""
        guard let primitive = PrimitiveType(rawValue: name) else { throw FunctionError.argument("a primitive type") }
        type = primitive
        let reference = TypeReference.primitive(primitive)
        return try Operand.canonicalCodec(reference).decode(arguments.value(0), as: reference, in: nil)
    }

    override func result() throws -> DatabaseValue {
        guard let returnType = function.returnType ?? type.map({ .primitive($0) }) else { return .null }
        do {
            return try Operand.canonicalCodec(returnType).encode(function.body(values))
        } catch {
            throw FunctionError.app(AppFunctions.message(error, function.name))
        }
    }
}
