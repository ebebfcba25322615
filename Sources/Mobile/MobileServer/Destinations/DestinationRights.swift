import ODataModel
import ODataQuery
import ODataService

/// Enforces the permissions of an application at a back end that does not know them (`mobile-server.md` 0.9).
///
/// Sets are read with the filter of the permission. An entity is looked up before it is changed. A request is refused if
/// its result cannot be restricted.
/// Permissions only add; without one a set does not exist for the caller.
struct DestinationRights: ProviderWrapper {
    let base: any ODataProvider
    let rights: AccessRights

    /// Returns the rights of an application at a destination, or `nil` if the application has no permissions.
    static func rights(of configuration: ApplicationConfiguration, at destination: String) -> AccessRights? {
        guard !configuration.permissions.isEmpty else { return nil }
        var rights = AccessRights()
        for rule in configuration.permissions where rule.destination == nil || rule.destination == destination {
            var verbs: Set<Access.Kind> = []
            for verb in rule.verbs {
                // A call is the reading of a function, or the change of an action.
                if verb == "call" { verbs.formUnion([.read, .update]) }
                if let kind = Access.Kind(rawValue: verb) { verbs.insert(kind) }
            }
            rights.permissions.append(
                AccessPermission(role: rule.role, set: rule.set, verbs: verbs, filter: rule.filter))
        }
        return rights
    }

    /// Returns whether a caller may read all rows of a set, so that a shared feed may answer.
    static func readsAll(_ rights: AccessRights?, _ principal: Principal, set: String) -> Bool {
        guard let rights else { return true }
        let access = rights.access(of: principal, to: set)
        return access.allows(.read) && access.rowFilter == nil && access.hiddenProperties.isEmpty
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        guard case .batch(let items) = request.body else { return try await single(request) }
        // Each request of the batch is checked; a change set is sent whole or not at all.
        var checked = request
        var permittedItems: [BatchItem] = []
        for item in items {
            var item = item
            let path = item.request.url.path
            item.request = try await permitted(item.request)
            guard item.request.url.path == path else {
                throw ODataError.notImplemented("Reading a single entity of a restricted set in a batch")
            }
            permittedItems.append(item)
        }
        checked.body = .batch(permittedItems)
        return try await base.execute(checked)
    }

    private func single(_ request: ODataRequest) async throws -> ODataResponse {
        let permitted = try await permitted(request)
        guard permitted.url.path != request.url.path else { return try await base.execute(permitted) }
        // An entity was asked for by its key, and is looked up in its set with the filter.
        let response = try await base.execute(permitted)
        guard case .page(let page) = response.body else { throw DestinationFailure.badGateway }
        guard let entity = page.entities.first else { throw ODataError.notFound(request.url.urlEncoded()) }
        return ODataResponse(body: .entity(entity), etag: entity.control.etag)
    }

    // MARK: One request

    /// Returns the form in which a request may be sent.
    ///
    /// - Throws: 401, 403 or 404.
    private func permitted(_ request: ODataRequest) async throws -> ODataRequest {
        let model = try await base.model
        let caller = request.context.principal
        var request = try request.parsingLink()
        let bound = try bind(request, model)
        switch bound.resource.target {
        case .metadata, .service: return request
        default: break
        }
        let kind = Self.kind(of: request, bound)
        let (name, access) = try access(caller, bound)
        guard access.allows(kind) else { throw Access.refusal(caller, name) }
        guard access.hiddenProperties.isEmpty else { throw Access.refusal(caller, name) }
        try checkRelated(request.url.options, bound, in: model, for: caller)
        let filter = kind == .read ? access.rowFilter : nil
        let change = kind == .read ? nil : access.changeFilters[kind] ?? (kind == .create ? nil : access.rowFilter)
        if kind == .read {
            guard let filter else { return request }
            return try restricted(request, bound, to: filter, name: name, for: caller, in: model)
        }
        if kind == .create {
            if let change { try checkCreated(request, change, name: name, for: caller, in: model) }
            return request
        }
        guard let change else { return request }
        try await checkStored(
            &request, bound, filter: change, rows: access.rowFilter, name: name, for: caller, in: model)
        return request
    }

    private func bind(_ request: ODataRequest, _ model: EntityDataModel) throws -> BoundURL {
        do throws(QueryError) {
            return try request.bound(in: model, base.traits.queryLanguage)
        } catch {
            throw ODataError(error)
        }
    }

    /// Returns the kind of access that a request needs at its first set.
    private static func kind(of request: ODataRequest, _ bound: BoundURL) -> Access.Kind {
        // Below an entity, everything that is no reading changes the entity.
        let isNested = bound.resource.steps.contains {
            switch $0 {
            case .navigation, .property, .operation: true
            default: false
            }
        }
        switch request.method {
        case .read: return .read
        case .create: return isNested ? .update : .create
        case .update, .replace: return .update
        case .delete: return isNested ? .update : .delete
        }
    }

    /// Returns the name of the first set, singleton or operation of a path with the access to it. A path that leads to
    /// other sets needs unrestricted access to all of them.
    private func access(_ caller: Principal?, _ bound: BoundURL) throws -> (String, Access) {
        guard let first = bound.resource.steps.first else { throw DestinationFailure.roleMissing }
        let name: String
        var isOperation = false
        switch first {
        case .entitySet(let set, _): name = set.name
        case .singleton(let singleton, _): name = singleton.name
        case .operation(let operation, _):
            name = operation.name.name
            isOperation = true
        default: throw DestinationFailure.roleMissing
        }
        let access = rights.access(of: caller, to: name, isOperation: isOperation)
        for step in bound.resource.steps.dropFirst() {
            switch step {
            case .navigation(let property, let set, _):
                guard access.rowFilter == nil, let set else { throw Access.refusal(caller, property.name) }
                let target = rights.access(of: caller, to: set.name)
                guard target.allows(.read), target.rowFilter == nil else { throw Access.refusal(caller, set.name) }
            case .operation(let operation, _):
                guard access.rowFilter == nil else { throw Access.refusal(caller, operation.name.name) }
                let target = rights.access(of: caller, to: operation.name.name, isOperation: true)
                guard target.allows(.read) || target.allows(.update) else {
                    throw Access.refusal(caller, operation.name.name)
                }
            default: break
            }
        }
        return (name, access)
    }

    /// Checks that everything beside the rows of the set is readable without a condition: expanded entities and
    /// navigation in conditions.
    private func checkRelated(
        _ options: QueryOptions, _ bound: BoundURL, in model: EntityDataModel, for caller: Principal?
    ) throws {
        guard !options.expand.isEmpty || !options.apply.isEmpty || options.usesNavigation else { return }
        // Which sets a path may reach is not followed: all sets must be readable.
        for set in model.container.entitySets {
            let access = rights.access(of: caller, to: set.name)
            guard access.allows(.read), access.rowFilter == nil else {
                throw ODataError(
                    status: 403, code: "RoleMissing",
                    message: "This request may show entities of \(set.name), which your roles restrict.")
            }
        }
    }

    // MARK: Filters

    /// Returns a read of the rows that match a filter.
    private func restricted(
        _ request: ODataRequest, _ bound: BoundURL, to filter: AccessFilter, name: String, for caller: Principal?,
        in model: EntityDataModel
    ) throws -> ODataRequest {
        var request = request
        let condition = try Self.condition(filter)
        switch bound.resource.target {
        case .entities, .count:
            request.url.options.filter =
                request.url.options.filter.map { .binary(.and, condition, $0) } ?? condition
            // A count counts the matching rows only; a page of the back end's token has the filter in its link.
            return request
        case .entity:
            guard bound.resource.steps.count == 2, case .key(let key) = bound.resource.steps[1] else { break }
            var url = request.url
            url.path = ResourcePath([.name(Identifier(name), .none)])
            url.options.filter = .binary(.and, try Self.condition(key, name, in: model), condition)
            request.url = url
            request.format = nil
            return request
        default: break
        }
        throw Access.refusal(caller, name)
    }

    /// Looks up the entity that a change addresses, and makes the change conditional on its ETag.
    private func checkStored(
        _ request: inout ODataRequest, _ bound: BoundURL, filter: AccessFilter, rows: AccessFilter?,
        name: String, for caller: Principal?, in model: EntityDataModel
    ) async throws {
        guard bound.resource.steps.count == 2, case .key(let key) = bound.resource.steps[1] else {
            throw Access.refusal(caller, name)
        }
        var url = ODataURL(set: name)
        var condition = CommonExpression.binary(
            .and, try Self.condition(key, name, in: model), try Self.condition(filter))
        if let rows { condition = .binary(.and, condition, try Self.condition(rows)) }
        url.options.filter = condition
        guard case .page(let page) = try await base.execute(ODataRequest(.read, url)).body else {
            throw DestinationFailure.badGateway
        }
        guard let entity = page.entities.first else { throw Access.refusal(caller, name) }
        // The entity may change between the look-up and the change.
        if request.ifMatch == nil, let etag = entity.control.etag { request.ifMatch = etag }
        if case .entity(let changes) = request.body {
            var after = entity
            for (property, value) in zip(changes.shape.properties, changes.values) {
                if let value, let ordinal = after.shape.ordinal(of: property.name) { after.values[ordinal] = value }
            }
            guard try Self.matches(after, filter, set: name, in: model) else { throw Access.refusal(caller, name) }
        } else if request.method != .delete {
            throw Access.refusal(caller, name)
        }
    }

    /// Checks a new entity against the filter of the permission.
    private func checkCreated(
        _ request: ODataRequest, _ filter: AccessFilter, name: String, for caller: Principal?,
        in model: EntityDataModel
    ) throws {
        guard case .entity(let entity) = request.body, try Self.matches(entity, filter, set: name, in: model) else {
            throw Access.refusal(caller, name)
        }
    }

    /// Returns the condition of a permission with the values of the caller as literals.
    private static func condition(_ filter: AccessFilter) throws -> CommonExpression {
        do throws(QueryError) {
            return try CommonExpression(parsing: filter.text).replacingAliases(by: filter.values)
        } catch {
            throw ODataError(error)
        }
    }

    private static func condition(
        _ key: EntityKey, _ set: String, in model: EntityDataModel
    ) throws -> CommonExpression {
        guard !key.parts.isEmpty else { throw ODataError.notFound(set) }
        return key.condition(model.shape(ofSet: set), model)
    }

    /// Returns whether an entity matches a filter. A property that is not loaded counts as null.
    private static func matches(
        _ entity: ODataEntity, _ filter: AccessFilter, set: String, in model: EntityDataModel
    ) throws -> Bool {
        var options = QueryOptions()
        options.filter = try condition(filter)
        var whole = entity
        for index in whole.values.indices where whole.values[index] == nil { whole.values[index] = .null }
        do {
            let bound = try Binder(model: model).bindQuery(options, shape: whole.shape, set: model.entitySet(set))
            let evaluator = Evaluator(model: model, source: NothingBeside(), now: .current)
            return !(try evaluator.evaluate(bound, over: [whole])).rows.isEmpty
        } catch {
            return false
        }
    }
}

/// No entities beside the one that is judged.
private struct NothingBeside: EvaluationSource {
    func rows(of set: String) -> [any EvaluationRow] { [] }
    func singleton(_ name: String) -> (any EvaluationRow)? { nil }
}

extension CommonExpression {
    /// Returns the expression with text literals in the place of parameter aliases.
    fileprivate func replacingAliases(by values: [String: String]) -> CommonExpression {
        func replacement(_ expression: CommonExpression) -> CommonExpression? {
            guard case .alias(let name) = expression, let value = values[name.text] else { return nil }
            return .literal(Literal(.string(value)))
        }
        return replacement(self) ?? mapDescendants(replacement)
    }
}

extension QueryOptions {
    /// Whether conditions or the order may look at other entities.
    fileprivate var usesNavigation: Bool {
        let roots = [filter].compactMap(\.self) + orderBy.map(\.expression) + compute.map(\.expression)
        return (roots + roots.flatMap(\.descendants)).contains { expression in
            if case .path(let steps) = expression { steps.count > 1 } else { false }
        } || search != nil
    }
}
