import Foundation
import GRDB
import HTTPTypes
import ODataClient
import ODataDatabases
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// A real service on a real database, connected to offline stores by an in-memory wire that can be cut.
final class Shop: Sendable {
    let directory: URL
    let database: ServedDatabase
    let wire: Wire
    private let isOwner: Bool

    var path: String { directory.appendingPathComponent("shop.db").path }

    /// - Parameter tables: the SQL of additional tables.
    init(pageSize: Int? = 1000, with tables: String = "") async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appendingPathComponent("shop.db").path
        let sql = try String(contentsOf: Self.root.appendingPathComponent("Examples/Shop/shop.sql"), encoding: .utf8)
        try await DatabaseQueue(path: path).write { try $0.execute(sql: sql + tables) }
        var options = ServedDatabase.Options()
        options.maxPageSize = pageSize
        database = try await ServedDatabase.open(path: path, options: options)
        wire = Wire(LoopbackTransport(ODataHandler(provider: database)))
        isOwner = true
    }

    /// Opens the service of the same database again, for example after its schema was altered.
    init(at directory: URL) async throws {
        self.directory = directory
        database = try await ServedDatabase.open(path: directory.appendingPathComponent("shop.db").path)
        wire = Wire(LoopbackTransport(ODataHandler(provider: database)))
        isOwner = false
    }

    deinit { if isOwner { try? FileManager.default.removeItem(at: directory) } }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let serviceRoot = "http://shop.test/"

    func client() throws -> ODataClient { try client(over: wire) }

    func client(over transport: some HTTPTransport) throws -> ODataClient {
        // The session does not retry, so that tests see how the engine handles failures.
        let session = try HTTPSession(
            transport, serviceRoot: Self.serviceRoot, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: Self.serviceRoot, transport: session)
    }

    /// Runs SQL in the database as another program.
    func sql(_ sql: String) async throws {
        try await DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
    }

    func count(_ sql: String) async throws -> Int {
        try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: sql) ?? -1 }
    }

    func text(_ sql: String) async throws -> String? {
        try await DatabaseQueue(path: path).read { try String.fetchOne($0, sql: sql) }
    }

    /// Creates a store without a download.
    func store(
        _ queries: [DefiningQuery] = [], named name: String = "clone",
        options: OfflineStore.Options = .init(), through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        // The client's service has confirmed in an earlier response that it recognises repeated requests.
        let options = remote == nil ? options.confirmingRepeats : options
        let service: any ODataProvider = if let remote { remote } else { try client() }
        return try await OfflineStore.create(
            at: directory.appendingPathComponent(name).path, protection: .unencrypted,
            serviceRoot: Self.serviceRoot, remote: service, queries: queries, options: options)
    }

    /// Creates a downloaded store.
    func clone(
        _ queries: [DefiningQuery] = [], named name: String = "clone",
        options: OfflineStore.Options = .init(), through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        let store = try await store(queries, named: name, options: options, through: remote)
        try await store.download()
        return store
    }

    /// Creates a folder with files, such as those of a store.
    func folder(_ name: String, _ files: [String: Data]) throws -> String {
        let folder = directory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: folder.appendingPathComponent(name)) }
        return folder.path
    }

    /// Opens a store again, as after a crash.
    func reopen(_ name: String = "clone") async throws -> OfflineStore {
        let client = try client()
        return try await OfflineStore.open(
            at: directory.appendingPathComponent(name).path, protection: .unencrypted, connect: { _, _ in client })
    }

    /// Expects equal rows of every entity set on both sides and an empty queue.
    func expectEqual(
        _ store: OfflineStore, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for set in database.model.container.entitySets {
            guard let shape = database.model.shape(ofSet: set.name) else { continue }
            let order = shape.key.map(\.path).joined(separator: ",")
            let theirs = try await database.rows("\(set.name)?$orderby=\(order)")
            let ours = try await store.rows("\(set.name)?$orderby=\(order)")
            let difference = Self.firstDifference(ours, theirs)
            #expect(difference == nil, "\(set.name)", sourceLocation: sourceLocation)
        }
        let status = try await store.observe.status()
        #expect(status.pending.map(\.entityText) == [], sourceLocation: sourceLocation)
        #expect(
            status.failed.map { "\($0.entityText): \($0.failure.map { "\($0)" } ?? "no reason")" } == [],
            sourceLocation: sourceLocation)
    }

    /// Returns a description of the first row that differs, with its ETag.
    private static func firstDifference(_ ours: [ODataEntity], _ theirs: [ODataEntity]) -> String? {
        for index in 0..<max(ours.count, theirs.count) {
            guard index < ours.count, index < theirs.count else {
                return "\(ours.count) rows here, \(theirs.count) there"
            }
            let (a, b) = (ours[index], theirs[index])
            if a != b || a.control.etag != b.control.etag {
                return "\(a.values) \(a.control.etag ?? "") is not \(b.values) \(b.control.etag ?? "")"
            }
        }
        return nil
    }
}

extension ODataProvider {
    /// Returns whether a query is refused because no defining query loads its data.
    func lacks(_ query: String) async throws -> Bool {
        do {
            _ = try await rows(query)
            return false
        } catch let error as ODataError where error.isNotLoaded {
            return true
        }
    }

    /// Returns all rows of a query, from all pages.
    func rows(_ text: String) async throws -> [ODataEntity] {
        var request = ODataRequest(.read, try ODataURL(parsing: text))
        var rows: [ODataEntity] = []
        while true {
            let response = try await execute(request)
            guard case .page(let page) = response.body else {
                if case .entity(let entity) = response.body { return [entity] }
                return rows
            }
            rows += page.entities
            guard let next = page.nextLink else { return rows }
            request = ODataRequest(following: next)
        }
    }

    @discardableResult
    func create(_ set: String, _ properties: [String: ODataValue]) async throws -> ODataEntity? {
        let shape = try #require(await model.shape(ofSet: set))
        let response = try await execute(
            ODataRequest(.create, try ODataURL(parsing: set), body: .entity(ODataEntity(shape: shape, properties))))
        if case .entity(let entity) = response.body { return entity }
        return nil
    }

    func update(_ url: String, _ properties: [String: ODataValue]) async throws {
        let set = String(url.prefix { $0 != "(" })
        let shape = try #require(await model.shape(ofSet: set))
        _ = try await execute(
            ODataRequest(.update, try ODataURL(parsing: url), body: .entity(ODataEntity(shape: shape, properties))))
    }

    func delete(_ url: String) async throws {
        _ = try await execute(ODataRequest(.delete, try ODataURL(parsing: url)))
    }
}

/// A less capable service without delta links, ETags and repeatable requests.
struct PlainService: ODataProvider {
    let base: any ODataProvider
    var hasETags = true
    var hasDeltaLinks = false
    var isRepeatable = false

    var model: EntityDataModel {
        get async throws {
            var schemas = try await base.model.schemas
            for index in schemas.indices { schemas[index].container?.annotations = [] }
            return try EntityDataModel(schemas: schemas)
        }
    }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        if !hasDeltaLinks { request.preferences.trackChanges = false }
        if !isRepeatable {
            request.repeatability = nil
            if case .batch(var items) = request.body {
                for index in items.indices { items[index].request.repeatability = nil }
                request.body = .batch(items)
            }
        }
        if !hasETags { request.ifMatch = nil }
        // The response must be decoded before parts can be removed.
        request.format = nil
        var response = try await base.execute(request)
        if !isRepeatable {
            response.repeatabilityResult = nil
            if case .batch(var results) = response.body {
                for index in results.indices {
                    results[index].result = results[index].result.map { answer in
                        var answer = answer
                        answer.repeatabilityResult = nil
                        return answer
                    }
                }
                response.body = .batch(results)
            }
        }
        guard !hasETags else { return response }
        response.etag = nil
        switch response.body {
        case .entity(var entity):
            entity.control.etag = nil
            response.body = .entity(entity)
        case .page(var page):
            for index in page.entities.indices { page.entities[index].control.etag = nil }
            response.body = .page(page)
        default: break
        }
        return response
    }
}

extension OfflineStore.Options {
    /// The options of a store with a service that has confirmed that it recognises repeated requests.
    static var ofConfirmedRepeats: OfflineStore.Options { OfflineStore.Options().confirmingRepeats }

    /// The options with the confirmation that the service recognises repeated requests, unless they already
    /// state it.
    var confirmingRepeats: OfflineStore.Options {
        var options = self
        if options.service.capabilities.supportsRepeatableRequests == nil {
            options.service.capabilities.supportsRepeatableRequests = true
        }
        return options
    }
}
