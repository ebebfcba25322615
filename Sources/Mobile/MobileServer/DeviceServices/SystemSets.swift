import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ServerState

/// The changes of the sets of the group `system`: log records of the device, and personalization values of its user.
extension DeviceProvider {
    /// The time for which log records are kept.
    static let logAge = Duration.seconds(30 * 86_400)

    func changeSystem(
        _ set: EntitySet, _ bound: BoundURL, request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        let registration = try Self.own(caller)
        guard bound.resource.steps.count <= 2 else { throw ODataError.notImplemented("This path through \(set.name)") }
        var key: EntityKey?
        if case .key(let given)? = bound.resource.steps.dropFirst().first { key = given }
        let store = try await translatingState { () async throws(ServerStateError) in
            try state.deviceServices().records
        }
        guard set.name == "LogRecords" else { return try await changeValue(key, request, of: registration, in: store) }
        return try await changeLog(key, request, of: registration, in: store)
    }

    // MARK: Log records

    private func changeLog(
        _ key: EntityKey?, _ request: ODataRequest, of registration: RegistrationRecord, in store: any DeviceRecordStore
    ) async throws -> ODataResponse {
        switch (request.method, key, request.body) {
        case (.create, nil, .entity(let body)):
            var record = DeviceLogRecord(
                application: registration.application, registration: registration.id, at: clock(),
                level: body.text("Level") ?? "info", message: body.text("Message") ?? "")
            if case .dateTimeOffset(let time)? = body["Timestamp"] { record.at = min(ServerInstant(time), clock()) }
            record.component = body.text("Component")
            record.entityKey = body.text("EntityKey")
            record.operation = body.text("Operation")
            record.backEndCode = body.text("EisCode")
            record.requestID = body.text("RequestId")
            if case .integer(let code)? = body["Code"] { record.code = Int(clamping: code) }
            let made = try await translatingState { [record] () async throws(ServerStateError) in
                try await store.add(record, expiresAt: clock() + Self.logAge)
            }
            return created(ServiceSets(shapes: shapes, state: state).log(made), "LogRecords", request: request)
        case (.delete, let key?, _):
            guard case .integer(let number)? = key["MessageId"] else { throw ODataError.notFound("The log record") }
            let existed = try await translatingState { () async throws(ServerStateError) in
                try await store.removeLog(number, registration: registration.id, of: registration.application)
            }
            guard existed else { throw ODataError.notFound("The log record") }
            return ODataResponse(status: 204)
        default: throw ODataError.methodNotAllowed(request.method, allowed: ["GET", "POST", "DELETE"])
        }
    }

    // MARK: Personalization

    private func changeValue(
        _ key: EntityKey?, _ request: ODataRequest, of registration: RegistrationRecord, in store: any DeviceRecordStore
    ) async throws -> ODataResponse {
        var (name, value): (String?, String?)
        if case .string(let text)? = key?["Key"] { name = text }
        if case .entity(let body) = request.body {
            name = name ?? body.text("Key")
            value = body.text("Value") ?? ""
        }
        guard let name, request.method == .delete || value != nil, (request.method == .create) == (key == nil) else {
            throw ODataError(.emptyParameter, "A personalization value has a Key.", target: "Key")
        }
        let known = try await translatingState { () async throws(ServerStateError) in
            try await store.personalization(of: registration.user, of: registration.application)
        }.first { $0.key == name }
        if request.method == .delete, known == nil { throw ODataError.notFound("The value") }
        if request.ifMatch != nil { _ = try Self.condition(request, known?.version ?? 0) }
        let record = try await translatingState { [value] () async throws(ServerStateError) in
            try await store.setPersonalization(
                name, request.method == .delete ? nil : value, of: registration.user, of: registration.application)
        }
        guard request.method != .delete else { return ODataResponse(status: 204) }
        let entity = ServiceSets(shapes: shapes, state: state).value(record)
        guard known == nil else {
            var response = ODataResponse(status: 204)
            response.etag = entity.control.etag
            return response
        }
        return created(entity, "PersonalizationValues", request: request)
    }

    private func created(_ entity: ODataEntity, _ set: String, request: ODataRequest) -> ODataResponse {
        var entity = entity
        if let key = entity.key {
            entity.control.id = EntityID.canonical(set: set, key: key, shape: entity.shape, model: model)
        }
        var response = ODataResponse(status: 201, body: .entity(entity), etag: entity.control.etag)
        response.location = entity.control.id
        if request.preferences.returns == .minimal {
            response.entityID = entity.control.id
            response.status = 204
            response.body = .none
            response.preferencesApplied.append("return=minimal")
        }
        return response
    }
}
