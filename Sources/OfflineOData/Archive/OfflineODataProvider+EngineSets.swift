import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Reading the engine's own sets, and giving changes up by deleting from them.
extension OfflineODataProvider {
    /// The navigation properties that lead to an entity of any type.
    private static let toAnyType: Set = ["AffectedEntity", "RequestEntity"]

    private func engineSet(_ name: String) -> EngineSet? {
        EngineSet.allCases.first { model.entitySet(name)?.type == $0.type }
    }

    /// Answers a request for one of the engine's own sets; `nil` for any other.
    func answerEngineSet(_ request: ODataRequest, isPaged: Bool) async throws -> ODataResponse? {
        let request = request.link == nil ? request : try request.parsingLink()
        guard case .name(let name, _)? = request.url.path.segments.first, let set = engineSet(name.text) else {
            return nil
        }
        do {
            guard request.method == .read else { return try await change(set, request) }
            if let redirected = try await followingAffectedEntity(set, request) {
                return try await execute(redirected, isPaged: isPaged)
            }
            return try await read(set, request, isPaged: isPaged)
        } catch let error as QueryError {
            throw ODataError(error)
        }
    }

    private func read(_ set: EngineSet, _ request: ODataRequest, isPaged: Bool) async throws -> ODataResponse {
        var request = request
        let attached = request.url.options.expand.filter {
            $0.path.count == 1 && Self.toAnyType.contains($0.path[0].text)
        }
        request.url.options.expand.removeAll { attached.contains($0) }
        let bound = try Binder(model: model, functions: functions).bind(request.url)
        guard case .entitySet(let entitySet, _)? = bound.resource.steps.first else { return ODataResponse() }
        let entities = try await database.read { [model, queue] database in
            try EngineRows(model: model, queue: queue).entities(of: set, in: database)
        }
        let virtual = VirtualEntities(
            entities, of: entitySet, model: model, now: options.environment.instant,
            pageSizeLimit: isPaged ? options.localPageSize ?? Int(Int32.max) : Int(Int32.max))
        var response = try virtual.answer(bound, request)
        guard !attached.isEmpty else { return response }
        let names = attached.map(\.path[0].text)
        switch response.body {
        case .entity(var entity):
            try await attach(names, to: &entity)
            response.body = .entity(entity)
        case .page(var page):
            for index in page.entities.indices { try await attach(names, to: &page.entities[index]) }
            response.body = .page(page)
        default: break
        }
        return response
    }

    /// Puts the entity that a request is about beside it: as it is now, and as it is sent.
    private func attach(_ names: [String], to entity: inout Entity) async throws {
        guard let request = try await queuedRequest(entity) else { return }
        for name in names {
            let related: Entity?
            if request.isWithoutPlace {
                related = nil
            } else if name == "RequestEntity" {
                var sent = request.changes.merging(Entity(shape: request.changes.shape, key: request.key))
                sent.control.id = request.entityText
                related = sent
            } else {
                related = try await current(request)
            }
            entity.related[name] = related.map { .one($0) } ?? RelatedEntities.none
        }
    }

    private func queuedRequest(_ entity: Entity) async throws -> QueuedRequest? {
        guard case .integer(let id)? = entity["RequestID"] else { return nil }
        return try await database.read { [queue] in try queue.request(id, in: $0) }
    }

    private func current(_ request: QueuedRequest) async throws -> Entity? {
        do {
            guard let url = try await address(of: request),
                case .entity(let entity) = try await execute(ODataRequest(.read, url)).body
            else { return nil }
            return entity
        } catch let error as ODataError where error.status == 404 {
            // It was deleted here.
            return nil
        }
    }

    /// The URL of the entity that a request is about, under the keys that it and what contains it have now.
    ///
    /// - Returns: `nil` for the call of an action that is bound to nothing.
    /// - Throws: `ODataError` 404 for what another entity contained and that is not here any more.
    private func address(of request: QueuedRequest) async throws -> ODataURL? {
        if request.kind == .call {
            guard var path = try request.detail.url.map({ try ODataURL(parsing: $0).path }), path.segments.count > 1
            else { return nil }
            path.segments.removeLast()
            return ODataURL(path: path)
        }
        guard request.entitySet.contains("/"), let table = mapping.tables[request.entitySet] else {
            return KeyURL.url(set: request.entitySet, key: request.key)
        }
        return try await database.read { [mapping] database in
            try Containment(mapping: mapping).url(of: request.rowID, table, database)
        }
    }

    /// `ErrorArchive(5)/AffectedEntity` is the entity's own URL.
    private func followingAffectedEntity(_ set: EngineSet, _ request: ODataRequest) async throws -> ODataRequest? {
        let segments = request.url.path.segments
        guard segments.count > 1, case .name(let name, .none) = segments[1], Self.toAnyType.contains(name.text),
            case .key(let key)? = try Binder(model: model).bind(
                ODataURL(path: ResourcePath([segments[0]]))
            ).resource.steps.last,
            case .integer(let id)? = key.parts.first?.value
        else { return nil }
        guard let queued = try await database.read({ [queue] in try queue.request(id, in: $0) }),
            !queued.isWithoutPlace, let url = try await address(of: queued)
        else {
            throw ODataError.notFound(request.url.description)
        }
        var redirected = request
        redirected.url.path.segments.replaceSubrange(0..<2, with: url.path.segments)
        return redirected
    }

    /// DELETE of an archived request gives it up, or all where the option says so; of a waiting one cancels it.
    private func change(_ set: EngineSet, _ request: ODataRequest) async throws -> ODataResponse {
        let bound = try Binder(model: model).bind(request.url)
        guard request.method == .delete, set != .eventLog, bound.resource.steps.count == 2,
            case .key(let key)? = bound.resource.steps.last, case .integer(let id)? = key.parts.first?.value
        else {
            throw ODataError.methodNotAllowed(request.method, allowed: set == .eventLog ? ["GET"] : ["GET", "DELETE"])
        }
        do {
            if set == .errorArchive {
                try await discard([id], withAllOthers: options.revertsErrorsTogether)
            } else {
                try await cancel([id])
            }
        } catch OfflineError.unknown {
            throw ODataError.notFound(request.url.description)
        } catch OfflineError.alreadySent {
            throw ODataError(
                status: 409, code: "AlreadySent", message: "Request \(id) has been sent and cannot be taken back.")
        }
        return ODataResponse(status: 204)
    }
}
