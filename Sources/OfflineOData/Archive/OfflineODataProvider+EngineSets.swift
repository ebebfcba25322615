import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Reading the engine's own sets, and giving changes up by deleting from them: alone, or within a transaction.
extension OfflineODataProvider {
    /// The navigation properties that lead to an entity of any type.
    private static let toAnyType: Set = ["AffectedEntity", "RequestEntity"]

    /// The engine's set that a path begins with.
    private func engineSet(_ url: ODataURL) -> EngineSet? {
        guard case .name(let name, _)? = url.path.segments.first else { return nil }
        return EngineSet.allCases.first { model.entitySet(name.text)?.type == $0.type }
    }

    /// Answers a request for one of the engine's own sets; `nil` for any other.
    func answerEngineSet(_ request: ODataRequest, isPaged: Bool) async throws -> ODataResponse? {
        let request = try request.parsingLink()
        guard let set = engineSet(request.url) else { return nil }
        do {
            guard request.method == .read else {
                return try await database.write { [self] in try change(set, request, in: $0) }
            }
            if let url = try await database.read({ [self] in try followingAffectedEntity(request.url, in: $0) }) {
                var redirected = request
                redirected.url = url
                return try await execute(redirected, isPaged: isPaged)
            }
            return try await database.read { [self] in try read(set, request, isPaged: isPaged, in: $0) }
        } catch let error as QueryError {
            throw ODataError(error)
        }
    }

    /// The same for a change within a transaction.
    func answerEngineSet(_ request: ODataRequest, in database: Database) throws -> ODataResponse? {
        guard let set = engineSet(request.url) else { return nil }
        return try change(set, request, in: database)
    }

    /// What a query finds within a transaction; each entity tells what became of its changes.
    func entities(_ url: ODataURL, in database: Database) throws -> [Entity] {
        guard let set = engineSet(url) else {
            return try annotating(local.entities(StateFunctions.rewriting(url), in: database), in: database)
        }
        if let redirected = try followingAffectedEntity(url, in: database) {
            return try entities(redirected, in: database)
        }
        switch try read(set, ODataRequest(.read, url), isPaged: false, in: database).body {
        case .page(let page): return page.entities
        case .entity(let entity): return [entity]
        default: throw ODataError.notImplemented("This resource within a transaction")
        }
    }

    private func annotating(_ entities: [Entity], in database: Database) throws -> [Entity] {
        let sets = EntityStates.sets(of: entities)
        guard !sets.isEmpty else { return entities }
        var states = try EntityStates(of: entities, in: sets, mapping: mapping, in: database)
        states.draftSets = Set(options.localDrafts.keys).intersection(sets)
        return entities.map(states.annotating)
    }

    // MARK: Reading

    private func read(
        _ set: EngineSet, _ request: ODataRequest, isPaged: Bool, in database: Database
    ) throws -> ODataResponse {
        var request = request
        let attached = request.url.options.expand.filter {
            $0.path.count == 1 && Self.toAnyType.contains($0.path[0].text)
        }
        request.url.options.expand.removeAll { attached.contains($0) }
        let bound = try Binder(model: model, functions: functions).bind(request.url)
        guard case .entitySet(let entitySet, _)? = bound.resource.steps.first else { return ODataResponse() }
        let virtual = VirtualEntities(
            try EngineRows(model: model, queue: queue).entities(of: set, in: database), of: entitySet, model: model,
            now: options.environment.instant,
            pageSizeLimit: isPaged ? options.localPageSize ?? Int(Int32.max) : Int(Int32.max))
        var response = try virtual.answer(bound, request)
        guard !attached.isEmpty else { return response }
        let names = attached.map(\.path[0].text)
        switch response.body {
        case .entity(let entity): response.body = .entity(try attaching(names, to: entity, in: database))
        case .page(var page):
            page.entities = try page.entities.map { try attaching(names, to: $0, in: database) }
            response.body = .page(page)
        default: break
        }
        return response
    }

    /// Puts the entity that a request is about beside it: as it is now, and as it is sent.
    private func attaching(_ names: [String], to entity: Entity, in database: Database) throws -> Entity {
        guard case .integer(let id)? = entity["RequestID"], let request = try queue.request(id, in: database) else {
            return entity
        }
        var entity = entity
        for name in names {
            let related: Entity?
            if request.isWithoutPlace {
                related = nil
            } else if name == "RequestEntity" {
                var sent = request.changes.merging(Entity(shape: request.changes.shape, key: request.key))
                sent.control.id = request.entityText
                related = sent
            } else {
                related = try current(request, in: database)
            }
            entity.related[name] = related.map { .one($0) } ?? RelatedEntities.none
        }
        return entity
    }

    /// The entity that a request is about as it is now; `nil` where it was deleted here, or is not the store's to tell.
    private func current(_ request: QueuedRequest, in database: Database) throws -> Entity? {
        do {
            guard let address = try address(of: request, in: database) else { return nil }
            let url = try followingAlias(ODataRequest(.read, address), in: database)?.url ?? address
            guard case .entity = try Binder(model: model).bind(url).resource.target else { return nil }
            return try entities(url, in: database).first
        } catch {
            guard [404, 501].contains(ODataError(translating: error).status) else { throw error }
            return nil
        }
    }

    /// The URL of the entity that a request is about, under the keys that it and what contains it have now.
    ///
    /// - Returns: `nil` for the call of an action that is bound to nothing.
    /// - Throws: `ODataError` 404 for what another entity contained and that is not here any more.
    private func address(of request: QueuedRequest, in database: Database) throws -> ODataURL? {
        if request.kind == .call {
            guard var path = try request.detail.url.map({ try ODataURL(parsing: $0).path }), path.segments.count > 1
            else { return nil }
            path.segments.removeLast()
            return ODataURL(path: path)
        }
        guard request.entitySet.contains("/"), let table = mapping.tables[request.entitySet] else {
            return KeyURL.url(set: request.entitySet, key: request.key, mapping)
        }
        return try Containment(mapping: mapping).url(of: request.rowID, table, database)
    }

    /// `ErrorArchive(5)/AffectedEntity` is the entity's own URL.
    private func followingAffectedEntity(_ url: ODataURL, in database: Database) throws -> ODataURL? {
        let segments = url.path.segments
        guard segments.count > 1, case .name(let name, .none) = segments[1], Self.toAnyType.contains(name.text),
            case .key(let key)? = try Binder(model: model).bind(
                ODataURL(path: ResourcePath([segments[0]]))
            ).resource.steps.last,
            case .integer(let id)? = key.parts.first?.value
        else { return nil }
        guard let queued = try queue.request(id, in: database), !queued.isWithoutPlace,
            let address = try address(of: queued, in: database)
        else {
            throw ODataError.notFound(url.description)
        }
        var redirected = url
        redirected.path.segments.replaceSubrange(0..<2, with: address.path.segments)
        return redirected
    }

    // MARK: Deleting

    /// DELETE of an archived request gives it up, or all where the option says so; of a waiting one cancels it.
    private func change(_ set: EngineSet, _ request: ODataRequest, in database: Database) throws -> ODataResponse {
        let bound = try Binder(model: model).bind(request.url)
        guard request.method == .delete, set != .eventLog, bound.resource.steps.count == 2,
            case .key(let key)? = bound.resource.steps.last, case .integer(let id)? = key.parts.first?.value
        else {
            throw ODataError.methodNotAllowed(request.method, allowed: set == .eventLog ? ["GET"] : ["GET", "DELETE"])
        }
        do {
            if set == .errorArchive {
                try discard([id], withAllOthers: options.revertsErrorsTogether, in: database)
            } else {
                try cancel([id], withAllOthers: false, in: database)
            }
        } catch OfflineError.unknown {
            throw ODataError.notFound(request.url.description)
        } catch OfflineError.alreadySent {
            throw ODataError(
                status: 409, code: "AlreadySent", message: "Request \(id) has been sent and cannot be taken back.")
        } catch let error as OfflineError {
            guard case .inChangeSet = error else { throw error }
            throw ODataError(status: 409, code: "InChangeSet", message: error.description)
        }
        return ODataResponse(status: 204)
    }
}
