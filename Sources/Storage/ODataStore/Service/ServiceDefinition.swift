import ODataModel
import ODataSQL
import ODataService

/// What a service on a model of its own is: the model, its operations, the values that it gives, who may do what.
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
    /// The model; operations that are registered are added to it.
    public private(set) var model: EntityDataModel
    /// The values that the service gives, in the order in which they are asked for.
    public var values: [ValueRule] = []
    /// Who may do what; everybody everything when it is `nil`.
    public var authorization: Authorization?
    /// Whether the rows of sets without `Core.OptimisticConcurrency` have ETags too.
    public var givesETagsToAll = false
    /// The properties that count the changes of a set's entities, by set.
    private(set) var changeCounters: [String: String] = [:]
    private(set) var uniquePaths: [(set: String, paths: [String])] = []
    private(set) var operations: [OperationSignature: OperationHandler] = [:]
    private(set) var interceptors: [ChangeInterceptor] = []
    private(set) var requestInterceptors: [RequestInterceptor] = []
    private(set) var virtualSets: [String: VirtualRows] = [:]

    /// What answers an operation; runs inside a transaction, and only an action's may write.
    public typealias OperationHandler = @Sendable (ServiceCall) throws -> OperationResult
    /// Says what a caller may do with an entity set or singleton.
    public typealias Authorization = @Sendable (Principal?, _ set: String) throws -> Access

    /// Gives the entities of a virtual entity set.
    public typealias VirtualRows = @Sendable (VirtualRead) throws -> [ODataEntity]

    /// Starts with a model.
    public init(model: EntityDataModel) { self.model = model }

    // MARK: Constraints

    /// Says that no two entities of a set have the same values of some properties; a second one is refused with
    /// 409. The term `Core.AlternateKeys` says the same.
    public mutating func unique(_ set: String, _ paths: String...) { uniquePaths.append((set, paths)) }

    // MARK: ETags

    /// Says that a property counts the changes of a set's entities, and that their ETags are made of it. Changes may state the
    /// ETag and need not.
    ///
    /// A set with the term `Core.OptimisticConcurrency` has its ETags from what the term names, and changes must state them:
    /// others are refused with 428 (OData Protocol 4.01, 11.4.1.1).
    ///
    /// - Parameters:
    ///   - set: an entity set or singleton.
    ///   - property: a property of an integer type. Its value is the service's to give.
    public mutating func countChanges(of set: String, in property: String) { changeCounters[set] = property }

    // MARK: Virtual entity sets

    /// Says that the entities of a set of the model are given by a closure at each read, and stand in no table.
    ///
    /// The whole query language works on them, in memory; related entities are those that they bring along. They
    /// cannot be changed, and their changes are not tracked.
    public mutating func virtualSet(_ set: String, _ rows: @escaping VirtualRows) { virtualSets[set] = rows }

    // MARK: Interceptors

    /// Takes part in each request before it is answered: may refuse it by throwing, or change it.
    public mutating func beforeRequest(_ body: @escaping @Sendable (inout ODataRequest) async throws -> Void) {
        requestInterceptors.append(.before(body))
    }

    /// Takes part in each request after it was answered; not when it was refused.
    public mutating func afterRequest(
        _ body: @escaping @Sendable (ODataRequest, inout ODataResponse) async throws -> Void
    ) {
        requestInterceptors.append(.after(body))
    }

    /// Takes part in changes of a set's rows before they are made, in their transaction: completes or refuses what
    /// is given.
    ///
    /// It is not asked where an entity is only related to another one, or no longer, by a relation that no property of
    /// the entity stands for: ``after(_:_:body:)`` is told of such an update, and what that throws refuses it as well.
    ///
    /// - Parameters:
    ///   - kind: what is done.
    ///   - set: the entity set or singleton; `nil` for all.
    ///   - body: gets what is to be inserted, what an update changes, or the entity that is to be deleted. What it
    ///     throws, refuses the change.
    public mutating func before(
        _ kind: RowChange.Kind, _ set: String? = nil,
        body: @escaping @Sendable (inout ODataEntity, ChangeContext) throws -> Void
    ) {
        interceptors.append(ChangeInterceptor(kind: kind, set: set, isBefore: true, body: body))
    }

    /// Is told of changes of a set's rows after they were made, still in their transaction: what it throws takes the
    /// change back and refuses it.
    public mutating func after(
        _ kind: RowChange.Kind, _ set: String? = nil,
        body: @escaping @Sendable (ODataEntity, ChangeContext) throws -> Void
    ) {
        interceptors.append(
            ChangeInterceptor(kind: kind, set: set, isBefore: false) { entity, context in try body(entity, context) })
    }

    // MARK: Operations

    /// Registers a function and adds it, and its import when it is unbound, to the model
    /// (OData Protocol 4.01, 11.5.4). Several with one name are overloads.
    ///
    /// One that gives a single value, and is unbound or bound to an entity, can be called in `$filter`, `$orderby` and
    /// `$compute` too: `$filter=Shop.GetTotalPrice(taxRate=0.1) gt 100`. There it is called for each row that the query
    /// comes by, so that its cost is the query's, and it does not know who asks (``ServiceCall/principal``). Results
    /// that hang on it have no delta links.
    ///
    /// - Parameters:
    ///   - name: the name, in the namespace of the container.
    ///   - binding: what it is called on; `nil` for an unbound one.
    ///   - parameters: the parameters without the binding parameter.
    ///   - type: what it gives.
    ///   - set: the entity set that the entities given belong to.
    ///   - isComposable: whether query options and further segments may follow.
    ///   - handler: gives the result.
    /// - Throws: ``ModelError`` when the model cannot take it.
    public mutating func function(
        _ name: String, on binding: OperationBinding? = nil, parameters: [OperationParameter] = [],
        returns type: TypeReference, in set: String? = nil, isComposable: Bool = true,
        handler: @escaping OperationHandler
    ) throws(ModelError) {
        try register(
            .function, name, binding: binding, parameters: parameters, type: type, set: set, isComposable: isComposable,
            handler: handler)
    }

    /// Registers an action and adds it, and its import when it is unbound, to the model
    /// (OData Protocol 4.01, 11.5.5).
    ///
    /// - Parameters:
    ///   - name: the name, in the namespace of the container.
    ///   - binding: what it is called on; `nil` for an unbound one.
    ///   - parameters: the parameters without the binding parameter.
    ///   - type: what it gives; `nil` for nothing.
    ///   - set: the entity set that the entities given belong to.
    ///   - handler: acts; all that it does is undone when it throws.
    /// - Throws: ``ModelError`` when the model cannot take it.
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
        schemas[index].operations.append(operation)
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

    /// What is bound to entities and gives entities of the same kind, gives those of the same set.
    private static func setPath(
        _ binding: OperationBinding?, _ type: TypeReference?, model: EntityDataModel
    ) -> String? {
        guard let binding, case .entity(let bound?) = binding.type.element, case .entity(let given?) = type?.element,
            model.isType(given, bound) || model.isType(bound, given)
        else { return nil }
        return "bindingParameter"
    }
}

/// What an operation is called on.
public enum OperationBinding: Hashable, Sendable {
    /// One entity of a type, by its qualified name.
    case entity(QualifiedName)
    /// A collection of entities of a type.
    case collection(QualifiedName)

    /// The type of the binding parameter.
    public var type: TypeReference {
        switch self {
        case .entity(let name): .entity(name)
        case .collection(let name): .collection(.entity(name))
        }
    }
}

/// A parameter of an operation.
public struct OperationParameter: Hashable, Sendable {
    /// The parameter as the model declares it.
    public var parameter: ODataOperation.Parameter

    /// Makes a parameter.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - type: the type.
    ///   - isNullable: whether null is a value.
    ///   - isOptional: whether it may be left out (`Core.OptionalParameter`).
    public init(_ name: String, _ type: TypeReference, isNullable: Bool = false, isOptional: Bool = false) {
        let optional = Annotation(
            term: Vocabulary.optionalParameter, value: .record(type: nil, properties: []))
        parameter = .init(name: name, type: type, isNullable: isNullable, annotations: isOptional ? [optional] : [])
    }
}

/// Tells one overload of an operation from another (OData CSDL 4.01, 12.2 and 12.4).
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
