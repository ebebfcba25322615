import ODataModel
import ODataQuery

/// Reads and changes single properties (OData Protocol 4.01, 11.2.4 and 11.4.9).
extension DataService {
    /// Returns the value of a property, or of a function that returns no entities; `.null` if there is no value.
    public func value(_ url: ODataURL) async throws -> ODataValue {
        switch try await answer(to: ODataRequest(.read, url)).body {
        case .value(let value, _): return value
        case .none: return .null
        default: throw DataServiceError.unexpectedAnswer(expected: "a value")
        }
    }

    /// Reads the value of an entity's property from the service.
    ///
    /// - Parameter path: the name of the property, or a path into complex values such as `Address/City`.
    public func value(of path: String, _ entity: ODataEntity, in set: String? = nil) async throws -> ODataValue {
        let request = try await propertyRequest(.read, path, entity, set)
        switch try await answer(to: request).body {
        case .value(let value, _): return value
        case .none: return .null
        default: throw DataServiceError.unexpectedAnswer(expected: "a value")
        }
    }

    /// Sets a single property (OData Protocol 4.01, 11.4.9.1); `.null` clears it (11.4.9.2).
    ///
    /// - Throws: ``ConflictError`` if someone else changed the entity, ``EntityError/unknownProperty(_:type:)``.
    public func setValue(
        _ value: ODataValue, of path: String, _ entity: ODataEntity, in set: String? = nil
    ) async throws {
        var request = try await propertyRequest(value.isNull ? .delete : .replace, path, entity, set)
        if !value.isNull {
            let type = try await propertyType(path, entity)
            request.body = .value(value, type)
        }
        request.ifMatch = entity.control.etag
        try await ConflictError.detected(entity, request) { _ = try await send(request) }
    }

    private func propertyType(_ path: String, _ entity: ODataEntity) async throws -> TypeReference {
        let model = try await provider.model
        var shape: TypeShape? = entity.shape
        var type: TypeReference?
        for name in path.split(separator: "/") {
            type = shape?.property(String(name))?.type
            if case .complex(let inner?)? = type { shape = model.shape(inner) } else { shape = nil }
        }
        guard let type else { throw EntityError.unknownProperty(path, type: entity.shape.name) }
        return type
    }

    private func propertyRequest(
        _ method: ODataRequest.Method, _ path: String, _ entity: ODataEntity, _ set: String?
    ) async throws -> ODataRequest {
        try await request(method, entity, in: set, path.split(separator: "/").map { String($0) })
    }

    /// Returns a request for a property of an entity, or for the references in a navigation property.
    func request(
        _ method: ODataRequest.Method, _ entity: ODataEntity, in set: String?, _ names: [String],
        reference: Bool = false
    ) async throws -> ODataRequest {
        var request = try await self.request(method, entity, in: set)
        if request.link != nil {
            request.link? += names.map { "/\($0)" }.joined() + (reference ? "/$ref" : "")
        } else {
            request.url.path.segments += names.map { .name(Identifier($0), .none) }
            if reference { request.url.path.segments.append(.reference) }
        }
        return request
    }
}
