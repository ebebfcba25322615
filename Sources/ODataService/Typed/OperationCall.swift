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
    private let service: DataService
    private let kind: Operation.Kind
    private let path: ResourcePath
    private let name: String
    private var parameters: [(name: String, value: ODataValue, literal: QueryExpression)] = []

    private init(_ service: DataService, _ path: ResourcePath, _ name: String, _ kind: Operation.Kind) {
        self.service = service
        self.kind = kind
        self.path = path
        self.name = name
    }

    /// A call through an action or function import.
    public init(_ service: DataService, _ name: String, _ kind: Operation.Kind) {
        self.init(service, ResourcePath(), name, kind)
    }

    /// A call of an operation that is bound to an entity, by its qualified name.
    public init<Element>(on entity: EntityRequest<Element>, _ name: String, _ kind: Operation.Kind) {
        self.init(entity.odataService, entity.query.url.path, name, kind)
    }

    /// A call of an operation that is bound to a collection, by its qualified name.
    public init<Element>(on collection: EntityCollection<Element>, _ name: String, _ kind: Operation.Kind) {
        self.init(collection.odataService, collection.query.url.path, name, kind)
    }

    /// Gives a parameter its value; `nil` is null.
    public mutating func set(_ name: String, _ value: (some ODataValueConvertible)?) {
        parameters.append((name, value?.odataValue ?? .null, .literal(value)))
    }

    /// Gives a parameter that may be left out its value; `nil` leaves it out.
    public mutating func setOptional(_ name: String, _ value: (some ODataValueConvertible)?) {
        if let value { set(name, value) }
    }

    /// Gives a parameter that is a collection with null members its value.
    public mutating func setMembers(_ name: String, _ members: [(some ODataValueConvertible)?]) {
        let values = members.map { $0?.odataValue ?? .null }
        parameters.append((name, .collection(values), .value(.collection(values))))
    }

    /// Gives a parameter that is an entity its value.
    public mutating func set(_ name: String, entity: (some TypedEntity)?) { set(name, entity) }

    // MARK: Results

    /// Calls it; what it returns is not asked for.
    public func run() async throws { _ = try await execute() }

    /// Calls it.
    ///
    /// - Returns: the value; `nil` for null.
    public func value<Value: ODataValueConvertible>() async throws -> Value? {
        switch try await execute().body {
        case .value(let value, _):
            if value.isNull { return nil }
            guard let result = Value(odataValue: value) else {
                throw DataServiceError.unexpectedAnswer(expected: "\(Value.self)")
            }
            return result
        case .entity(let entity):
            // Complex values and entities look alike to a reader that does not know the operation.
            guard let result = Value(odataValue: .complex(entity)) else {
                throw DataServiceError.unexpectedAnswer(expected: "\(Value.self)")
            }
            return result
        case .none: return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "a value")
        }
    }

    /// Calls it.
    ///
    /// - Returns: the members, null ones left out.
    public func values<Value: ODataValueConvertible>() async throws -> [Value] {
        switch try await execute().body {
        case .value(.collection(let members), _):
            return try members.filter { !$0.isNull }.map { member in
                guard let value = Value(odataValue: member) else {
                    throw DataServiceError.unexpectedAnswer(expected: "\(Value.self)")
                }
                return value
            }
        case .none, .value(.null, _): return []
        default: throw DataServiceError.unexpectedAnswer(expected: "a collection of values")
        }
    }

    /// Calls it.
    ///
    /// - Returns: the entity; `nil` when there is none.
    public func entity<Element: TypedEntity>() async throws -> Element? {
        switch try await execute().body {
        case .entity(let entity): return Element(odataEntity: entity)
        case .none, .value(.null, _): return nil
        default: throw DataServiceError.unexpectedAnswer(expected: "an entity")
        }
    }

    /// Calls it, following pages.
    public func entities<Element: TypedEntity>() async throws -> [Element] {
        var values: [Element] = []
        for try await page in EntityPages(service: service, first: try await request()) {
            values += page.entities.map { Element(odataEntity: $0) }
        }
        return values
    }

    /// The result of a function that returns entities, which more of a query may follow.
    public func collection<Element: TypedEntity>() -> EntityCollection<Element> {
        EntityCollection(service, Query(functionURL))
    }

    /// The result of a function that returns an entity.
    public func one<Element: TypedEntity>() -> EntityRequest<Element> { EntityRequest(service, Query(functionURL)) }

    // MARK: Requests

    private func execute() async throws -> ODataResponse { try await service.send(try await request()) }

    private func request() async throws -> ODataRequest {
        guard kind == .action else { return ODataRequest(.read, functionURL) }
        var url = ODataURL(path: path)
        url.path.segments.append(.name(Identifier(name), .none))
        let model = try await service.provider.model
        var values: [String: ODataValue] = [:]
        for parameter in parameters { values[parameter.name] = try parameter.value.parameter(in: model) }
        return ODataRequest(.create, url, body: values.isEmpty ? .none : .parameters(values))
    }

    /// The address of a function. Structured values and collections go by parameter aliases, as the grammar of
    /// paths wants it (OData URL Conventions 4.01, 4.5.1).
    private var functionURL: ODataURL {
        var url = ODataURL(path: path)
        var arguments: [Expression.NamedArgument] = []
        for parameter in parameters {
            var value = parameter.literal.expression
            if case .complex(let entity) = parameter.value {
                url.options.aliases[parameter.name] = .json(entity.parameterText)
                value = .alias(Identifier(parameter.name))
            } else if case .collection(let members) = parameter.value {
                url.options.aliases[parameter.name] = .json(ODataValue.parameterText(members))
                value = .alias(Identifier(parameter.name))
            }
            arguments.append(Expression.NamedArgument(name: Identifier(parameter.name), value: value))
        }
        url.path.segments.append(.name(Identifier(name), arguments.isEmpty ? .empty : .named(arguments)))
        return url
    }
}

extension Entity {
    /// An instance as the JSON of a parameter alias.
    fileprivate var parameterText: String {
        let members = zip(shape.properties, values).compactMap { property, value in
            value.map { "\(ODataValue.quoted(property.name)):\($0.parameterText)" }
        }
        return "{\(members.joined(separator: ","))}"
    }
}

extension ODataValue {
    fileprivate static func quoted(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    fileprivate static func parameterText(_ members: [ODataValue]) -> String {
        "[\(members.map(\.parameterText).joined(separator: ","))]"
    }

    fileprivate var parameterText: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number), .enumeration(let number): String(number)
        case .decimal(let number): number.description
        case .complex(let entity): entity.parameterText
        case .collection(let members): Self.parameterText(members)
        case .single(let number) where number.isFinite: lexicalText ?? "null"
        case .double(let number) where number.isFinite: lexicalText ?? "null"
        default: Self.quoted(lexicalText ?? "")
        }
    }
}
