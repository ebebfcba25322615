import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

extension OfflineODataProvider {
    /// Loads the streams that queries ask for: those that are missing, and those of entities that the download brought.
    func loadStreams(of queries: [StoredQuery], from remote: any ODataProvider) async throws {
        let loader = StreamLoader(streams: streams, remote: remote)
        let mapping = mapping
        let wanted = queries.filter(\.retrievesStreams).flatMap { query in
            query.sets(in: mapping).map { (query: query, set: $0) }
        }
        for (query, set) in wanted {
            guard let table = mapping.tables[set] else { continue }
            var properties = table.shape.properties.filter { $0.type.primitive == .stream }.map(\.name)
            if table.shape.hasStream { properties.insert("", at: 0) }
            guard !properties.isEmpty else { continue }
            let rows = try await rowsToLoad(query, table)
            guard !rows.isEmpty else { continue }
            progressChannel.report(SyncProgress(phase: .loadingStreams, query: query.name, total: rows.count))
            for (index, row) in rows.enumerated() {
                for property in properties {
                    try Task.checkCancellation()
                    var url = row.url
                    url.path.segments.append(property.isEmpty ? .value : .name(Identifier(property), .none))
                    do {
                        _ = try await loader.load(
                            url, of: .init(set: set, rowID: row.id, property: property))
                    } catch let error as ODataError where !error.isOfCommunication {
                        // An entity without a stream, or one that went meanwhile: the others are loaded all the same.
                        continue
                    }
                }
                progressChannel.report(
                    SyncProgress(phase: .loadingStreams, query: query.name, done: index + 1, total: rows.count))
            }
        }
        try await database.write { try StreamTable.removeOrphans(mapping, in: $0) }
    }

    private struct StreamRow: Sendable {
        let id: Int64
        let url: ODataURL
    }

    private func rowsToLoad(_ query: StoredQuery, _ table: TableStorage) async throws -> [StreamRow] {
        guard let owner = table.visibility?.ownerColumn, let id = table.rowID else { return [] }
        return try await database.read { [mapping] database in
            let rows = try Int64.fetchAll(
                database,
                sql: """
                    SELECT t.\(id.quotedDatabaseIdentifier) FROM \(table.table.quotedDatabaseIdentifier) AS t
                    WHERE (t.\(owner.quotedDatabaseIdentifier) = ?1 OR EXISTS (
                            SELECT 1 FROM outpost_member AS m
                            WHERE m.entity_set = ?2 AND m.row_id = t.\(id.quotedDatabaseIdentifier) AND m.query_id = ?1))
                        AND (EXISTS (
                            SELECT 1 FROM outpost_upserted AS u
                            WHERE u.entity_set = ?2 AND u.row_id = t.\(id.quotedDatabaseIdentifier))
                        OR NOT EXISTS (
                            SELECT 1 FROM outpost_stream AS s
                            WHERE s.entity_set = ?2 AND s.row_id = t.\(id.quotedDatabaseIdentifier)
                                AND s.is_complete = 1))
                    """, arguments: [query.id, table.set])
            let containment = Containment(mapping: mapping)
            return try rows.map { StreamRow(id: $0, url: try containment.url(of: $0, table, database)) }
        }
    }
}
