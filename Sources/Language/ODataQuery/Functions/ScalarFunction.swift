import ODataModel

/// A scalar function of an app's own that queries can call by its name.
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
/// It is called as canonical functions are, with its arguments in order: `App.Soundex(Name) eq 'B400'`, or with the
/// names of its parameters. It is pure: the same arguments give the same result, so that it may be called any number
/// of times and in SQL. Two functions are equal when their name and types are.
public struct ScalarFunction: Hashable, Sendable {
    /// The qualified name.
    public let name: String
    /// The types of the parameters. Arguments are promoted to them as the operands of a comparison are.
    public let parameters: [TypeReference]
    /// The names of the parameters, in order; none when they can only be given in order.
    public let parameterNames: [String]
    /// The type of the result.
    public let returnType: TypeReference
    /// Whether it is called with null arguments; otherwise its result is null when an argument is.
    public let acceptsNull: Bool
    /// Whether the model declares it, and not an app: only the service itself can compute it.
    public internal(set) var isDeclared = false
    /// Computes the result from arguments of the declared types.
    public let body: @Sendable ([ODataValue]) throws -> ODataValue

    /// Makes a function.
    ///
    /// - Parameters:
    ///   - name: a name with a namespace, so that it cannot be taken for a canonical function.
    ///   - parameters: the types of the parameters.
    ///   - parameterNames: their names, or none.
    ///   - returnType: the type of the result.
    ///   - acceptsNull: whether it is called with null arguments.
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

    /// Calls the function; null when an argument is and the function does not take it.
    public func callAsFunction(_ arguments: [ODataValue]) throws -> ODataValue {
        if !acceptsNull, arguments.contains(where: \.isNull) { return .null }
        return try body(arguments)
    }

    /// Equal when name and types are.
    public static func == (left: ScalarFunction, right: ScalarFunction) -> Bool {
        left.name == right.name && left.parameters == right.parameters && left.returnType == right.returnType
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
