import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Reads the engine's own sets, and cancels or discards changes by deletions from them: alone, or within a
/// transaction.
extension OfflineStore {
    /// The navigation properties that lead to an entity of any type.
    private static let toAnyType: Set = ["AffectedEntity", "RequestEntity"]

    /// The engine's set at the beginning of a path.
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

    /// Answers a change of one of the engine's own sets within a transaction; `nil` for any other.
    func answerEngineSet(_ request: ODataRequest, in database: Database) throws -> ODataResponse? {
        guard let set = engineSet(request.url) else { return nil }
        return try change(set, request, in: database)
    }

    /// The result of a query within a transaction. Each entity shows the state of its changes.
    func entities(_ url: ODataURL, in database: Database) throws -> [ODataEntity] {
        guard let set = engineSet(url) else {
            return try annotating(local.entities(url, in: database), in: database)
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

    private func annotating(_ entities: [ODataEntity], in database: Database) throws -> [ODataEntity] {
        let sets = EntityStates.sets(of: entities)
        guard !sets.isEmpty else { return entities }
        var states = try EntityStates(of: entities, in: sets, mapping: mapping, in: database)
        states.draftSets = Set(options.creation.localDrafts.keys).intersection(sets)
        return entities.map(states.annotating)
    }

    // MARK: Reading

    private func read(
        _ set: EngineSet, _ request: ODataRequest, isPaged: Bool, in database: Database
    ) throws -> ODataResponse {
        var request = request
        let attached = Self.attached(&request.url)
        let bound = try Binder(model: model, functions: functions).bind(request.url)
        guard case .entitySet(let entitySet, _)? = bound.resource.steps.first else { return ODataResponse() }
        var entities = try EngineRows(model: model, queue: queue).entities(of: set, in: database)
        // A condition, an order or a path may go through these properties.
        let text = request.url.description
        let mentioned = Self.toAnyType.filter { text.contains($0) }.sorted()
        if !mentioned.isEmpty {
            let items = mentioned.map { ExpandItem(path: [Identifier($0)]) }
            entities = try entities.map { try attaching(items, to: $0, in: database) }
        }
        let virtual = VirtualEntities(
            entities, of: entitySet, model: model, now: environment.instant,
            maxPageSize: isPaged ? options.runtime.localPageSize ?? Int(Int32.max) : Int(Int32.max))
        var response = try virtual.answer(bound, request)
        guard !attached.isEmpty else { return response }
        switch response.body {
        case .entity(let entity): response.body = .entity(try attaching(attached, to: entity, in: database))
        case .page(var page):
            page.entities = try page.entities.map { try attaching(attached, to: $0, in: database) }
            response.body = .page(page)
        default: break
        }
        return response
    }

    /// Removes the properties that lead to an entity of any type from the `$expand` of a URL.
    private static func attached(_ url: inout ODataURL) -> [ExpandItem] {
        func leads(_ item: ExpandItem) -> Bool { item.path.count == 1 && toAnyType.contains(item.path[0].text) }
        var attached = url.options.expand.filter(leads)
        url.options.expand.removeAll(where: leads)
        // An asterisk includes all of them; otherwise they are named.
        guard let index = url.options.expand.firstIndex(where: { $0.path.map(\.text) == ["*"] }) else {
            return attached
        }
        let all = url.options.expand.remove(at: index)
        let named = Set((attached + url.options.expand).map { $0.path[0].text })
        for name in ["DependentRequests", "CustomHeaders"] where !named.contains(name) {
            url.options.expand.append(ExpandItem(path: [Identifier(name)], form: all.form, options: all.options))
        }
        for name in toAnyType.sorted() where !named.contains(name) {
            attached.append(ExpandItem(path: [Identifier(name)], form: all.form, options: all.options))
        }
        return attached
    }

    /// Attaches the entity of a request: in its current and in its sent form.
    private func attaching(_ items: [ExpandItem], to entity: ODataEntity, in database: Database) throws -> ODataEntity {
        guard case .integer(let id)? = entity["RequestID"], let request = try queue.request(id, in: database) else {
            return entity
        }
        var entity = entity
        for item in items {
            let name = item.path[0].text
            let related: ODataEntity?
            if request.isWithoutPlace {
                related = nil
            } else if name == "RequestEntity" {
                related = sent(by: request, selecting: item.options)
            } else {
                related = try current(request, item.options, in: database)
            }
            entity.related[name] = related.map { .one($0) } ?? RelatedEntities.none
        }
        return entity
    }

    /// The sent form of the entity of a request.
    private func sent(by request: QueuedRequest, selecting options: QueryOptions = QueryOptions()) -> ODataEntity {
        let selected = Set(options.select.compactMap(\.firstName))
        let isWhole = selected.isEmpty || selected.contains("*")
        let changes = isWhole ? request.changes : request.changes.only(where: selected.contains)
        var sent = changes.merging(ODataEntity(shape: request.changes.shape, key: request.key))
        sent.control.id = request.entityText
        return sent
    }

    /// The current form of the entity of a request; `nil` if it was deleted locally, or the store does not
    /// contain it.
    private func current(
        _ request: QueuedRequest, _ options: QueryOptions, in database: Database
    ) throws -> ODataEntity? {
        do {
            guard let address = try address(of: request, in: database) else { return nil }
            var url = try followingAlias(ODataRequest(.read, address), in: database)?.url ?? address
            guard case .entity(let shape, _) = try Binder(model: model).bind(url).resource.target else { return nil }
            // Requests are about entities of several types: each returns the properties of its type.
            url.options.select = options.select.filter { $0.firstName.map(shape.hasMember) ?? true }
            if url.options.select.isEmpty, !options.select.isEmpty { url.options.select = shape.keySelection }
            url.options.expand = options.expand.filter { $0.path.first.map { shape.hasMember($0.text) } ?? true }
            return try entities(url, in: database).first
        } catch {
            guard [404, 501].contains(ODataError(translating: error).status) else { throw error }
            return nil
        }
    }

    /// The URL of the entity of a request, with the current keys of the entity and its containers.
    ///
    /// - Returns: `nil` for the call of an unbound action.
    /// - Throws: `ODataError` 404 for a contained entity that is not in the store any more.
    private func address(of request: QueuedRequest, in database: Database) throws -> ODataURL? {
        if request.kind == .call {
            guard var path = try request.actionCall.map(\.url).map({ try ODataURL(parsing: $0).path }),
                path.segments.count > 1
            else { return nil }
            path.segments.removeLast()
            return ODataURL(path: path)
        }
        guard request.entitySet.contains("/"), let table = mapping.tables[request.entitySet] else {
            return KeyURL.url(set: request.entitySet, key: request.key, mapping)
        }
        return try Containment(mapping: mapping).url(of: request.rowID, table, in: database)
    }

    /// The address of a resource behind `AffectedEntity` or `RequestEntity` in a URL; `nil` for any other URL.
    func address(of url: ODataURL) async throws -> ODataURL? {
        guard engineSet(url) != nil, url.path.segments.count > 1 else { return nil }
        do {
            return try await database.read { [self] in try followingAffectedEntity(url, in: $0) }
        } catch let error as QueryError {
            throw ODataError(error)
        }
    }

    /// `ErrorArchive(5)/AffectedEntity` is the entity's own URL. Behind `RequestEntity`, the type of the entity
    /// follows.
    private func followingAffectedEntity(_ url: ODataURL, in database: Database) throws -> ODataURL? {
        let segments = url.path.segments
        guard segments.count > 1, case .name(let name, .none) = segments[1], Self.toAnyType.contains(name.text),
            case .key(let key)? = try Binder(model: model).bind(
                ODataURL(path: ResourcePath([segments[0]]))
            ).resource.steps.last,
            case .integer(let id)? = key.parts.first?.value
        else { return nil }
        guard let queued = try queue.request(id, in: database), !queued.isWithoutPlace else {
            throw ODataError.notFound(url.description)
        }
        var redirected = url
        guard name.text == "AffectedEntity" else {
            let type = queued.changes.shape.name.description
            guard segments.count > 2, case .name(let next, _) = segments[2], !next.text.contains(".") else {
                return nil
            }
            redirected.path.segments.insert(.name(Identifier(type), .none), at: 2)
            return redirected
        }
        guard let address = try address(of: queued, in: database) else { throw ODataError.notFound(url.description) }
        redirected.path.segments.replaceSubrange(0..<2, with: address.path.segments)
        return redirected
    }

    // MARK: Deleting

    /// DELETE discards an archived request, or all of them if the option says so. It cancels a pending request.
    private func change(_ set: EngineSet, _ request: ODataRequest, in database: Database) throws -> ODataResponse {
        let bound = try Binder(model: model).bind(request.url)
        guard request.method == .delete, set != .eventLog, bound.resource.steps.count == 2,
            case .key(let key)? = bound.resource.steps.last, case .integer(let id)? = key.parts.first?.value
        else {
            throw ODataError.methodNotAllowed(request.method, allowed: set == .eventLog ? ["GET"] : ["GET", "DELETE"])
        }
        do {
            if set == .errorArchive {
                try discard([id], withAllOthers: options.sync.revertsErrorsTogether, in: database)
            } else {
                try cancel([id], withAllOthers: false, in: database)
            }
        } catch OfflineError.unknown {
            throw ODataError.notFound(request.url.description)
        } catch OfflineError.alreadySent {
            throw ODataError(
                status: 409, code: "AlreadySent", message: "Request \(id) has been sent and cannot be undone.")
        } catch let error as OfflineError {
            guard case .inChangeSet = error else { throw error }
            throw ODataError(status: 409, code: "InChangeSet", message: error.description)
        }
        return ODataResponse(status: 204)
    }
}

extension TypeShape {
    /// Whether the type has a property or navigation property of a name. An open type may have any.
    fileprivate func hasMember(_ name: String) -> Bool {
        name == "*" || isOpen || ordinal(of: name) != nil || navigationProperty(name) != nil
    }
}

extension SelectItem {
    /// The first name of the path; `nil` if it is no path.
    fileprivate var firstName: String? {
        if case .path(let path) = kind { path.first?.text } else { nil }
    }
}
