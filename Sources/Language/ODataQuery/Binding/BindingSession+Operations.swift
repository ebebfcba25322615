import ODataModel

/// Calls in expressions of functions that the service declares (OData URL Conventions 4.01, 5.1.1.14 and Protocol
/// 4.01, 11.5.4.1).
extension BindingSession {
    /// Resolves a call of a declared function with named parameters. The function is bound to the entity at a path,
    /// or is unbound if the path is empty.
    ///
    /// - Returns: `nil` if the model declares no such function.
    /// - Throws: an error if an expression cannot use the result, or the entity belongs to no entity set.
    func declared(
        _ name: Identifier, on state: PathState, _ arguments: [CommonExpression.NamedArgument], in scope: Scope
    ) throws(QueryError) -> BoundExpression? {
        let given = Set(arguments.map(\.name.text))
        let overloads = qualified(name.text).flatMap { model.operations($0) }.filter { operation in
            operation.kind == .function && Set(operation.ownParameters.map(\.name)) == given
        }
        let unbound = state.steps.isEmpty ? overloads.first { !$0.isBound } : nil
        guard let overload = overloads.first(where: { isBound($0, to: state) }) ?? unbound else { return nil }
        switch overload.returnType {
        case .primitive, .enumeration, .typeDefinition: break
        default:
            throw unsupported("The function \(name), which gives no single value, in an expression", at: name.offset)
        }
        var values: [BoundExpression] = []
        var types: [TypeReference] = []
        if overload.isBound {
            guard let shape = state.shape, let set = state.source, model.entitySet(set) != nil else {
                throw unsupported("The function \(name) on an entity of no entity set", at: name.offset)
            }
            values.append(.constant(.string(set), .primitive(.string)))
            types.append(.primitive(.string))
            for part in shape.key {
                var key = state
                for step in part.path.split(separator: "/") {
                    try append(Identifier(String(step), at: name.offset), to: &key, in: scope)
                }
                values.append(.path(key.path))
                types.append(key.type)
            }
        }
        for parameter in overload.ownParameters {
            guard let argument = arguments.first(where: { $0.name.text == parameter.name }) else { continue }
            values.append(try bind(argument.value, expecting: parameter.type, in: scope))
            types.append(parameter.type)
        }
        return try custom(ScalarFunction(declared: overload, types), values, at: name.offset)
    }

    private func isBound(_ operation: ODataOperation, to state: PathState) -> Bool {
        guard operation.isBound, case .entity(let wanted?)? = operation.parameters.first?.type,
            case .entity = state.type,
            let shape = state.shape
        else { return false }
        return model.isType(shape.name, wanted)
    }
}

extension ScalarFunction {
    /// Creates a function that the service declares and that only the service can compute.
    ///
    /// The arguments of a bound function begin with the entity set and the key of the entity. The parameters follow
    /// in the order of the declaration.
    ///
    /// - Parameter types: the types of all arguments.
    public init(declared operation: ODataOperation, _ types: [TypeReference]) {
        let name = Self.name(declared: operation)
        self.init(name, types, returns: operation.returnType ?? .primitive(.string)) { _ in
            throw QueryError(.unsupported(feature: name), "\(name) can be computed by its service alone.")
        }
        isDeclared = true
    }

    /// Returns a name that is unique among the overloads of a declared function.
    public static func name(declared operation: ODataOperation) -> String {
        let binding = operation.isBound ? operation.parameters.first.map { "\($0.type)" } ?? "" : ""
        return "\(operation.name)(\(binding);\(operation.ownParameters.map(\.name).joined(separator: ",")))"
    }
}
