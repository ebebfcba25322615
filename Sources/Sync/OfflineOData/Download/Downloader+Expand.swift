import Foundation
import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The expanded entities of defining queries.
extension Downloader {
    // MARK: Probing

    /// The statuses with which services refuse a part of a query.
    private static let refusalsOfParts = refusals.union([404])

    /// Asks the service once whether it answers each part of a query. A refused part is read with its parent from
    /// then on. After a transport failure, or a refusal for this user, the next download asks again, unless the
    /// part itself has brought rows by then.
    func probed(_ queries: [StoredQuery]) async throws -> [StoredQuery] {
        var changed = false
        for part in queries where part.parent != nil && !part.isProbed && !part.isLoaded && part.nextLink == nil {
            guard let table = mapping.tables[part.entitySet], try await holdsNothing(part, table) else { continue }
            var url = try columnSet(part, table)
            url.options.top = 1
            url.options.expand = []
            changed = true
            do {
                _ = try await fetch(ODataRequest(.read, url))
                try await database.write { database in
                    try database.execute(
                        sql: "UPDATE outpost_query SET is_probed = 1 WHERE id = ?", arguments: [part.id])
                }
            } catch let error as ODataError where Self.refusalsOfParts.contains(error.status) {
                try await database.write { try QueryTable.removePart(part, in: $0) }
            } catch let error as ODataError where !error.isOfCommunication {
                // The response to the part itself decides.
                continue
            } catch is InvalidResponseError {
                continue
            }
        }
        guard changed else { return queries }
        let wanted = Set(queries.map(\.id))
        let known = Dictionary(uniqueKeysWithValues: queries.map { ($0.id, $0) })
        return try await database.read { try QueryTable.all(in: $0) }.filter { wanted.contains($0.id) }.map { query in
            var query = query
            guard let before = known[query.id] else { return query }
            // With the values and the generation of its parameters.
            (query.text, query.keepsLinks, query.generation) = (before.text, before.keepsLinks, before.generation)
            return query
        }
    }

    /// Whether a part can be removed: it must not hold rows, since nobody else would own them.
    private func holdsNothing(_ part: StoredQuery, _ table: TableStorage) async throws -> Bool {
        let rows = HeldRows(query: part.id, table: table, mapping: mapping)
        return try await database.read { try rows.ids(after: .min, limit: 1, in: $0).isEmpty }
    }

    // MARK: Whole reads

    /// Downloads a query with its expanded entities: staged page by page, then compared with the local rows and
    /// applied in one transaction.
    func whole(_ query: StoredQuery, _ table: TableStorage) async throws -> DownloadReport.Query {
        var report = DownloadReport.Query(
            name: query.name, method: query.isLoaded ? .refresh : .first, received: 0, inserted: 0, updated: 0,
            removed: 0)
        try await clearStage(query)
        try await database.write { try UnreadableValues.forgetRows(of: query.id, in: $0) }
        var seen = RowSet()
        var link: String?
        var followed = FollowedLinks()
        var bounds = bounds(of: query)
        repeat {
            var page = try await fullPage(query, table, link: link)
            try await bounds.addPage(rows: page.entities.count)
            for index in page.entities.indices {
                try await complete(&page.entities[index], of: table, in: query.name)
            }
            // Rows of the query's own set that are reached through a relation also belong to the query.
            let met = page.entities + page.entities.flatMap { nested($0, of: table, in: table.set) }
            for row in try await compare(met, query, table: table).seen { seen.insert(row) }
            // Expanded entities may differ although their parent does not.
            try await stage(page.entities, query)
            report.received += page.entities.count
            progress.report(SyncProgress(phase: .downloading, query: query.name, done: report.received))
            link = page.nextLink
            try followed.follow(link)
        } while link != nil
        try await report.add(releaseMissing(query, table, seen: seen, received: report.received))
        for counts in try await applyStage(query, table, deltaLink: nil) { report.add(counts) }
        return report
    }

    /// The entities of a set that are expanded in an entity, at any depth.
    private func nested(_ entity: ODataEntity, of table: TableStorage, in set: String) -> [ODataEntity] {
        entity.related.flatMap { name, related -> [ODataEntity] in
            guard let target = table.navigation[name]?.target, let other = mapping.tables[target] else { return [] }
            let entities: [ODataEntity]
            switch related {
            case .many(let others, _, _): entities = others
            case .one(let entity): entities = [entity]
            case .none, .references: entities = []
            }
            return (target == set ? entities : []) + entities.flatMap { nested($0, of: other, in: set) }
        }
    }

    /// Follows the links to further pages of expanded entities, at any depth.
    ///
    /// - Parameters:
    ///   - query: the name of the defining query.
    ///   - outer: the links that led to the entity itself.
    private func complete(
        _ entity: inout ODataEntity, of table: TableStorage?, in query: String,
        behind outer: FollowedLinks = FollowedLinks()
    ) async throws {
        for (name, related) in entity.related {
            let target = table?.navigation[name]?.target
            let other = target.flatMap { mapping.tables[$0] }
            switch related {
            case .many(var entities, _, var next):
                var followed = outer
                var limits = limits
                limits.rows = limits.expandedRows
                var bounds = ReadBounds(of: query, limits) { nil }
                while let link = next {
                    try followed.follow(link)
                    var request = ODataRequest(following: link)
                    // Bodies before V4 do not name their entity set.
                    if let target, mapping.model.entitySet(target) != nil {
                        request.url = ODataURL(path: ResourcePath([.name(Identifier(target), .none)]))
                    }
                    let page = try await fetch(request)
                    try await bounds.addPage(rows: page.entities.count)
                    entities += page.entities
                    next = page.nextLink
                }
                for index in entities.indices {
                    try await complete(&entities[index], of: other, in: query, behind: followed)
                }
                entity.related[name] = .many(entities)
            case .one(var one):
                try await complete(&one, of: other, in: query, behind: outer)
                entity.related[name] = .one(one)
            case .none, .references: continue
            }
        }
    }
}

extension StoredQuery {
    /// The sets of the rows that the query brings: its own, and the expanded ones at any depth.
    func sets(in mapping: StorageMapping) -> [String] {
        guard let table = mapping.tables[entitySet], let url = try? ODataURL(parsing: text) else { return [entitySet] }
        var sets = [entitySet]
        func add(_ items: [ExpandItem], of table: TableStorage, without splits: Set<String>) {
            for item in items {
                guard let name = item.relation, !splits.contains(name),
                    let target = table.navigation[name]?.target
                else { continue }
                if !sets.contains(target) { sets.append(target) }
                if let other = mapping.tables[target] { add(item.options.expand, of: other, without: []) }
            }
        }
        add(url.options.expand, of: table, without: splits)
        return sets
    }
}
