import ODataModel
import ODataSQL
import ODataService

/// The definition of a service: the model, the operations, the computed values and the access of callers.
///
/// ```swift
/// var definition = ServiceDefinition(model: model)
/// definition.values += [.created("CreatedAt"), .modified("UpdatedAt")]
/// definition.unique("Categories", "Name")
/// let product = OperationBinding.entity(QualifiedName("Shop", "Product"))
/// try definition.function("GetTotalPrice", on: product, parameters: [.init("taxRate", .primitive(.double))],
///     returns: .primitive(.double)) { call in
///     let price: Double = try call.boundEntity().read("Price")
///     return .value(.double(price * (1 + (try call.argument("taxRate") as Double))))
/// }
/// let service = try await StoreService.open(definition, at: .memory)
/// ```
public struct ServiceDefinition: Sendable {
    /// The model, including the registered operations.
    public private(set) var model: EntityDataModel
    /// The values that the service sets, in the order of their evaluation.
    public var values: [ValueRule] = []
    /// The access of callers; if `nil`, all callers have full access.
    public var authorization: Access.Rule?
    /// Whether sets without the term `Core.OptimisticConcurrency` have ETags as well.
    public var givesETagsToAll = false
    /// The properties that count changes, by set.
    private(set) var changeCounters: [String: String] = [:]
    private(set) var uniquePaths: [(set: String, paths: [String])] = []
    private(set) var operations: [OperationSignature: OperationHandler] = [:]
    private(set) var interceptors: [ChangeInterceptor] = []
    private(set) var requestInterceptors: [RequestInterceptor] = []
    private(set) var virtualSets: [String: VirtualRows] = [:]

    /// The handler of an operation. The handler runs inside a transaction; only handlers of actions may write.
    public typealias OperationHandler = @Sendable (ServiceCall) throws -> OperationResult
    /// A closure that returns the entities of a virtual entity set.
    public typealias VirtualRows = @Sendable (VirtualRead) throws -> [ODataEntity]

    /// Creates a definition without operations or rules.
    public init(model: EntityDataModel) { self.model = model }

    // MARK: Constraints

    /// Declares that the values of some properties are unique within a set. A duplicate is refused with 409.
    /// The term `Core.AlternateKeys` has the same effect.
    public mutating func unique(_ set: String, _ paths: String...) { uniquePaths.append((set, paths)) }

    // MARK: ETags

    /// Declares that a property counts the changes of a set's entities and determines their ETags. Changes may
    /// state the ETag, but need not.
    ///
    /// If a set has the term `Core.OptimisticConcurrency`, the term determines the ETags instead. Changes
    /// without an ETag are then refused with 428 (OData Protocol 4.01, 11.4.1.1).
    ///
    /// - Parameters:
    ///   - set: an entity set or singleton.
    ///   - property: a property of an integer type. Only the service sets its value.
    public mutating func countChanges(of set: String, in property: String) { changeCounters[set] = property }

    // MARK: Virtual entity sets

    /// Declares that a closure returns the entities of a set at each read. The set has no table.
    ///
    /// All query options are evaluated in memory. Related entities must be included by the closure. The
    /// entities are read-only, and their changes are not tracked.
    public mutating func virtualSet(_ set: String, _ rows: @escaping VirtualRows) { virtualSets[set] = rows }

    // MARK: Interceptors

    /// Adds an interceptor that is called before each request. The closure can change the request, or refuse it
    /// by throwing an error.
    public mutating func beforeRequest(_ body: @escaping @Sendable (inout ODataRequest) async throws -> Void) {
        requestInterceptors.append(.before(body))
    }

    /// Adds an interceptor that is called after each successful request.
    public mutating func afterRequest(
        _ body: @escaping @Sendable (ODataRequest, inout ODataResponse) async throws -> Void
    ) {
        requestInterceptors.append(.after(body))
    }

    /// Adds an interceptor that is called before rows of a set are changed, in the transaction of the change.
    /// The closure can complete the change, or refuse it by throwing an error.
    ///
    /// The closure is not called if only a relation of an entity changes and no property of the entity
    /// represents the relation. ``after(_:_:body:)`` reports such updates and can refuse them as well.
    ///
    /// - Parameters:
    ///   - kind: the kind of change.
    ///   - set: the entity set or singleton; `nil` for all.
    ///   - body: the closure; its first argument is the entity to insert or delete, or the changes of an
    ///     update. An error refuses the change.
    public mutating func before(
        _ kind: RowChange.Kind, _ set: String? = nil,
        body: @escaping @Sendable (inout ODataEntity, ChangeContext) throws -> Void
    ) {
        interceptors.append(ChangeInterceptor(kind: kind, set: set, isBefore: true, body: body))
    }

    /// Adds an interceptor that is called after rows of a set have changed, in the transaction of the change.
    /// An error rolls the change back.
    public mutating func after(
        _ kind: RowChange.Kind, _ set: String? = nil,
        body: @escaping @Sendable (ODataEntity, ChangeContext) throws -> Void
    ) {
        interceptors.append(
            ChangeInterceptor(kind: kind, set: set, isBefore: false) { entity, context in try body(entity, context) })
    }

    // MARK: Operations

    /// Registers a function and adds it to the model, with an import if it is unbound (OData Protocol 4.01,
    /// 11.5.4). Functions with the same name are overloads. A function that the model declares with the same
    /// binding and parameters keeps its declaration.
    ///
    /// If a function returns a single value, and is unbound or bound to an entity, queries can call it in
    /// `$filter`, `$orderby` and `$compute`. An example is `$filter=Shop.GetTotalPrice(taxRate=0.1) gt 100`.
    /// The function is then called for each row that the query visits, and ``ServiceCall/principal`` is `nil`.
    /// Results that depend on such a function have no delta links.
    ///
    /// - Parameters:
    ///   - name: the name, in the namespace of the container.
    ///   - binding: the type of the binding parameter; `nil` for an unbound function.
    ///   - parameters: the parameters without the binding parameter.
    ///   - type: the return type.
    ///   - set: the entity set of the returned entities.
    ///   - isComposable: whether query options and further segments may follow.
    ///   - handler: a closure that returns the result.
    /// - Throws: ``ModelError`` if the model cannot contain the function.
    public mutating func function(
        _ name: String, on binding: OperationBinding? = nil, parameters: [OperationParameter] = [],
        returns type: TypeReference, in set: String? = nil, isComposable: Bool = true,
        handler: @escaping OperationHandler
    ) throws(ModelError) {
        try register(
            .function, name, binding: binding, parameters: parameters, type: type, set: set, isComposable: isComposable,
            handler: handler)
    }

    /// Registers an action and adds it to the model, with an import if it is unbound (OData Protocol 4.01,
    /// 11.5.5). An action that the model declares with the same binding and parameters keeps its declaration.
    ///
    /// - Parameters:
    ///   - name: the name, in the namespace of the container.
    ///   - binding: the type of the binding parameter; `nil` for an unbound action.
    ///   - parameters: the parameters without the binding parameter.
    ///   - type: the return type; `nil` if the action returns nothing.
    ///   - set: the entity set of the returned entities.
    ///   - handler: a closure that performs the action. If it throws, all its changes are rolled back.
    /// - Throws: ``ModelError`` if the model cannot contain the action.
    public mutating func action(
        _ name: String, on binding: OperationBinding? = nil, parameters: [OperationParameter] = [],
        returns type: TypeReference? = nil, in set: String? = nil, handler: @escaping OperationHandler
    ) throws(ModelError) {
        try register(
            .action, name, binding: binding, parameters: parameters, type: type, set: set, isComposable: false,
            handler: handler)
    }

    private mutating func register(
        _ kind: ODataOperation.Kind, _ name: String, binding: OperationBinding?, parameters: [OperationParameter],
        type: TypeReference?, set: String?, isComposable: Bool, handler: @escaping OperationHandler
    ) throws(ModelError) {
        var schemas = model.schemas
        let index = schemas.firstIndex { $0.container != nil } ?? 0
        guard schemas.indices.contains(index) else { throw .duplicateName(name) }
        var declared = parameters.map(\.parameter)
        if let binding {
            declared.insert(
                ODataOperation.Parameter(name: "bindingParameter", type: binding.type, isNullable: false), at: 0)
        }
        let operation = ODataOperation(
            name: QualifiedName(schemas[index].namespace, name), kind: kind, isBound: binding != nil,
            isComposable: isComposable, entitySetPath: Self.setPath(binding, type, model: model), parameters: declared,
            returnType: type, isReturnNullable: type?.isCollection != true)
        let signature = OperationSignature(operation)
        guard operations[signature] == nil else { throw .duplicateName(operation.name.description) }
        if !schemas[index].operations.contains(where: { OperationSignature($0) == signature }) {
            schemas[index].operations.append(operation)
        }
        if binding == nil, var container = schemas[index].container,
            !container.operationImports.contains(where: { $0.name == name })
        {
            container.operationImports.append(
                OperationImport(
                    name: name, operation: operation.name, kind: kind, entitySet: set,
                    isInServiceDocument: kind == .function && parameters.isEmpty))
            schemas[index].container = container
        }
        model = try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: model.references)
        operations[signature] = handler
    }

    /// Returns the entity set path of an operation. If binding parameter and result have the same kind of
    /// entities, they are in the same set.
    private static func setPath(
        _ binding: OperationBinding?, _ type: TypeReference?, model: EntityDataModel
    ) -> String? {
        guard let binding, case .entity(let bound?) = binding.type.element, case .entity(let given?) = type?.element,
            model.isType(given, bound) || model.isType(bound, given)
        else { return nil }
        return "bindingParameter"
    }
}

/// The type of an operation's binding parameter.
public enum OperationBinding: Hashable, Sendable {
    /// An entity of the type with this qualified name.
    case entity(QualifiedName)
    /// A collection of entities of the type with this qualified name.
    case collection(QualifiedName)

    /// The type reference of the binding parameter.
    public var type: TypeReference {
        switch self {
        case .entity(let name): .entity(name)
        case .collection(let name): .collection(.entity(name))
        }
    }
}

/// A parameter of an operation.
public struct OperationParameter: Hashable, Sendable {
    /// The declaration in the model.
    public var parameter: ODataOperation.Parameter

    /// Creates a parameter.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - type: the type.
    ///   - isNullable: whether null is permitted.
    ///   - isOptional: whether callers may omit the parameter (`Core.OptionalParameter`).
    public init(_ name: String, _ type: TypeReference, isNullable: Bool = false, isOptional: Bool = false) {
        let optional = Annotation(
            term: Vocabulary.optionalParameter, value: .record(type: nil, properties: []))
        parameter = .init(name: name, type: type, isNullable: isNullable, annotations: isOptional ? [optional] : [])
    }
}

/// The signature that distinguishes the overloads of an operation (OData CSDL 4.01, 12.2 and 12.4).
struct OperationSignature: Hashable, Sendable {
    private let name: QualifiedName
    private let binding: String?
    private let parameters: [String]

    init(_ operation: ODataOperation) {
        name = operation.name
        binding = operation.isBound ? operation.parameters.first.map { "\($0.type)" } : nil
        parameters = operation.parameters.dropFirst(operation.isBound ? 1 : 0).map { "\($0.name):\($0.type)" }.sorted()
    }
}
