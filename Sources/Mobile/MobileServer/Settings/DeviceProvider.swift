import MobileProtocol
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ServerState

/// The device API as an OData service over the state (`mobile-server.md` 6.2).
///
/// The caller is ``DeviceRequest/current``, which ``DeviceDoor`` has checked. Sets are small, so that queries are
/// evaluated in memory.
struct DeviceProvider: ODataProvider {
    let shapes: DeviceModel
    let state: any ServerState
    let documents: DeviceDocuments
    let registrations: DeviceRegistrations
    let destinations: any DestinationService
    let authority: DeviceAuthority
    let clock: @Sendable () -> ServerInstant

    var model: EntityDataModel { shapes.model }

    var traits: ProviderTraits {
        var capabilities = PublishedCapabilities()
        capabilities.readOnlySets = ServiceSets.names.union(["Destinations"])
        capabilities.supportsDeepChanges = false
        return ProviderTraits(supportsIsolation: false, capabilities: capabilities, queryLanguage: QueryLanguage())
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let request = try request.parsingLink()
        guard case .batch(let items) = request.body else { return try await perform(request) }
        let run = BatchRun(
            model: model, single: { try await perform($0) },
            changeSet: { try await perform(changeSet: $0, resolve: $1) }, observer: request.batchObserver)
        return try await run.run(items, continueOnError: request.preferences.continueOnError)
    }

    func bound(_ request: ODataRequest) throws(ODataError) -> BoundURL {
        do throws(QueryError) {
            return try request.bound(in: model)
        } catch {
            throw ODataError(error)
        }
    }

    /// Performs a change set: one request, or changes of the settings of the registration, which the state makes
    /// together.
    private func perform(
        changeSet requests: [ODataRequest], resolve: BatchRun.Resolver
    ) async throws -> [ODataResponse] {
        var resolved: [ODataRequest] = []
        _ = try resolve(requests) { request in
            resolved.append(request)
            return ODataResponse(status: 204)
        }
        guard resolved.count > 1 else { return try await [perform(resolved[0])] }
        guard let caller = DeviceRequest.current else { throw DeviceRegistrations.unauthorized }
        return try await changeSettings(resolved, for: caller)
    }

    private func perform(_ request: ODataRequest) async throws -> ODataResponse {
        guard let caller = DeviceRequest.current else { throw DeviceRegistrations.unauthorized }
        let bound = try bound(request)
        switch bound.resource.steps.first {
        case .entitySet(let set, _)? where set.name == "Registrations":
            return try await answerRegistrations(set, bound, request: request, for: caller)
        case .entitySet(let set, _)? where ServiceSets.systemNames.contains(set.name) && request.method != .read:
            return try await changeSystem(set, bound, request: request, for: caller)
        case .entitySet(let set, _)? where ServiceSets.names.union(ServiceSets.systemNames).contains(set.name):
            return try await answerServices(set, bound, request: request, for: caller)
        case .entitySet(let set, _)?: return try await answerDestinations(set, bound, request: request, for: caller)
        case .singleton(let singleton, _)?:
            return try await answerSingleton(singleton, bound, request: request, for: caller)
        default: throw ODataError.notFound(request.url.urlEncoded())
        }
    }

    // MARK: Documents

    private func answerSingleton(
        _ singleton: Singleton, _ bound: BoundURL, request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard request.method == .read else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        let registration = try Self.own(caller)
        let policies = try await documents.policies(of: caller, registration)
        var entity =
            singleton.name == "Features"
            ? documents.features(policies)
            : documents.entity(policies, of: registration, in: caller.application.configuration)
        entity.control.id = singleton.name
        let set = EntitySet(name: singleton.name, type: singleton.type)
        var response = try read([entity], of: set, at: bound, request: request)
        // An entity without a key is not found again among the rows, so that its ETag is set here.
        if case .entity(var found) = response.body {
            found.control = entity.control
            response.body = .entity(found)
            response.etag = entity.control.etag
        }
        return response
    }

    private func answerDestinations(
        _ set: EntitySet, _ bound: BoundURL, request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard request.method == .read else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        guard caller.user != nil else { throw DeviceRegistrations.unauthorized }
        let summaries = await destinations.summaries(of: caller.application)
        return try read(summaries.map { DestinationEntity(shapes).entity($0) }, of: set, at: bound, request: request)
    }

    private func answerServices(
        _ set: EntitySet, _ bound: BoundURL, request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard request.method == .read else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        let registration = try Self.own(caller)
        if set.name == "Bundles", case .rawValue(nil) = bound.resource.target,
            case .key(let key)? = bound.resource.steps.dropFirst().first
        {
            return try await readBundle(key, of: registration)
        }
        let entities = try await translatingState { () async throws(ServerStateError) in
            try await ServiceSets(shapes: shapes, state: state).entities(of: set.name, registration)
        }
        return try read(entities, of: set, at: bound, request: request)
    }

    private func readBundle(_ key: EntityKey, of registration: RegistrationRecord) async throws -> ODataResponse {
        let found = try await translatingState { () async throws(ServerStateError) in
            try await ServiceSets(shapes: shapes, state: state).stream(of: key, registration)
        }
        guard let found else { throw ODataError(.bundleUnknown, "There is no such bundle.") }
        return ODataResponse(
            status: 200, body: .raw(found.stream, contentType: ServiceSets.bundleType),
            etag: "\"\(DeviceDocuments.hexadecimal(found.record.digest))\"")
    }

    func read(
        _ entities: [ODataEntity], of set: EntitySet, at bound: BoundURL, request: ODataRequest
    ) throws -> ODataResponse {
        try VirtualEntities(entities, of: set, model: model, now: ODataDateTimeOffset(clock()), maxPageSize: 1000)
            .answer(bound, request)
    }

    /// Returns the registration that the request names.
    static func own(_ caller: DeviceRequest) throws(ODataError) -> RegistrationRecord {
        guard let registration = caller.registration, !caller.isConfirmation else {
            throw ODataError(
                .registrationUnknown, "Name the registration in the field \(MobileFieldNames.registration).")
        }
        return registration
    }

    // MARK: Registrations

    private func answerRegistrations(
        _ set: EntitySet, _ bound: BoundURL, request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        let steps = bound.resource.steps.dropFirst()
        guard case .key(let key)? = steps.first, case .string(let id)? = key["ID"] else {
            switch request.method {
            case .create: return try await register(request, caller)
            case .read:
                let own = try Self.own(caller)
                return try await readRegistration(own, set, bound: bound, request: request, for: caller)
            default: throw ODataError.methodNotAllowed(request.method, allowed: ["GET", "POST"])
            }
        }
        guard let registration = caller.registration, registration.id == id else {
            throw ODataError(.registrationUnknown, "The request is not of the registration \(id).", target: "ID")
        }
        if case .operation(let operation, _)? = bound.resource.steps.last {
            return try await perform(operation, registration, request: request, for: caller)
        }
        let own = try Self.own(caller)
        if steps.contains(where: { if case .navigation = $0 { true } else { false } }) {
            return try await answerSettings(own, set, bound: bound, request: request, for: caller)
        }
        switch request.method {
        case .read: return try await readRegistration(own, set, bound: bound, request: request, for: caller)
        case .update: return try await update(own, request, for: caller)
        case .delete: return try await unregister(own, request, for: caller)
        default: throw ODataError.methodNotAllowed(request.method, allowed: ["GET", "PATCH", "DELETE"])
        }
    }

    private func readRegistration(
        _ record: RegistrationRecord, _ set: EntitySet, bound: BoundURL, request: ODataRequest,
        for caller: DeviceRequest
    ) async throws -> ODataResponse {
        var entity = documents.entity(record, user: caller.record?.name)
        let settings = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.settings(of: record.id, of: record.application)
        }
        entity.related["Settings"] = .many(documents.settings(settings))
        return try read([entity], of: set, at: bound, request: request)
    }

    private func register(_ request: ODataRequest, _ caller: DeviceRequest) async throws -> ODataResponse {
        guard case .entity(let body) = request.body else { throw ODataError.notImplemented("This body") }
        guard case .string(let id)? = body["ID"] else {
            throw ODataError(.invalidProperty, "The device chooses a random ID.", target: "ID")
        }
        var security: String?
        if case .string(let name)? = body["SecurityConfiguration"] { security = name }
        let device = try DevicePropertyReader.merged(DeviceProperties(), with: body)
        let result = try await registrations.register(id, security: security, device: device, by: caller)
        let user = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.user(result.record.user)
        }
        let entity = documents.entity(result.record, user: user?.name)
        return answer(entity, status: result.isNew ? 201 : 200, request)
    }

    private func update(
        _ record: RegistrationRecord, _ request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        guard case .entity(let body) = request.body else { throw ODataError.notImplemented("This body") }
        let etag = try Self.condition(request, record.etag)
        let changed = try await merge(body, into: record, isGuarded: etag != nil)
        await state.signal.send([.scope(caller.application.record.name)])
        return answer(documents.entity(changed, user: caller.record?.name), status: 200, request)
    }

    /// Changes the properties of a device, and keeps those that somebody else changes at the same time.
    ///
    /// - Parameter isGuarded: Whether another change meanwhile refuses this one.
    private func merge(
        _ body: ODataEntity, into record: RegistrationRecord, isGuarded: Bool
    ) async throws -> RegistrationRecord {
        var record = record
        var triesLeft = isGuarded ? 0 : 5
        while true {
            let device = try DevicePropertyReader.merged(record.device, with: body)
            do throws(ServerStateError) {
                return try await state.registrations.update(
                    record.id, of: record.application, ifMatch: record.etag, RegistrationChange(device: device))
            } catch {
                guard case .changed = error, triesLeft > 0 else { throw ODataError(error) }
                triesLeft -= 1
                let (id, application) = (record.id, record.application)
                let present = try await translatingState { () async throws(ServerStateError) in
                    try await state.registrations.registration(id, of: application)
                }
                guard let present, present.state != .unregistered else {
                    throw ODataError(.registrationUnknown, "There is no registration with this id.")
                }
                record = present
            }
        }
    }

    private func unregister(
        _ record: RegistrationRecord, _ request: ODataRequest, for caller: DeviceRequest
    ) async throws -> ODataResponse {
        let etag = request.ifMatch == nil ? nil : try Self.condition(request, record.etag)
        try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.unregister(record.id, of: record.application, ifMatch: etag)
        }
        await state.signal.send([.scope(caller.application.record.name)])
        return ODataResponse(status: 204)
    }

    private func answer(_ entity: ODataEntity, status: Int, _ request: ODataRequest) -> ODataResponse {
        var response = ODataResponse(status: status, body: .entity(entity), etag: entity.control.etag)
        var entity = entity
        if let key = entity.key {
            let id = EntityID.canonical(set: "Registrations", key: key, shape: shapes.registration, model: model)
            entity.control.id = id
            response.body = .entity(entity)
            if status == 201 { response.location = id }
        }
        if request.preferences.returns == .minimal {
            response.entityID = entity.control.id
            response.status = 204
            response.body = .none
            response.preferencesApplied.append("return=minimal")
        }
        return response
    }

    /// Returns the ETag that the state compares; `nil` for `*`.
    ///
    /// - Throws: ``ODataError`` 428 without `If-Match`, 412 if the present ETag is not in it.
    static func condition(_ request: ODataRequest, _ etag: ChangeNumber) throws(ODataError) -> ChangeNumber? {
        guard let text = request.ifMatch else {
            throw ODataError(.preconditionRequired, "The change needs the ETag in If-Match.", target: "If-Match")
        }
        let tags: EntityTags
        do throws(QueryError) {
            tags = try EntityTags(parsing: text)
        } catch {
            throw ODataError(error)
        }
        if case .any = tags { return nil }
        guard tags.contains(EntityTags.EntityTag("\(etag)", isWeak: true)) else {
            throw ODataError(.conflict, "The entity was changed meanwhile. Read it again.")
        }
        return etag
    }
}
