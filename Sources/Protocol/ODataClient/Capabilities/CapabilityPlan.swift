import ODataModel
import ODataQuery
import ODataService

/// How a request is to be carried out, seen what the service says that it can do.
enum CapabilityPlan: Sendable {
    /// As one request, and as those for the next pages until so many entities are there, where a limit is given.
    case single(ODataRequest, limit: Int?)
    /// The requests of a batch one by one: the service has no batches.
    case oneByOne([BatchItem], continuesOnError: Bool)

    /// Judges a request.
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

/// Holds requests against what the service says.
struct CapabilityCheck {
    let capabilities: ServiceCapabilities

    init(_ capabilities: ServiceCapabilities) { self.capabilities = capabilities }

    /// The same request in what the service can do.
    ///
    /// - Parameter canLimit: whether the caller can cut the answer.
    /// - Returns: with how many entities at most are wanted of the answer, where the service cannot be told.
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
            // A key that the service makes itself is left out by whoever knows; stating it is wrong.
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
                // The first pages hold what is wanted: they are read, and what is more is cut away here.
                guard canLimit else { throw error(set, "$top", term: "TopSupported") }
                request.url.options.top = nil
                limit = top
            }
        }
        try checkExpand(request.url.options.expand, set, depth: 1)
        // Everything is more than what is wanted, and contains it.
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

    /// Says in 4.0 what came with 4.01: `in` is a chain of comparisons. V2 is translated as a whole when it is written.
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
    /// Whether a body states a property: those that were set since the entity was read, else all that are loaded.
    fileprivate func states(_ name: String) -> Bool {
        changedProperties.isEmpty ? self[name] != nil : changedProperties.contains(name)
    }
}

extension RelatedEntities {
    /// Whether entities go along, not references alone.
    fileprivate var hasEntities: Bool {
        switch self {
        case .one: true
        case .many(let entities, _, _): !entities.isEmpty
        case .none, .references: false
        }
    }
}

extension QueryOptions {
    /// How many levels are expanded below.
    fileprivate var expandDepth: Int { expand.map { 1 + $0.options.expandDepth }.max() ?? 0 }
}

extension ODataResponse {
    /// The same answer with so many entities, from further pages where this one has fewer, and no way to more.
    ///
    /// - Parameter page: gets the answer to a next link.
    /// - Throws: what `page` throws, and ``ODataError`` with status 502 where a page leads back to an earlier one.
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
