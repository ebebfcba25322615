import ODataModel
import ODataQuery
import ODataService

/// The way in which a request is carried out, given the capabilities of the service.
enum CapabilityPlan: Sendable {
    /// One request. If a limit is given, further pages are read until that number of entities is reached.
    case single(ODataRequest, limit: Int?)
    /// The requests of a batch one by one, because the service does not support batches.
    case oneByOne([BatchItem], continuesOnError: Bool)

    /// Creates the plan for a request.
    ///
    /// - Throws: ``CapabilityError``.
    init(_ request: ODataRequest, model: EntityDataModel, policy: CapabilityPolicy) throws {
        guard policy == .check else {
            self = .single(request, limit: nil)
            return
        }
        let check = CapabilityCheck(ServiceCapabilities(model))
        if case .batch(let items) = request.body {
            let checked = try items.map { item in
                var item = item
                (item.request, _) = try check.adapted(item.request, canLimit: false)
                return item
            }
            if !check.capabilities.supportsBatch {
                try BatchSubstitute.requireIndependence(items)
                self = .oneByOne(checked, continuesOnError: request.preferences.continueOnError)
                return
            }
            var request = request
            request.body = .batch(checked)
            self = .single(request, limit: nil)
            return
        }
        let (adapted, limit) = try check.adapted(request, canLimit: request.format == nil)
        self = .single(adapted, limit: limit)
    }
}

/// Compares requests with the capabilities of the service.
struct CapabilityCheck {
    let capabilities: ServiceCapabilities

    init(_ capabilities: ServiceCapabilities) { self.capabilities = capabilities }

    /// Returns an equivalent request that the service supports.
    ///
    /// - Parameter canLimit: Whether the caller can truncate the response.
    /// - Returns: The request, and the maximum number of entities wanted if the service does not support
    ///   `$top`.
    /// - Throws: ``CapabilityError``.
    func adapted(_ request: ODataRequest, canLimit: Bool) throws -> (ODataRequest, limit: Int?) {
        guard request.link == nil, let bound = try? request.bound(in: capabilities.model) else {
            return (request, nil)
        }
        let set = capabilities.set(Self.set(bound.resource)?.name ?? "")
        guard set.entitySet != nil else { return (inVersion(request), nil) }
        switch (request.method, bound.resource.target) {
        case (.create, .entities):
            guard set.isInsertable else { throw error(set, "insert", term: "InsertRestrictions") }
            try checkCreation(request, set)
        case (.update, .entity), (.replace, .entity):
            guard set.isUpdatable else { throw error(set, "update", term: "UpdateRestrictions") }
            if let methods = set.updateMethods, !methods.contains(request.method == .update ? "PATCH" : "PUT") {
                throw error(set, request.method == .update ? "PATCH" : "PUT", term: "UpdateRestrictions")
            }
            try checkUpdate(request, set)
        case (.delete, .entity):
            guard set.isDeletable else { throw error(set, "delete", term: "DeleteRestrictions") }
        case (.read, .entities), (.read, .count), (.read, .entity):
            return try read(request, set, bound: bound, canLimit: canLimit)
        default: break
        }
        return (request, nil)
    }

    // MARK: Changes

    private func checkCreation(_ request: ODataRequest, _ set: SetCapabilities) throws(CapabilityError) {
        guard case .entity(let entity) = request.body else { return }
        for name in set.nonInsertableProperties.sorted() where entity.states(name) {
            // Null leaves the value to the service; only a stated value is an error.
            if entity[name].map({ !$0.isNull }) ?? false {
                throw error(set, "insert", term: "InsertRestrictions", property: name)
            }
        }
        let deep = entity.related.filter { $0.value.hasEntities }.keys.sorted()
        if let first = deep.first, !set.supportsDeepInsert {
            throw error(set, "deep insert", term: "DeepInsertSupport", property: first)
        }
        let refused = set.nonInsertableNavigationProperties
        for name in deep where refused.contains(name) {
            throw error(set, "deep insert", term: "InsertRestrictions", property: name)
        }
    }

    private func checkUpdate(_ request: ODataRequest, _ set: SetCapabilities) throws(CapabilityError) {
        guard case .entity(let entity) = request.body else { return }
        if request.method == .update {
            for name in set.nonUpdatableProperties.sorted() where entity.states(name) {
                throw error(set, "update", term: "UpdateRestrictions", property: name)
            }
        }
        if let deep = entity.related.filter({ $0.value.hasEntities }).keys.sorted().first, !set.supportsDeepUpdate {
            throw error(set, "deep update", term: "DeepUpdateSupport", property: deep)
        }
    }

    // MARK: Queries

    private func read(
        _ request: ODataRequest, _ set: SetCapabilities, bound: BoundURL, canLimit: Bool
    ) throws -> (ODataRequest, limit: Int?) {
        var request = inVersion(request)
        let isSetItself = bound.resource.steps.count == 1
        var limit: Int?
        if let most = set.maxPageSize, let size = request.preferences.maxPageSize {
            request.preferences.maxPageSize = min(size, most)
        }
        if isSetItself {
            if case .entity = bound.resource.target {
            } else if !set.isReadable {
                throw error(set, "reading", term: "ReadRestrictions")
            }
            if case .count = bound.resource.target, !set.isCountable {
                throw error(set, "$count", term: "CountRestrictions")
            }
            try checkFilter(request.url.options, set)
            try checkOrder(request.url.options, set)
            if request.url.options.search != nil, !set.isSearchable {
                throw error(set, "$search", term: "SearchRestrictions")
            }
            if request.url.options.count == true, !set.isCountable {
                throw error(set, "$count", term: "CountRestrictions")
            }
            if request.url.options.skip ?? 0 > 0, !set.isSkipSupported {
                throw error(set, "$skip", term: "SkipSupported")
            }
            if !request.url.options.compute.isEmpty, !set.isComputeSupported {
                throw error(set, "$compute", term: "ComputeSupported")
            }
            if let top = request.url.options.top, !set.isTopSupported {
                // The first pages contain the wanted entities: they are read, and the rest is removed by the
                // client.
                guard canLimit else { throw error(set, "$top", term: "TopSupported") }
                request.url.options.top = nil
                limit = top
            }
        }
        try checkExpand(request.url.options.expand, set, depth: 1)
        // Without `$select`, the response has more properties than needed, which is harmless.
        if !set.isSelectSupported { request.url.options.select = [] }
        if set.isChangeTracked == false { request.preferences.trackChanges = false }
        return (request, limit)
    }

    private func checkFilter(_ options: QueryOptions, _ set: SetCapabilities) throws(CapabilityError) {
        guard let filter = options.filter else {
            if set.requiresFilter { throw error(set, "reading without $filter", term: "FilterRestrictions") }
            if let name = set.requiredInFilter.sorted().first {
                throw error(set, "reading without $filter", term: "FilterRestrictions", property: name)
            }
            return
        }
        guard set.isFilterable else { throw error(set, "$filter", term: "FilterRestrictions") }
        let named = filter.namedPaths
        let refused = set.nonFilterableProperties
        for path in named.sorted() where refused.contains(path) {
            throw error(set, "$filter", term: "FilterRestrictions", property: path)
        }
        for name in set.requiredInFilter.sorted() where !named.contains(name) {
            throw error(set, "$filter without it", term: "FilterRestrictions", property: name)
        }
        for (path, type) in set.filterExpressionTypes.sorted(by: { $0.key < $1.key })
        where named.contains(path) && !filter.compares(path, as: type) {
            let attribute = set.entitySet.flatMap { capabilities.model.shape($0.type)?.property(path) }?
                .filterRestriction
            throw CapabilityError(
                feature: "$filter other than by \(type.allowed)", set: set.entitySet?.name, property: path,
                term: attribute.map { "sap:filter-restriction=\($0)" }
                    ?? Vocabulary.capabilities + "FilterRestrictions/FilterExpressionRestrictions=\(type.rawValue)")
        }
        if let functions = set.filterFunctions {
            for name in filter.calledFunctions.sorted() where !functions.contains(name) {
                throw error(set, "$filter", term: "FilterFunctions", property: "\(name)()")
            }
        }
    }

    private func checkOrder(_ options: QueryOptions, _ set: SetCapabilities) throws(CapabilityError) {
        guard !options.orderBy.isEmpty else { return }
        guard set.isSortable else { throw error(set, "$orderby", term: "SortRestrictions") }
        let refused = set.nonSortableProperties
        let upwards = set.ascendingOnlyProperties
        let downwards = set.descendingOnlyProperties
        for item in options.orderBy {
            for path in item.expression.namedPaths.sorted() {
                if refused.contains(path) { throw error(set, "$orderby", term: "SortRestrictions", property: path) }
                if item.isDescending ? upwards.contains(path) : downwards.contains(path) {
                    throw error(
                        set, item.isDescending ? "$orderby desc" : "$orderby asc", term: "SortRestrictions",
                        property: path)
                }
            }
        }
    }

    private func checkExpand(
        _ items: [ExpandItem], _ set: SetCapabilities, depth: Int
    ) throws(CapabilityError) {
        guard !items.isEmpty else { return }
        guard set.isExpandable else { throw error(set, "$expand", term: "ExpandRestrictions") }
        let refused = set.nonExpandableProperties
        for item in items {
            let path = item.path.map(\.text).joined(separator: "/")
            if refused.contains(path) { throw error(set, "$expand", term: "ExpandRestrictions", property: path) }
            if let max = set.maxExpandLevels, depth + item.options.expandDepth > max {
                throw error(set, "$expand over \(max) levels", term: "ExpandRestrictions", property: path)
            }
        }
    }

    /// Replaces `in`, which 4.01 introduced, by a chain of comparisons for 4.0. Requests of V2 are translated
    /// when they are written.
    private func inVersion(_ request: ODataRequest) -> ODataRequest {
        guard capabilities.model.version == .v4 else { return request }
        var request = request
        request.url = request.url.mapChildren(\.withoutMembership)
        return request
    }

    // MARK: Naming

    private static func set(_ resource: BoundResource) -> EntitySet? {
        switch resource.target {
        case .entities(_, let set), .entity(_, let set), .count(_, let set): set
        default: nil
        }
    }

    private func error(
        _ set: SetCapabilities, _ feature: String, term: String, property: String? = nil
    ) -> CapabilityError {
        CapabilityError(
            feature: feature, set: set.entitySet?.name, property: property, term: Vocabulary.capabilities + term)
    }
}

extension ODataEntity {
    /// Whether a body states a property: one that was changed since the entity was read, or any loaded one if
    /// none was changed.
    fileprivate func states(_ name: String) -> Bool {
        changedProperties.isEmpty ? self[name] != nil : changedProperties.contains(name)
    }
}

extension RelatedEntities {
    /// Whether the value contains entities and not only references.
    fileprivate var hasEntities: Bool {
        switch self {
        case .one: true
        case .many(let entities, _, _): !entities.isEmpty
        case .none, .references: false
        }
    }
}

extension QueryOptions {
    /// The number of expanded levels below these options.
    fileprivate var expandDepth: Int { expand.map { 1 + $0.options.expandDepth }.max() ?? 0 }
}

extension ODataResponse {
    /// Returns the response with at most `limit` entities. Further pages are read if this one has fewer; the
    /// result has no next link.
    ///
    /// - Parameter page: Returns the response to a next link.
    /// - Throws: The errors of `page`, and ``ODataError`` with status 502 if a page links to an earlier page.
    func limited(to limit: Int, _ page: (_ nextLink: String) async throws -> ODataResponse) async throws
        -> ODataResponse
    {
        guard case .page(var whole) = body else { return self }
        var followed = FollowedLinks()
        var received = whole.entities.count
        while whole.entities.count < limit, let link = whole.nextLink {
            try followed.follow(link, behind: received)
            guard case .page(let next) = try await page(link).body else {
                throw DataServiceError.unexpectedAnswer(expected: "a collection of entities")
            }
            received = next.entities.count
            whole.entities += next.entities
            whole.nextLink = next.nextLink
        }
        var response = self
        whole.entities = Array(whole.entities.prefix(limit))
        whole.nextLink = nil
        response.body = .page(whole)
        return response
    }
}
