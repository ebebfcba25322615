import ODataModel
import ODataQuery

/// A property with a single value that a service holds: primitive, an enumeration value or complex
/// (OData Protocol 4.01, 11.2.4 and 11.4.9).
///
/// ```swift
/// let address = northwind.customers.key("ALFKI").address
/// print(try await address.get()?.city ?? "")
/// try await address.city.set("Bern")
/// ```
public struct ValueRequest<Value: ODataValueConvertible & Sendable>: Sendable {
    /// Who answers.
    public let odataService: DataService
    /// The query so far.
    public let query: ResourceQuery

    /// The property at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// The value; `nil` for null.
    ///
    /// - Throws: ``DataServiceError/unexpectedAnswer(expected:)`` for a value of another type.
    public func get() async throws -> Value? {
        let value = try await odataService.value(query.url)
        if value.isNull { return nil }
        guard let result = Value(odataValue: value) else {
            throw DataServiceError.unexpectedAnswer(expected: "\(Value.self)")
        }
        return result
    }

    /// Sets the value (OData Protocol 4.01, 11.4.9.1). A complex value is replaced: what it lacks gets its default.
    ///
    /// - Parameter ifMatch: the ETag of the entity that must still hold; none sets the value whatever is there.
    public func set(_ value: Value, ifMatch: String? = nil) async throws {
        try await odataService.setValue(value.odataValue, at: query.url.path, ifMatch: ifMatch)
    }

    /// Sets the value to null (OData Protocol 4.01, 11.4.9.2).
    ///
    /// - Parameter ifMatch: the ETag of the entity that must still hold; none clears the value whatever is there.
    public func clear(ifMatch: String? = nil) async throws {
        _ = try await odataService.send(ODataRequest(.delete, ODataURL(path: query.url.path), ifMatch: ifMatch))
    }
}

extension ValueRequest: TypedResource where Value: TypedStructure {
    /// What leads on from a complex value.
    public typealias Paths = Value.Paths
}

/// A property with a collection of values that a service holds (OData Protocol 4.01, 11.4.9.3 and 11.4.9.4).
public struct ValueCollectionRequest<Member: ODataValueConvertible & Sendable>: Sendable {
    /// Who answers.
    public let odataService: DataService
    /// The query so far.
    public let query: ResourceQuery

    /// The property at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// The members, null ones left out.
    ///
    /// - Throws: ``DataServiceError/unexpectedAnswer(expected:)`` for values of another type.
    public func all() async throws -> [Member] { try await members().compactMap(\.self) }

    /// The members; `nil` for a null one.
    ///
    /// - Throws: ``DataServiceError/unexpectedAnswer(expected:)`` for values of another type.
    public func members() async throws -> [Member?] { try await odataService.value(query.url).typedMembers() }

    /// Sets all members.
    ///
    /// - Parameter ifMatch: the ETag of the entity that must still hold; none sets them whatever is there.
    public func set(_ members: [Member?], ifMatch: String? = nil) async throws {
        let values = members.map { $0?.odataValue ?? .null }
        try await odataService.setValue(.collection(values), at: query.url.path, ifMatch: ifMatch)
    }
}

extension DataService {
    /// Sets the property at the end of a path.
    fileprivate func setValue(_ value: ODataValue, at path: ResourcePath, ifMatch: String?) async throws {
        let model = try await provider.model
        let url = ODataURL(path: path)
        guard case .property(let property, _) = try Binder(model: model).bind(url).resource.target else {
            throw DataServiceError.unexpectedAnswer(expected: "a property")
        }
        let body = RequestBody.value(try value.localized(in: model), property.type)
        _ = try await send(ODataRequest(.replace, url, body: body, ifMatch: ifMatch))
    }
}

extension ODataValue {
    /// The members of a collection as values of a type, null ones among them; none of null.
    func typedMembers<Member: ODataValueConvertible>() throws -> [Member?] {
        switch self {
        case .null: return []
        case .collection(let members):
            return try members.map { member in
                if member.isNull { return nil }
                guard let value = Member(odataValue: member) else {
                    throw DataServiceError.unexpectedAnswer(expected: "\(Member.self)")
                }
                return value
            }
        default: throw DataServiceError.unexpectedAnswer(expected: "a collection of values")
        }
    }
}
