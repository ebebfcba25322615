import GRDB
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

extension OfflineStore {
    /// Loads the streams for queries: missing ones, those of downloaded entities, and those that an earlier
    /// download did not reach.
    func loadStreams(of queries: [StoredQuery], from remote: any ODataProvider) async throws {
        let loader = StreamLoader(streams: streamTable, remote: remote, limits: options.sync.downloadLimits)
        let mapping = mapping
        try await streamTable.noteDue(missingOf: queries, mapping)
        let wanted = queries.filter(\.retrievesStreams).flatMap { query in
            query.sets(in: mapping).map { (query: query, set: $0) }
        }
        for (query, set) in wanted {
            guard let table = mapping.tables[set], !StreamTable.properties(of: table).isEmpty else { continue }
            let rows = try await rowsToLoad(query, table)
            guard !rows.isEmpty else { continue }
            progressChannel.report(SyncProgress(phase: .loadingStreams, query: query.name, total: rows.count))
            for (index, row) in rows.enumerated() {
                for property in row.properties {
                    try Task.checkCancellation()
                    var url = row.url
                    url.path.segments.append(property.isEmpty ? .value : .name(Identifier(property), .none))
                    do {
                        _ = try await loader.load(
                            url, of: .init(set: set, rowID: row.id, property: property))
                    } catch let error as ODataError where !error.isOfCommunication {
                        // The entity has no stream, or was removed meanwhile. The other streams are still loaded.
                        continue
                    } catch is InvalidResponseError {
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
        let properties: [String]
    }

    private func rowsToLoad(_ query: StoredQuery, _ table: TableStorage) async throws -> [StreamRow] {
        try await database.read { [mapping] database in
            let containment = Containment(mapping: mapping)
            return try StreamTable.due(query.id, table, in: database).map { rowID, properties in
                StreamRow(id: rowID, url: try containment.url(of: rowID, table, in: database), properties: properties)
            }
        }
    }
}
