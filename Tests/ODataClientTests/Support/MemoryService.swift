import ODataModel
import ODataQuery
import ODataService

/// A small service in memory with ETags, paging, deltas and change sets, for tests of the client.
actor MemoryService: ODataProvider {
    static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="City" Type="Edm.String"/>
        <Property Name="Freight" Type="Edm.Decimal" Scale="2"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    nonisolated let fixedModel: EntityDataModel
    private var rows: [Int64: ODataEntity] = [:]
    private var version = 0
    private(set) var requests: [ODataRequest] = []
    let pageSize: Int

    init(pageSize: Int = 2) throws {
        fixedModel = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        self.pageSize = pageSize
    }

    nonisolated var model: EntityDataModel { get async throws { fixedModel } }

    nonisolated var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        requests.append(request)
        if case .batch(let items) = request.body { return try await batch(items) }
        let bound = try Binder(model: fixedModel).bind(request.url)
        switch (bound.resource.target, request.method) {
        case (.entities, .read): return read(request, bound)
        case (.entities, .create): return try create(request)
        case (.count, .read): return ODataResponse(body: .count(Int64(rows.count)))
        case (.entity, _):
            guard case .key(let key)? = bound.resource.steps.last, case .integer(let id)? = key["ID"] else {
                throw ODataError.notImplemented("this path")
            }
            return try entity(id, request)
        default: throw ODataError.notImplemented("this")
        }
    }

    private func read(_ request: ODataRequest, _ bound: BoundURL) -> ODataResponse {
        var page = EntityPage()
        if let token = request.url.options.deltaToken.flatMap({ Int($0) }) {
            page.entities = rows.values.filter { changed($0) > token }
            page.deltaLink = "Orders?$deltatoken=\(version)"
            return ODataResponse(body: .page(page))
        }
        let start = request.url.options.skipToken.flatMap { Int64($0) } ?? .min
        let all = rows.keys.sorted().filter { $0 > start }
        let size = min(pageSize, request.preferences.maxPageSize ?? pageSize)
        let taken = all.prefix(min(size, request.url.options.top ?? size))
        page.entities = taken.compactMap { rows[$0] }
        if bound.query?.count == true { page.count = Int64(rows.count) }
        if request.url.options.top == nil, taken.count < all.count, let last = taken.last {
            page.nextLink = "Orders?$skiptoken=\(last)"
        } else if request.preferences.trackChanges {
            page.deltaLink = "Orders?$deltatoken=\(version)"
        }
        var response = ODataResponse(body: .page(page))
        if request.preferences.trackChanges { response.preferencesApplied = ["track-changes"] }
        return response
    }

    private func changed(_ entity: ODataEntity) -> Int {
        entity.control.etag.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private func create(_ request: ODataRequest) throws -> ODataResponse {
        guard case .entity(let entity) = request.body, case .integer(let id)? = entity["ID"] else {
            throw ODataError(status: 400, code: "NoKey", message: "ID is missing.", target: "ID")
        }
        guard rows[id] == nil else { throw ODataError(status: 409, code: "Exists", message: "Order \(id) exists.") }
        let stored = store(entity, id)
        var response = ODataResponse(status: 201, body: .entity(stored), etag: stored.control.etag)
        response.location = "Orders(\(id))"
        if request.preferences.returns == .minimal {
            response.body = .none
            response.status = 204
            response.entityID = "Orders(\(id))"
        }
        if request.repeatability != nil { response.repeatabilityResult = .accepted }
        return response
    }

    private func entity(_ id: Int64, _ request: ODataRequest) throws -> ODataResponse {
        guard let current = rows[id] else { throw ODataError.notFound("Orders(\(id))") }
        if request.method != .read, let condition = request.ifMatch, condition != "*",
            condition != current.control.etag
        {
            throw ODataError.preconditionFailed("Orders(\(id))")
        }
        switch request.method {
        case .read: return ODataResponse(body: .entity(current), etag: current.control.etag)
        case .delete:
            rows[id] = nil
            return ODataResponse(status: 204)
        case .update, .replace:
            guard case .entity(let changes) = request.body else { throw ODataError.notImplemented("this body") }
            var next = request.method == .update ? current : ODataEntity(shape: current.shape, ["ID": .integer(id)])
            for property in changes.shape.properties {
                if let value = changes[property.name] { next[property.name] = value }
            }
            let stored = store(next, id)
            return ODataResponse(body: .entity(stored), etag: stored.control.etag)
        case .create: throw ODataError.methodNotAllowed(.create, allowed: ["GET"])
        }
    }

    private func store(_ entity: ODataEntity, _ id: Int64) -> ODataEntity {
        version += 1
        var entity = entity
        entity.markUnchanged()
        entity.control.etag = "W/\"\(version)\""
        entity.control.id = "Orders(\(id))"
        rows[id] = entity
        return entity
    }

    private func batch(_ items: [BatchItem]) async throws -> ODataResponse {
        var results: [BatchResult] = []
        for item in items {
            do {
                results.append(BatchResult(id: item.id, result: .success(try await execute(item.request))))
            } catch let error as ODataError {
                results.append(BatchResult(id: item.id, result: .failure(error)))
            }
        }
        return ODataResponse(body: .batch(results))
    }
}
