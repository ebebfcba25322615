import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

extension OfflineStore.Changes {
    /// Returns the last known server version of an entity, without local changes.
    ///
    /// - Parameter entity: the entity by its key, relative to the service root. It may be deleted locally.
    /// - Returns: `nil` if the service does not have the entity, as far as is known.
    /// - Throws: ``OfflineError/unknown(kind:name:)`` if the URL is not an entity of a set; `QueryError`;
    ///   `StoreError`.
    public func original(of entity: ODataURL) async throws -> ODataEntity? {
        let steps = try Binder(model: store.model).bind(entity).resource.steps
        guard Containment.isAddress(steps) else {
            throw OfflineError.unknown(kind: "entity", name: entity.description)
        }
        return try await store.database.read { [mapping = store.mapping, queue = store.queue] database in
            let before = BeforeImages(snapshots: queue.snapshots)
            guard let found = try Containment(mapping: mapping).row(at: steps, before, queue, in: database),
                let table = mapping.tables[found.set]
            else { return nil }
            if let image = try before.image(set: found.set, rowID: found.rowID, shape: table.shape, in: database) {
                var entity = image.entity
                if try queue.requests(set: found.set, rowID: found.rowID, in: database).contains(where: {
                    $0.kind == .delete
                }) {
                    entity?.control.annotations[EntityState.isDeleted.term] = .boolean(true)
                }
                return entity
            }
            guard try !queue.hasRequests(set: found.set, rowID: found.rowID, in: database) else { return nil }
            return try BulkLoader(table: table, in: database).read(found.rowID)
        }
    }
}

extension OfflineStore {
    /// A response with the state of the changes of each entity (``ODataModel/ODataEntity/isLocal`` and others).
    func annotating(_ response: ODataResponse) async throws -> ODataResponse {
        var response = response
        switch response.body {
        case .entity(let entity):
            let read = try await states(of: [entity])
            response.body = .entity(read.annotating(entity))
        case .page(let page):
            let read = try await states(of: page.entities)
            guard !read.isEmpty else { return response }
            var page = page
            for index in page.entities.indices { page.entities[index] = read.annotating(page.entities[index]) }
            response.body = .page(page)
        default: break
        }
        return response
    }

    private func states(of entities: [ODataEntity]) async throws -> EntityStates {
        let sets = EntityStates.sets(of: entities)
        guard !sets.isEmpty else { return EntityStates() }
        let drafts = Set(options.creation.localDrafts.keys).intersection(sets)
        return try await database.read { [mapping] database in
            var states = try EntityStates(of: entities, in: sets, mapping: mapping, in: database)
            states.draftSets = drafts
            return states
        }
    }
}

/// The states of entities that were read, by entity id.
struct EntityStates: Sendable {
    private var states: [String: Set<EntityState>] = [:]
    /// The sets with rows that the last download brought as a whole and that have no other state.
    private var freshSets: Set<String> = []

    /// The sets of drafts.
    var draftSets: Set<String> = []

    init() {}

    var isEmpty: Bool { states.isEmpty && freshSets.isEmpty && draftSets.isEmpty }

    /// Looks up the entities that were read. Other changes of their sets cost nothing.
    init(of entities: [ODataEntity], in sets: Set<String>, mapping: StorageMapping, in database: Database) throws {
        let ids = Dictionary(grouping: Self.ids(of: entities), by: \.set)
        let (isAnyFresh, isAllFresh) = try Self.freshness(in: database)
        for set in sets {
            guard let table = mapping.tables[set] else { continue }
            let ends = try QueueTable.relationEnds(in: set, in: database)
            if try ends.isEmpty && !Self.hasStates(set, in: database) {
                guard isAnyFresh else { continue }
                if try isAllFresh && Self.isLoaded(set, in: database) {
                    // Right after a first download, no row needs a lookup.
                    freshSets.insert(set)
                    continue
                }
            }
            let loader = try BulkLoader(table: table, in: database)
            for (id, key) in Dictionary((ids[set] ?? []).map { ($0.id, $0.key) }, uniquingKeysWith: { $1 }) {
                guard let row = try Self.row(id, key, table: table, loader: loader, mapping: mapping, in: database)
                else { continue }
                let found = try Self.states(of: row, table, ends[row], in: database)
                if !found.isEmpty { states[id] = found }
            }
        }
    }

    /// The row of an entity that was read.
    ///
    /// - Parameter key: its key, if the entity was read as a whole.
    private static func row(
        _ id: String, _ key: EntityKey?, table: TableStorage, loader: BulkLoader, mapping: StorageMapping,
        in database: Database
    ) throws -> Int64? {
        guard table.set.contains("/") else {
            let key = key ?? KeyURL.key(inID: id, shape: table.shape, model: mapping.model)
            return try key.flatMap { try loader.find($0) }
        }
        guard let url = try? ODataURL(parsing: id),
            let steps = try? Binder(model: mapping.model).bind(url).resource.steps
        else { return nil }
        let queue = QueueTable(model: mapping.model)
        return try Containment(mapping: mapping).row(
            at: steps, BeforeImages(snapshots: queue.snapshots), queue, in: database)?.rowID
    }

    /// Returns the row of an entity that was read; `nil` if it is none of the store.
    static func row(of entity: ODataEntity, mapping: StorageMapping, in database: Database) throws -> RowReference? {
        guard let id = entity.control.id, let set = set(of: entity), let table = mapping.tables[set] else { return nil }
        let loader = try BulkLoader(table: table, in: database)
        return try row(id, entity.key, table: table, loader: loader, mapping: mapping, in: database)
            .map { RowReference(set: set, rowID: $0) }
    }

    /// Whether the last download was the first one of any complete query, and of all of them.
    private static func freshness(in database: Database) throws -> (isAny: Bool, isAll: Bool) {
        let statement = try database.cachedStatement(
            sql: "SELECT MAX(is_fresh), MIN(is_fresh) FROM outpost_query WHERE is_loaded = 1")
        // Without a query, both are false.
        guard let row = try Row.fetchOne(statement), let isAny: Bool = row[0], let isAll: Bool = row[1] else {
            return (false, false)
        }
        return (isAny, isAll)
    }

    /// Whether a complete query covers a set.
    private static func isLoaded(_ set: String, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM outpost_query WHERE entity_set = ? AND is_loaded = 1)")
        return try Bool.fetchOne(statement, arguments: [set]) ?? false
    }

    private static func hasStates(_ set: String, in database: Database) throws -> Bool {
        if try QueueTable.hasRequests(of: set, in: database) { return true }
        return try ["outpost_uploaded", "outpost_upserted"].contains { table in
            let statement = try database.cachedStatement(
                sql: "SELECT EXISTS(SELECT 1 FROM \(table) WHERE entity_set = ?)")
            return try Bool.fetchOne(statement, arguments: [set]) ?? false
        }
    }

    /// - Parameter relations: whether one of its pending relations was refused or has an unknown outcome; `nil`
    ///   if there is none.
    private static func states(
        of row: Int64, _ table: TableStorage, _ relations: Bool?, in database: Database
    ) throws -> Set<EntityState> {
        let set = table.set
        var states: Set<EntityState> = []
        let uploaded = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM outpost_uploaded WHERE entity_set = ? AND row_id = ?)")
        if try Bool.fetchOne(uploaded, arguments: [set, row]) ?? false { states.insert(.isLocal) }
        let upserted = try database.cachedStatement(sql: "SELECT \(StateFunctions.upsertedLastDownload)")
        let owner = try Rows.owner(table, rowID: row, in: database)
        if try Bool.fetchOne(upserted, arguments: ["set": set, "row": row, "owner": owner]) ?? false {
            states.insert(.upsertedLastDownload)
        }
        let statement = try database.cachedStatement(
            sql: "SELECT kind, state FROM outpost_queue WHERE entity_set = ? AND row_id = ?")
        for request in try Row.fetchAll(statement, arguments: [set, row]) {
            states.formUnion([.isLocal, .hasPendingChanges])
            if ["refused", "inDoubt"].contains(request["state"] as String) { states.insert(.inErrorState) }
            states.insert(request["kind"] == "create" ? .isCreated : .isUpdated)
        }
        if let hasFailed = relations {
            states.formUnion([.isLocal, .hasPendingChanges, .isUpdated])
            if hasFailed { states.insert(.inErrorState) }
        }
        return states
    }

    /// The entities and their expanded entities, by set and id, with the keys that were read.
    private static func ids(of entities: [ODataEntity]) -> [(set: String, id: String, key: EntityKey?)] {
        var ids: [(set: String, id: String, key: EntityKey?)] = []
        for entity in entities {
            if let id = entity.control.id, let set = set(of: entity) { ids.append((set, id, entity.key)) }
            for case let related in entity.related.values {
                switch related {
                case .one(let other): ids += self.ids(of: [other])
                case .many(let others, _, _): ids += self.ids(of: others)
                case .none, .references: continue
                }
            }
        }
        return ids
    }

    /// The sets of entities and of their expanded entities.
    static func sets(of entities: [ODataEntity]) -> Set<String> {
        var sets: Set<String> = []
        for entity in entities {
            if let set = set(of: entity) { sets.insert(set) }
            for case let related in entity.related.values {
                switch related {
                case .one(let other): sets.formUnion(self.sets(of: [other]))
                case .many(let others, _, _): sets.formUnion(self.sets(of: others))
                case .none, .references: continue
                }
            }
        }
        return sets
    }

    private static func set(of entity: ODataEntity) -> String? {
        guard let id = entity.control.id, let bracket = id.firstIndex(of: "(") else { return nil }
        guard id.contains(")/"), let url = try? ODataURL(parsing: id) else { return String(id[..<bracket]) }
        // A contained collection.
        return url.path.segments.compactMap { segment in
            if case .name(let name, _) = segment { name.text } else { nil }
        }.joined(separator: "/")
    }

    /// The entity with its states, and the same for its expanded entities.
    func annotating(_ entity: ODataEntity) -> ODataEntity {
        guard !isEmpty else { return entity }
        var entity = entity
        var known = entity.control.id.flatMap { states[$0] } ?? []
        if let set = Self.set(of: entity), freshSets.contains(set) { known.insert(.upsertedLastDownload) }
        if let set = Self.set(of: entity), draftSets.contains(set) {
            entity.control.annotations["\(EngineSet.namespace).IsDraft"] = .boolean(true)
        }
        for state in known {
            entity.control.annotations[state.term] = .boolean(true)
            if let older = state.olderTerm { entity.control.annotations[older] = .boolean(true) }
        }
        for (name, related) in entity.related {
            switch related {
            case .one(let other): entity.related[name] = .one(annotating(other))
            case .many(let others, let count, let next):
                entity.related[name] = .many(others.map(annotating), count: count, nextLink: next)
            case .none, .references: continue
            }
        }
        return entity
    }
}
