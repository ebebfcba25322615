import ODataModel
import ODataQuery

/// A call of an action or function, used by generated code (OData Protocol 4.01, 11.5).
///
/// ```swift
/// var call = OperationCall(service, "CloseMonth", .action)
/// call.set("Reason", "End of year")
/// try await call.run()
/// ```
public struct OperationCall: Sendable {
    private struct Parameter {
        var name: String
        /// The value in the body of an action.
        var value: ODataValue
        /// The argument in the URL of a function.
        var argument: CommonExpression
    }

    private let service: DataService
    private let kind: ODataOperation.Kind
    private let path: ResourcePath
    private let name: String
    private var parameters: [Parameter] = []

    private init(_ service: DataService, _ path: ResourcePath, _ name: String, _ kind: ODataOperation.Kind) {
        self.service = service
        self.kind = kind
        self.path = path
        self.name = name
    }

    /// Creates a call through an action or function import.
    public init(_ service: DataService, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(service, ResourcePath(), name, kind)
    }

    /// Creates a call of an operation that is bound to an entity, by its qualified name.
    public init<Element>(on entity: EntityRequest<Element>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(entity.odataService, entity.query.url.path, name, kind)
    }

    /// Creates a call of an operation that is bound to a collection of entities, by its qualified name.
    public init<Element>(on collection: TypedCollection<Element>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(collection.odataService, collection.query.url.path, name, kind)
    }

    /// Creates a call of an operation that is bound to a primitive or complex value, by its qualified name.
    public init<Value>(on value: ValueRequest<Value>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(value.odataService, value.query.url.path, name, kind)
    }

    /// Creates a call of an operation that is bound to a collection of values, by its qualified name.
    public init<Member>(on values: ValueCollectionRequest<Member>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(values.odataService, values.query.url.path, name, kind)
    }

    // MARK: Parameters

    /// Sets a parameter; `nil` is null.
    public mutating func set<Value: ODataValueConvertible>(_ name: String, _ value: Value?) {
        let given = value?.odataValue ?? .null
        let argument = Self.json(given, of: Value.self) ?? QueryExpression.literal(value).expression
        parameters.append(Parameter(name: name, value: given, argument: argument))
    }

    /// Sets an optional parameter; `nil` omits it.
    public mutating func setOptional(_ name: String, _ value: (some ODataValueConvertible)?) {
        if let value { set(name, value) }
    }

    /// Sets a parameter that is a collection with null members or with binary members.
    public mutating func setMembers<Member: ODataValueConvertible>(_ name: String, _ members: [Member?]) {
        let given = ODataValue.collection(members.map { $0?.odataValue ?? .null })
        let argument = Self.json(given, of: [Member].self) ?? .literal(Literal(.null))
        parameters.append(Parameter(name: name, value: given, argument: argument))
    }

    /// Sets an optional parameter that is a collection with null members or with binary members; `nil` omits it.
    public mutating func setOptionalMembers<Member: ODataValueConvertible>(_ name: String, _ members: [Member?]?) {
        if let members { setMembers(name, members) }
    }

    /// Returns the JSON of a structured value or a collection for the URL; `nil` for other values.
    private static func json(_ value: ODataValue, of type: (some ODataValueConvertible).Type) -> CommonExpression? {
        switch value {
        case .complex, .collection: break
        default: return nil
        }
        let declared = DeclaredType(type)
        var json = JSONWriter()
        json.value(value, type: declared?.type, model: declared?.model ?? EntityDataModel())
        return .json(String(decoding: json.bytes, as: UTF8.self))
    }

    // MARK: Results

    /// Executes the call and ignores the result.
    public func run() async throws { _ = try await service.send(try await request()) }

    /// Executes the call.
    ///
    /// - Returns: the value; `nil` for null.
    public func value<Value: ODataValueConvertible>() async throws -> Value? {
        let value: ODataValue
        switch try await execute().body {
        case .value(let given, _): value = given
        // A decoder that does not know the operation decodes complex values as entities.
        case .entity(let entity): value = .complex(entity)
        case .none: value = .null
        default: throw DataServiceError.unexpectedAnswer(expected: "a value")
        }
        if value.isNull { return nil }
        guard let result = Value(odataValue: value) else {
            throw DataServiceError.unexpectedAnswer(expected: "\(Value.self)")
        }
        return result
    }

    /// Executes the call.
    ///
    /// - Returns: the members without null members.
    public func values<Value: ODataValueConvertible>() async throws -> [Value] {
        try await members().compactMap(\.self)
    }

    /// Executes the call.
    ///
    /// - Returns: the members; `nil` for a null member.
    public func members<Value: ODataValueConvertible>() async throws -> [Value?] {
        switch try await execute().body {
        case .value(let value, _): return try value.typedMembers()
        // A decoder that does not know the operation decodes collections of complex values as pages.
        case .page(let page): return try ODataValue.collection(page.entities.map { .complex($0) }).typedMembers()
        case .none: return []
        default: throw DataServiceError.unexpectedAnswer(expected: "a collection of values")
        }
    }

    /// Executes the call.
    ///
    /// - Returns: the bytes with their media type, which are fetched on demand; `nil` if there are none.
    public func stream() async throws -> (ByteStream, contentType: String)? {
        switch try await execute().body {
        case .raw(let bytes, let contentType): return (bytes, contentType)
        case .none, .value(.null, _): return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "a stream")
        }
    }

    /// Executes the call.
    ///
    /// - Returns: the entity; `nil` if there is none.
    public func entity<Element: TypedEntity>() async throws -> Element? {
        switch try await execute().body {
        case .entity(let entity): return try Element(row: entity)
        case .none, .value(.null, _): return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "an entity")
        }
    }

    /// Executes the call and returns the entities of all pages.
    public func entities<Element: TypedEntity>() async throws -> [Element] {
        var values: [Element] = []
        for try await page in EntityPages(service: service, first: try await request()) {
            values += try page.entities.map { try Element(row: $0) }
        }
        return values
    }

    /// Returns the result of a function as a collection, which can be queried further.
    public func collection<Element: TypedEntity>() -> TypedCollection<Element> {
        TypedCollection(service, ResourceQuery(functionURL))
    }

    /// Returns a request for the entity that a function returns.
    public func one<Element: TypedEntity>() -> EntityRequest<Element> {
        EntityRequest(service, ResourceQuery(functionURL))
    }

    // MARK: Requests

    private func execute() async throws -> ODataResponse { try await service.answer(to: try await request()) }

    private func request() async throws -> ODataRequest {
        guard kind == .action else { return ODataRequest(.read, functionURL) }
        var url = ODataURL(path: path)
        url.path.segments.append(.name(Identifier(name), .none))
        let model = try await service.provider.model
        var values: [String: ODataValue] = [:]
        for parameter in parameters { values[parameter.name] = try parameter.value.localized(in: model) }
        return ODataRequest(.create, url, body: values.isEmpty ? .none : .parameters(values))
    }

    /// The URL of a function call. Structured values and collections are passed as parameter aliases (OData URL
    /// Conventions 4.01, 4.5.1).
    private var functionURL: ODataURL {
        var url = ODataURL(path: path)
        var arguments: [CommonExpression.NamedArgument] = []
        for parameter in parameters {
            let name = Identifier(parameter.name)
            var argument = parameter.argument
            if case .json = argument {
                url.options.aliases[parameter.name] = argument
                argument = .alias(name)
            }
            arguments.append(CommonExpression.NamedArgument(name: name, value: argument))
        }
        url.path.segments.append(.name(Identifier(name), arguments.isEmpty ? .empty : .named(arguments)))
        return url
    }
}

/// The model type of a Swift type, which is needed to write enumeration members by name.
private struct DeclaredType {
    var type: TypeReference
    var model: EntityDataModel

    init?(_ type: any ODataValueConvertible.Type) {
        switch type {
        case let structure as any TypedStructure.Type: self.init(structure: structure)
        case let enumeration as any TypedEnumeration.Type: self.init(enumeration: enumeration)
        case let collection as any CollectionValue.Type:
            guard let member = DeclaredType(collection.memberType) else { return nil }
            self.init(type: .collection(member.type), model: member.model)
        default: return nil
        }
    }

    private init(type: TypeReference, model: EntityDataModel) {
        self.type = type
        self.model = model
    }

    private init<Structure: TypedStructure>(structure: Structure.Type) {
        self.init(type: .complex(Structure.typeName), model: Structure.odataModel)
    }

    private init<Enumeration: TypedEnumeration>(enumeration: Enumeration.Type) {
        self.init(type: .enumeration(Enumeration.typeName), model: Enumeration.odataModel)
    }
}

/// A collection of values.
private protocol CollectionValue {
    static var memberType: any ODataValueConvertible.Type { get }
}

extension Array: CollectionValue where Element: ODataValueConvertible {
    fileprivate static var memberType: any ODataValueConvertible.Type { Element.self }
}
