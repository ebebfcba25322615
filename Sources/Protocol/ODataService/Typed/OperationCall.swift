import ODataModel
import ODataQuery

/// A call of an action or function by generated code (OData Protocol 4.01, 11.5).
///
/// ```swift
/// var call = OperationCall(on: order, "Shop.Approve", .action)
/// call.set("Reason", reason)
/// try await call.run()
/// ```
public struct OperationCall: Sendable {
    private struct Parameter {
        var name: String
        /// As an action's body has it.
        var value: ODataValue
        /// As a function's address has it.
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

    /// A call through an action or function import.
    public init(_ service: DataService, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(service, ResourcePath(), name, kind)
    }

    /// A call of an operation that is bound to an entity, by its qualified name.
    public init<Element>(on entity: EntityRequest<Element>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(entity.odataService, entity.query.url.path, name, kind)
    }

    /// A call of an operation that is bound to a collection of entities, by its qualified name.
    public init<Element>(on collection: TypedCollection<Element>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(collection.odataService, collection.query.url.path, name, kind)
    }

    /// A call of an operation that is bound to a value, complex or not, by its qualified name.
    public init<Value>(on value: ValueRequest<Value>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(value.odataService, value.query.url.path, name, kind)
    }

    /// A call of an operation that is bound to a collection of values, by its qualified name.
    public init<Member>(on values: ValueCollectionRequest<Member>, _ name: String, _ kind: ODataOperation.Kind) {
        self.init(values.odataService, values.query.url.path, name, kind)
    }

    // MARK: Parameters

    /// Gives a parameter its value; `nil` is null.
    public mutating func set<Value: ODataValueConvertible>(_ name: String, _ value: Value?) {
        let given = value?.odataValue ?? .null
        let argument = Self.json(given, of: Value.self) ?? QueryExpression.literal(value).expression
        parameters.append(Parameter(name: name, value: given, argument: argument))
    }

    /// Gives a parameter that may be left out its value; `nil` leaves it out.
    public mutating func setOptional(_ name: String, _ value: (some ODataValueConvertible)?) {
        if let value { set(name, value) }
    }

    /// Gives a parameter that is a collection with null members, or one of bytes, its value.
    public mutating func setMembers<Member: ODataValueConvertible>(_ name: String, _ members: [Member?]) {
        let given = ODataValue.collection(members.map { $0?.odataValue ?? .null })
        let argument = Self.json(given, of: [Member].self) ?? .literal(Literal(.null))
        parameters.append(Parameter(name: name, value: given, argument: argument))
    }

    /// Gives a parameter that is a collection with null members, or one of bytes, and that may be left out, its value;
    /// `nil` leaves it out.
    public mutating func setOptionalMembers<Member: ODataValueConvertible>(_ name: String, _ members: [Member?]?) {
        if let members { setMembers(name, members) }
    }

    /// A structured value or a collection as JSON, which is how it stands in an address; `nil` for others.
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

    /// Calls it; what it returns is not asked for.
    public func run() async throws { _ = try await service.send(try await request()) }

    /// Calls it.
    ///
    /// - Returns: the value; `nil` for null.
    public func value<Value: ODataValueConvertible>() async throws -> Value? {
        let value: ODataValue
        switch try await execute().body {
        case .value(let given, _): value = given
        // Complex values and entities look alike to a reader that does not know the operation.
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

    /// Calls it.
    ///
    /// - Returns: the members, null ones left out.
    public func values<Value: ODataValueConvertible>() async throws -> [Value] {
        try await members().compactMap(\.self)
    }

    /// Calls it.
    ///
    /// - Returns: the members; `nil` for a null one.
    public func members<Value: ODataValueConvertible>() async throws -> [Value?] {
        switch try await execute().body {
        case .value(let value, _): return try value.typedMembers()
        // So do collections of complex values.
        case .page(let page): return try ODataValue.collection(page.entities.map { .complex($0) }).typedMembers()
        case .none: return []
        default: throw DataServiceError.unexpectedAnswer(expected: "a collection of values")
        }
    }

    /// Calls it.
    ///
    /// - Returns: the bytes with their media type, pulled as they are read; `nil` when there are none.
    public func stream() async throws -> (ByteStream, contentType: String)? {
        switch try await execute().body {
        case .raw(let bytes, let contentType): return (bytes, contentType)
        case .none, .value(.null, _): return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "a stream")
        }
    }

    /// Calls it.
    ///
    /// - Returns: the entity; `nil` when there is none.
    public func entity<Element: TypedEntity>() async throws -> Element? {
        switch try await execute().body {
        case .entity(let entity): return try Element(row: entity)
        case .none, .value(.null, _): return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "an entity")
        }
    }

    /// Calls it, following pages.
    public func entities<Element: TypedEntity>() async throws -> [Element] {
        var values: [Element] = []
        for try await page in EntityPages(service: service, first: try await request()) {
            values += try page.entities.map { try Element(row: $0) }
        }
        return values
    }

    /// The result of a function that returns entities, which more of a query may follow.
    public func collection<Element: TypedEntity>() -> TypedCollection<Element> {
        TypedCollection(service, ResourceQuery(functionURL))
    }

    /// The result of a function that returns an entity.
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

    /// The address of a function. Structured values and collections go by parameter aliases, as the grammar of
    /// paths wants it (OData URL Conventions 4.01, 4.5.1).
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

/// What a Swift type is called in the model that it was generated from, so that members of enumerations are written by
/// name.
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

/// Values with members.
private protocol CollectionValue {
    static var memberType: any ODataValueConvertible.Type { get }
}

extension Array: CollectionValue where Element: ODataValueConvertible {
    fileprivate static var memberType: any ODataValueConvertible.Type { Element.self }
}
