import ODataModel

/// A scalar function of an app that queries can call by its name.
///
/// ```swift
/// let functions = FunctionRegistry(scalar: [
///     ScalarFunction("App.Soundex", [.primitive(.string)], returns: .primitive(.string)) { arguments in
///         guard case .string(let text) = arguments[0] else { return .null }
///         return .string(soundex(text))
///     }
/// ])
/// let binder = Binder(model: model, functions: functions)
/// ```
///
/// A query calls it with positional arguments like a canonical function, `App.Soundex(Name) eq 'B400'`, or with
/// named ones. It must be pure, since it may be called any number of times and in SQL. Two functions are equal if
/// their names and types are.
public struct ScalarFunction: Hashable, Sendable {
    /// The qualified name.
    public let name: String
    /// The types of the parameters. Arguments are promoted to them like the operands of a comparison.
    public let parameters: [TypeReference]
    /// The names of the parameters, in order; empty if only positional arguments are allowed.
    public let parameterNames: [String]
    /// The type of the result.
    public let returnType: TypeReference
    /// Whether the function accepts null arguments; otherwise its result is null if an argument is.
    public let acceptsNull: Bool
    /// Whether the model declares the function. Only the service can compute such a function.
    public internal(set) var isDeclared = false
    /// Computes the result from arguments of the declared types.
    public let body: @Sendable ([ODataValue]) throws -> ODataValue

    /// Creates a function.
    ///
    /// - Parameters:
    ///   - name: a name with a namespace, which distinguishes it from canonical functions.
    ///   - parameters: the types of the parameters.
    ///   - parameterNames: the names of the parameters, or an empty array.
    ///   - returnType: the type of the result.
    ///   - acceptsNull: whether the function accepts null arguments.
    ///   - body: computes the result.
    public init(
        _ name: String, _ parameters: [TypeReference], named parameterNames: [String] = [],
        returns returnType: TypeReference, acceptsNull: Bool = false,
        body: @escaping @Sendable ([ODataValue]) throws -> ODataValue
    ) {
        self.name = name
        self.parameters = parameters
        self.parameterNames = parameterNames
        self.returnType = returnType
        self.acceptsNull = acceptsNull
        self.body = body
    }

    /// Calls the function. The result is null if an argument is null and the function does not accept null.
    public func callAsFunction(_ arguments: [ODataValue]) throws -> ODataValue {
        if !acceptsNull, arguments.contains(where: \.isNull) { return .null }
        return try body(arguments)
    }

    /// Returns whether the names and types are equal.
    public static func == (left: ScalarFunction, right: ScalarFunction) -> Bool {
        left.name == right.name && left.parameters == right.parameters && left.returnType == right.returnType
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
