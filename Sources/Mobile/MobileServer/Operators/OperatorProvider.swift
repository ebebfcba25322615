import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ServerState

/// The operators' API as an OData service: reads from the mirror and the state, and writes to the state by key.
///
/// The sender is ``OperatorRequest/current``, which the part has identified.
struct OperatorProvider: ODataProvider {
    let shapes: OperatorModel
    let services: NodeServices
    let sets: OperatorSets
    let mirror: OperatorReadModel
    let devices: DeviceModel

    var state: any ServerState { services.state }

    var model: EntityDataModel { shapes.model }

    var traits: ProviderTraits {
        var capabilities = PublishedCapabilities()
        capabilities.readOnlySets = Set(
            model.container.entitySets.map(\.name).filter { OperatorRights.changing($0) == nil })
        capabilities.supportsDeepChanges = false
        return ProviderTraits(supportsIsolation: false, capabilities: capabilities, queryLanguage: QueryLanguage())
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let request = try request.parsingLink()
        guard case .batch(let items) = request.body else { return try await perform(request) }
        let run = BatchRun(
            model: model, single: { try await perform($0) },
            changeSet: { requests, _ in
                throw ODataError.notImplemented("A change set of \(requests.count) requests of the operators' API")
            }, observer: request.batchObserver)
        return try await run.run(items, continueOnError: request.preferences.continueOnError)
    }

    private func perform(_ request: ODataRequest) async throws -> ODataResponse {
        guard let sender = OperatorRequest.current else {
            throw ODataError(.unauthorized, "The request needs a session or a service key.")
        }
        let bound: BoundURL
        do throws(QueryError) {
            bound = try request.bound(in: model)
        } catch {
            throw ODataError(error)
        }
        guard case .entitySet(let set, _)? = bound.resource.steps.first else {
            throw ODataError.notImplemented(request.url.urlEncoded())
        }
        if case .operation(let operation, _)? = bound.resource.steps.last {
            return try await call(operation, set, bound: bound, request: request, from: sender)
        }
        guard request.method != .read else { return try await read(set, bound, request: request, from: sender) }
        guard let role = OperatorRights.changing(set.name) else {
            throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
        }
        try sender.require(role, set.name)
        if OperatorRights.needsConfirmation(set.name) { try sender.requireConfirmation() }
        return try await change(set, bound, request: request, from: sender)
    }

    // MARK: Reads

    private func read(
        _ set: EntitySet, _ bound: BoundURL, request: ODataRequest, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        try sender.require(OperatorRights.reading(set.name), set.name)
        if let entities = try await translatingState({ () async throws(ServerStateError) in
            try await sets.entities(of: set.name)
        }) {
            let own = try Self.visible(entities, set.name, from: sender)
            return try VirtualEntities(
                own, of: set, model: model, now: ODataDateTimeOffset(sender.now), maxPageSize: 1000
            ).answer(bound, request)
        }
        let store = try await mirror.current()
        // The mirror has a model of its own, so that the URL is resolved again.
        var inner = ODataRequest(.read, request.url, preferences: request.preferences, format: request.format)
        inner.ifNoneMatch = request.ifNoneMatch
        inner.context.principal = sender.principal
        inner.context.budget = request.context.budget
        return try await store.execute(inner)
    }

    /// Returns the entities that a service key sees: those of its application.
    private static func visible(
        _ entities: [ODataEntity], _ set: String, from sender: OperatorRequest
    ) throws(ODataError) -> [ODataEntity] {
        guard let application = sender.application else { return entities }
        let property = set == "Applications" ? "Name" : "Application"
        guard entities.first?.shape.property(property) != nil || entities.isEmpty else {
            throw ODataError(.roleMissing, "The key is for one application.", target: set)
        }
        return entities.filter { $0[property] == .string(application) }
    }

    // MARK: Helpers for changes

    /// Returns the key of the addressed entity; `nil` for the set itself.
    static func key(_ bound: BoundURL) -> EntityKey? {
        if case .key(let key)? = bound.resource.steps.dropFirst().first { key } else { nil }
    }

    /// Returns a text of a key or an entity.
    static func text(_ name: String, _ key: EntityKey?, entity: ODataEntity?) throws(ODataError) -> String {
        if case .string(let text)? = key?[name] { return text }
        if case .string(let text)? = entity?[name], !text.isEmpty { return text }
        throw ODataError(.emptyParameter, "\(name) is missing.", target: name)
    }

    func application(named name: String, _ sender: OperatorRequest) async throws -> ApplicationRecord {
        try sender.requireAccess(to: name)
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.applications.application(named: name)
        }
        guard let record else { throw ODataError(.applicationUnknown, "There is no application \(name).") }
        return record
    }

    /// Appends an entry to the audit.
    func audit(
        _ sender: OperatorRequest, _ action: String, target: String, detail: [String: String] = [:]
    ) async throws {
        let text = OperatorAudit.json(detail)
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.operators.audit(
                AuditNote(actor: sender.actor, action: action, target: target, detail: text))
        }
    }

    /// Tells other nodes of a change, and returns the answer with the entity.
    func answer(
        _ entity: ODataEntity, _ set: String, created: Bool, request: ODataRequest, scope: String
    ) async -> ODataResponse {
        await state.signal.send([.scope(scope)])
        var entity = entity
        if let key = entity.key {
            entity.control.id = EntityID.canonical(set: set, key: key, shape: entity.shape, model: model)
        }
        var response = ODataResponse(status: created ? 201 : 200, body: .entity(entity), etag: entity.control.etag)
        if created { response.location = entity.control.id }
        if request.preferences.returns == .minimal {
            response.entityID = entity.control.id
            response.status = 204
            response.body = .none
            response.preferencesApplied.append("return=minimal")
        }
        return response
    }
}

/// Details of audit entries as JSON.
enum OperatorAudit {
    static func json(_ detail: [String: String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in detail.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            writer.string(value)
        }
        writer.endObject()
        return writer.bytes
    }
}
