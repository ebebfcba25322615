import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// What defining queries expand (rule 16).
extension Downloader {
    // MARK: Probing

    /// Asks the service once for each part of a query whether it answers that; one that it refuses is read with its
    /// parent from then on.
    func probed(_ queries: [StoredQuery]) async throws -> [StoredQuery] {
        var changed = false
        for part in queries where part.parent != nil && !part.isProbed {
            guard let table = mapping.tables[part.entitySet] else { continue }
            var url = try Self.columnSet(part, table)
            url.options.top = 1
            url.options.expand = []
            changed = true
            do {
                _ = try await fetch(ODataRequest(.read, url))
                try await database.write { database in
                    try database.execute(
                        sql: "UPDATE outpost_query SET is_probed = 1 WHERE id = ?", arguments: [part.id])
                }
            } catch let error as ODataError where !error.isOfCommunication {
                try await database.write { try QueryTable.removePart(part, in: $0) }
            }
        }
        guard changed else { return queries }
        let wanted = Set(queries.map(\.id))
        let texts = Dictionary(uniqueKeysWithValues: queries.map { ($0.id, ($0.text, $0.keepsLinks)) })
        return try await database.read { try QueryTable.all(in: $0) }.filter { wanted.contains($0.id) }.map { query in
            var query = query
            if let (text, keepsLinks) = texts[query.id] { (query.text, query.keepsLinks) = (text, keepsLinks) }
            return query
        }
    }

    // MARK: Whole reads

    /// Everything that a query finds with what it expands: staged page by page, then compared with what is here and
    /// applied in one transaction.
    func whole(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: query.isLoaded ? .refresh : .first, received: 0, inserted: 0, updated: 0,
            removed: 0)
        try await clearStage(query)
        var link: String?
        repeat {
            var page = try await fullPage(query, table, link: link)
            for index in page.entities.indices { try await complete(&page.entities[index]) }
            try await stageTrees(page, query, table)
            report.received += page.entities.count
            progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
            link = page.nextLink
        } while link != nil
        let missing = try await missingKeys(query, table)
        let present = try await confirmedPresent(missing.map(\.key), query, table)
        let gone = missing.filter { !present.contains($0.key) }.map(\.key)
        let time = environment.instant.description
        let counts = try await database.write { database in
            var applier = try TreeApplier(table: table, mapping: mapping, query: query, in: database)
            let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
            let rows = try Row.fetchCursor(
                database, sql: "SELECT content FROM outpost_staged WHERE query_id = ? ORDER BY id",
                arguments: [query.id])
            while let row = try rows.next() {
                try applier.apply(coder.decode(row["content"], table: table, mapping: mapping))
            }
            for key in gone { try applier.remove(key) }
            try applier.sweep()
            try Self.clearStage(query, in: database)
            try QueryTable.markLoaded(query.id, deltaLink: nil, at: time, in: database)
            for set in query.sets(in: mapping) {
                if let table = mapping.tables[set] {
                    try RowApplier.claimHiddenRows(of: query.id, table, in: database)
                }
            }
            return applier.counts
        }
        for counts in counts { report.add(counts) }
        return report
    }

    /// Follows the links to the further pages of what is expanded.
    private func complete(_ entity: inout Entity) async throws {
        for (name, related) in entity.related {
            guard case .many(var entities, _, var next) = related else { continue }
            while let link = next {
                let page = try await fetch(ODataRequest(following: link))
                entities += page.entities
                next = page.nextLink
            }
            entity.related[name] = .many(entities)
        }
    }

    private func stageTrees(_ page: EntityPage, _ query: StoredQuery, _ table: TableStorage) async throws {
        let coder = TreeCoder(snapshots: SnapshotCoder(model: mapping.model))
        try await database.bulkWrite { database in
            let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
            for entity in page.entities {
                try database.execute(
                    sql: "INSERT INTO outpost_staged(query_id, kind, content) VALUES (?, 'tree', ?)",
                    arguments: [query.id, try coder.encode(entity)])
                if let key = entity.key, let rowID = try loader.find(key) {
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO outpost_seen(query_id, row_id) VALUES (?, ?)",
                        arguments: [query.id, rowID])
                }
            }
        }
    }
}

extension StoredQuery {
    /// The sets whose rows it brings: its own, and those of what is read with it.
    func sets(in mapping: StorageMapping) -> [String] {
        guard let table = mapping.tables[entitySet], let url = try? ODataURL(parsing: text) else { return [entitySet] }
        let whole = url.options.expand.compactMap { $0.path.first?.text }.filter { !splits.contains($0) }
        var sets = [entitySet]
        for name in whole {
            if let target = table.navigation[name]?.target, !sets.contains(target) { sets.append(target) }
        }
        return sets
    }
}

/// Keeps an entity with what is expanded in it while it is staged.
struct TreeCoder {
    let snapshots: SnapshotCoder

    /// Snapshots by navigation property; the entity itself under the empty name.
    private typealias Stored = [String: [Data]]

    func encode(_ entity: Entity) throws -> Data {
        var stored: Stored = ["": [snapshots.encode(entity)]]
        for (name, related) in entity.related {
            switch related {
            case .one(let other): stored[name] = [snapshots.encode(other)]
            case .many(let others, _, _): stored[name] = others.map(snapshots.encode)
            case .none: stored[name] = []
            case .references: continue
            }
        }
        return try JSONEncoder().encode(stored)
    }

    func decode(_ data: Data, table: TableStorage, mapping: StorageMapping) throws -> Entity {
        let stored = try JSONDecoder().decode(Stored.self, from: data)
        guard let own = stored[""]?.first else { throw OfflineError.damagedQueue(reason: "a staged page is empty") }
        var entity = try snapshots.decode(own, shape: table.shape)
        for (name, others) in stored where !name.isEmpty {
            guard let target = table.navigation[name]?.target, let shape = mapping.tables[target]?.shape else {
                continue
            }
            entity.related[name] = .many(try others.map { try snapshots.decode($0, shape: shape) })
        }
        return entity
    }
}

/// Applies entities with what is expanded in them: rows, containment, and relations that a link table holds.
struct TreeApplier {
    private let table: TableStorage
    private let mapping: StorageMapping
    private let query: StoredQuery
    private let database: Database
    private let queue: QueueTable
    private var root: RowApplier
    private var related: [String: RowApplier] = [:]
    private var reached: [String: Set<Int64>] = [:]

    init(table: TableStorage, mapping: StorageMapping, query: StoredQuery, in database: Database) throws {
        self.table = table
        self.mapping = mapping
        self.query = query
        self.database = database
        queue = QueueTable(model: mapping.model)
        root = try RowApplier(table: table, mapping: mapping, query: query.id, in: database)
        for set in query.sets(in: mapping) where set != table.set {
            guard mapping.model.entitySet(set) != nil, let other = mapping.tables[set] else { continue }
            related[set] = try RowApplier(table: other, mapping: mapping, query: query.id, in: database)
        }
    }

    /// What was done with rows of all sets.
    var counts: [RowApplier.Counts] { [root.counts] + related.values.map(\.counts) }

    mutating func apply(_ entity: Entity) throws {
        guard let rowID = try root.apply(entity) else { return }
        reached[table.set, default: []].insert(rowID)
        for (name, others) in entity.related {
            guard case .many(let entities, _, _) = others, let storage = table.navigation[name] else { continue }
            if storage.target.contains("/") {
                try contain(entities, in: rowID, set: storage.target)
                continue
            }
            var ids: Set<Int64> = []
            for other in entities {
                let id = storage.target == table.set ? try root.apply(other) : try related[storage.target]?.apply(other)
                if let id { ids.insert(id) }
            }
            reached[storage.target, default: []].formUnion(ids)
            if case .link = storage { try relate(rowID, name, storage, to: ids) }
        }
    }

    mutating func remove(_ key: EntityKey) throws { try root.remove(key) }

    /// Lets go of related rows that nothing leads to any more.
    mutating func sweep() throws {
        for (set, var applier) in related {
            guard let other = mapping.tables[set], let owner = other.visibility?.ownerColumn, let id = other.rowID
            else {
                continue
            }
            let held = try Int64.fetchAll(
                database,
                sql: """
                    SELECT \(id.quotedDatabaseIdentifier) FROM \(other.table.quotedDatabaseIdentifier)
                    WHERE \(owner.quotedDatabaseIdentifier) = ?1
                    UNION SELECT row_id FROM outpost_member WHERE entity_set = ?2 AND query_id = ?1
                    """, arguments: [query.id, set])
            for row in held where !(reached[set]?.contains(row) ?? false) { try applier.release(row) }
            related[set] = applier
        }
    }

    /// Contained entities are where their container is, and nowhere else (rule 17).
    private func contain(_ entities: [Entity], in parent: Int64, set: String) throws {
        guard let contained = mapping.tables[set], let id = contained.rowID else { return }
        let loader = try BulkLoader(table: contained, in: database)
        var ids: Set<Int64> = []
        for entity in entities { ids.insert(try loader.load(entity, owner: query.id, parent: parent).rowID) }
        let held = try Int64.fetchAll(
            database,
            sql: "SELECT \(id.quotedDatabaseIdentifier) FROM \(contained.table.quotedDatabaseIdentifier) "
                + "WHERE \(OfflineLayout.parentColumn.quotedDatabaseIdentifier) = ?", arguments: [parent])
        for row in held where !ids.contains(row) { try loader.delete(row) }
    }

    /// Makes a relation as the service has it, with what was changed here on top.
    private func relate(_ rowID: Int64, _ name: String, _ storage: NavigationStorage, to ids: Set<Int64>) throws {
        guard case .link(_, let link, let source, let target) = storage else { return }
        var wanted = ids
        for request in try queue.links(set: table.set, rowID: rowID, in: database)
        where request.entitySet == table.set && request.detail.navigation == name {
            guard let other = request.detail.targetRow else { continue }
            if request.kind == .link { wanted.insert(other) } else { wanted.remove(other) }
        }
        let held = try Set(
            Int64.fetchAll(
                database,
                sql: "SELECT \(target.quotedDatabaseIdentifier) FROM \(link.quotedDatabaseIdentifier) "
                    + "WHERE \(source.quotedDatabaseIdentifier) = ?", arguments: [rowID]))
        let relations = Relations(mapping: mapping)
        for other in wanted.subtracting(held) {
            try relations.set(true, table.set, name, from: rowID, to: other, in: database)
        }
        for other in held.subtracting(wanted) {
            try relations.set(false, table.set, name, from: rowID, to: other, in: database)
        }
    }
}
