import Foundation
import MobileProtocol
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ServerState

/// The settings of a registration. A call that contains one read-only setting is refused as a whole (70005).
extension DeviceProvider {
    func answerSettings(
        _ record: RegistrationRecord, _ set: EntitySet, bound: BoundURL, request: ODataRequest,
        for caller: DeviceRequest
    ) async throws -> ODataResponse {
        if request.method == .read {
            let entities = try await settingEntities(record)
            var owner = documents.entity(record, user: caller.record?.name)
            owner.related["Settings"] = .many(entities)
            return try read([owner], of: set, at: bound, request: request)
        }
        guard try changesAreCurrent(request, record) else {
            throw ODataError(.conflict, "The settings were changed meanwhile. Read them again.")
        }
        let changes = try self.changes(bound, request)
        let version = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.changeSettings(
                changes, byDevice: true, registration: record.id, of: record.application)
        }
        await state.signal.send([.scope(caller.application.record.name)])
        var response = try await answer(bound, request, record: record, changes: changes)
        response.headers[MobileFieldNames.settings] = String(version)
        return response
    }

    /// Makes the changes of several requests together.
    ///
    /// - Throws: ``ODataError`` 501 if a request is no change of settings.
    func changeSettings(_ requests: [ODataRequest], for caller: DeviceRequest) async throws -> [ODataResponse] {
        let record = try Self.own(caller)
        var changes: [(bound: BoundURL, request: ODataRequest, changes: [SettingChange])] = []
        for request in requests {
            let bound = try bound(request)
            guard request.method != .read, Self.isOfSettings(bound, of: record) else {
                throw ODataError.notImplemented("A change set of other changes than those of settings")
            }
            guard try changesAreCurrent(request, record) else {
                throw ODataError(.conflict, "The settings were changed meanwhile. Read them again.")
            }
            changes.append((bound, request, try self.changes(bound, request)))
        }
        let all = changes.flatMap(\.changes)
        let version = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.changeSettings(
                all, byDevice: true, registration: record.id, of: record.application)
        }
        await state.signal.send([.scope(caller.application.record.name)])
        var responses: [ODataResponse] = []
        for (bound, request, changes) in changes {
            var response = try await answer(bound, request, record: record, changes: changes)
            response.headers[MobileFieldNames.settings] = String(version)
            responses.append(response)
        }
        return responses
    }

    /// Returns whether a path leads to settings of a registration: `Registrations('R1')/Settings…`.
    private static func isOfSettings(_ bound: BoundURL, of record: RegistrationRecord) -> Bool {
        let steps = bound.resource.steps
        guard case .entitySet(let set, _)? = steps.first, set.name == "Registrations",
            case .key(let key)? = steps.dropFirst().first, key["ID"] == .string(record.id)
        else { return false }
        if case .operation? = steps.last { return false }
        return steps.contains { if case .navigation = $0 { true } else { false } }
    }

    private func changesAreCurrent(_ request: ODataRequest, _ record: RegistrationRecord) throws(ODataError) -> Bool {
        guard request.ifMatch != nil else { return true }
        return try Self.condition(request, record.settingsVersion) ?? record.settingsVersion == record.settingsVersion
    }

    private func settingEntities(_ record: RegistrationRecord) async throws -> [ODataEntity] {
        let settings = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.settings(of: record.id, of: record.application)
        }
        return documents.settings(settings)
    }

    // MARK: Changes

    private func changes(_ bound: BoundURL, _ request: ODataRequest) throws(ODataError) -> [SettingChange] {
        switch (bound.resource.target, request.body) {
        case (.entities, .delta(let page)):
            guard page.links.isEmpty else { throw .notImplemented("A changed link of settings") }
            var changes = try page.entities.map { entity throws(ODataError) in try Self.change(entity, named: nil) }
            for removed in page.removed {
                guard case .string(let name)? = removed.key?["Name"] ?? Self.key(in: removed.id) else {
                    throw ODataError(.invalidProperty, "A removed setting needs its key.", target: "Name")
                }
                changes.append(.remove(name: name))
            }
            return changes
        case (.entities, .entity(let entity)): return [try Self.change(entity, named: nil)]
        case (.entity, .entity(let entity)): return [try Self.change(entity, named: Self.name(bound))]
        case (.entity, .none) where request.method == .delete:
            guard let name = Self.name(bound) else { throw .notFound("The setting") }
            return [.remove(name: name)]
        default: throw .methodNotAllowed(request.method, allowed: ["GET", "PATCH", "POST", "DELETE"])
        }
    }

    private static func change(_ entity: ODataEntity, named key: String?) throws(ODataError) -> SettingChange {
        var name = key
        if name == nil, case .string(let text)? = entity["Name"] { name = text }
        guard let name, !name.isEmpty else {
            throw ODataError(.emptyParameter, "A setting has a name.", target: "Name")
        }
        switch entity["Value"] {
        case .string(let value)?: return .set(name: name, value: value, isReadOnly: nil)
        case .null?: return .set(name: name, value: nil, isReadOnly: nil)
        default: throw ODataError(.invalidProperty, "The setting \(name) needs a Value.", target: "Value")
        }
    }

    /// Returns the key in a URL of settings, such as `Registrations('R1')/Settings('Colour')`.
    private static func name(_ bound: BoundURL) -> String? {
        guard case .key(let key)? = bound.resource.steps.last, case .string(let name)? = key["Name"] else { return nil }
        return name
    }

    /// Returns the key in the id of a removed setting.
    private static func key(in id: String) -> ODataValue? {
        guard let start = id.range(of: "Settings('")?.upperBound, id.hasSuffix("')") else { return nil }
        let quoted = id[start...].dropLast(2)
        return quoted.removingPercentEncoding.map { .string($0.replacingOccurrences(of: "''", with: "'")) }
    }

    // MARK: Answers

    private func answer(
        _ bound: BoundURL, _ request: ODataRequest, record: RegistrationRecord, changes: [SettingChange]
    ) async throws -> ODataResponse {
        if request.method == .delete || request.preferences.returns == .minimal {
            var response = ODataResponse(status: 204)
            if request.preferences.returns == .minimal { response.preferencesApplied.append("return=minimal") }
            return response
        }
        let entities = try await settingEntities(record)
        let isWhole = if case .entities = bound.resource.target, request.method != .create { true } else { false }
        if isWhole {
            let names = Set(changes.map(\.name))
            let changed = entities.filter {
                if case .string(let name)? = $0["Name"] { names.contains(name) } else { false }
            }
            return ODataResponse(body: .page(EntityPage(entities: changed)))
        }
        let entity = entities.first { $0["Name"] == changes.first.map { .string($0.name) } }
        guard let entity else { return ODataResponse(status: 204) }
        var response = ODataResponse(status: request.method == .create ? 201 : 200, body: .entity(entity))
        if request.method == .create, let key = entity.key {
            let start = EntityID.canonical(
                set: "Registrations", key: EntityKey("ID", .string(record.id)), shape: shapes.registration, model: model
            )
            response.location =
                start + "/" + EntityID.canonical(set: "Settings", key: key, shape: shapes.setting, model: model)
        }
        return response
    }
}
