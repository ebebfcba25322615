import ODataModel
import ODataQuery

/// A request for a property with a single value: primitive, enumeration or complex (OData Protocol 4.01, 11.2.4 and
/// 11.4.9).
///
/// ```swift
/// let address = northwind.customers.key("ALFKI").address
/// print(try await address.get()?.city ?? "")
/// try await address.city.set("Bern")
/// ```
public struct ValueRequest<Value: ODataValueConvertible & Sendable>: Sendable {
    /// The service that sends the requests.
    public let odataService: DataService
    /// The query.
    public let query: ResourceQuery

    /// Creates a request for the property at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// Returns the value; `nil` for null.
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

    /// Sets the value (OData Protocol 4.01, 11.4.9.1). A complex value is replaced: missing properties get their
    /// defaults.
    ///
    /// - Parameter ifMatch: the ETag that the entity must still have; `nil` changes any version.
    public func set(_ value: Value, ifMatch: String? = nil) async throws {
        try await odataService.setValue(value.odataValue, at: query.url.path, ifMatch: ifMatch)
    }

    /// Sets the value to null (OData Protocol 4.01, 11.4.9.2).
    ///
    /// - Parameter ifMatch: the ETag that the entity must still have; `nil` changes any version.
    public func clear(ifMatch: String? = nil) async throws {
        _ = try await odataService.send(ODataRequest(.delete, ODataURL(path: query.url.path), ifMatch: ifMatch))
    }
}

extension ValueRequest: TypedResource where Value: TypedStructure {
    /// The paths of the complex value's properties.
    public typealias Paths = Value.Paths
}

/// A request for a property with a collection of values (OData Protocol 4.01, 11.4.9.3 and 11.4.9.4).
public struct ValueCollectionRequest<Member: ODataValueConvertible & Sendable>: Sendable {
    /// The service that sends the requests.
    public let odataService: DataService
    /// The query.
    public let query: ResourceQuery

    /// Creates a request for the property at the end of a query's path.
    public init(_ service: DataService, _ query: ResourceQuery) {
        odataService = service
        self.query = query
    }

    /// Returns the members without null members.
    ///
    /// - Throws: ``DataServiceError/unexpectedAnswer(expected:)`` for values of another type.
    public func all() async throws -> [Member] { try await members().compactMap(\.self) }

    /// Returns the members; `nil` for a null member.
    ///
    /// - Throws: ``DataServiceError/unexpectedAnswer(expected:)`` for values of another type.
    public func members() async throws -> [Member?] { try await odataService.value(query.url).typedMembers() }

    /// Sets all members.
    ///
    /// - Parameter ifMatch: the ETag that the entity must still have; `nil` changes any version.
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
    /// Returns the members of a collection as values of a type, `nil` for null members; an empty array for null.
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
