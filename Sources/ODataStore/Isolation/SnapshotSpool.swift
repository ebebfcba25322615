import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Secrets

/// Results that are kept as they were when their first page was read: `OData-Isolation: snapshot`
/// (OData Protocol 4.01, 8.2.6).
///
/// A result is read whole in one transaction and written, row by row, to an encrypted file of its own whose key is
/// known to this process alone; its pages are then read from there. Nothing stays open on the store meanwhile. A
/// snapshot that nobody has read for a while is removed, and its links are refused with 410.
actor SnapshotSpool {
    private static let mark = "s~"

    private let options: StoreService.Options
    private var snapshots: [String: Snapshot] = [:]

    init(options: StoreService.Options) { self.options = options }

    /// One result.
    private struct Snapshot {
        let file: SnapshotFile
        let principal: Principal?
        let head: [UInt8]
        let prefix: String
        let contentType: String
        let count: Int
        var lastUsed: Int64
    }

    // MARK: First page

    /// Reads a result whole and answers with its first page.
    func start(
        _ bound: BoundURL, _ request: ODataRequest, _ reader: StoreReader, in database: any DatabaseWriter
    ) async throws -> ODataResponse {
        removeForgotten()
        guard let query = bound.query else { throw ODataError.notImplemented("A snapshot of this") }
        let format = request.format ?? ResponseFormat()
        let renderer = JSONRowRenderer(
            model: reader.mapping.model, format: format, omitsNulls: request.preferences.omitValues == "nulls")
        let file = try SnapshotFile()
        do {
            let segments = bound.resource.steps
            let now = options.now()
            let (count, total) = try await StoreReader.translating {
                try await database.read { database -> (Int, Int64?) in
                    let (compiled, compilerOptions) = try reader.prepare(query, segments, now: now, database)
                    let total = query.count ? try StoreReader.count(compiled, database) : nil
                    // The rows are written as those of a page that is not kept.
                    let piece = PageWriter.Piece(
                        run: try PageRun(compiled, after: nil, pageSize: nil), mapping: reader.mapping,
                        options: compilerOptions, paging: ExpandPaging(), renderer: renderer)
                    return (try file.spool(piece, database), total)
                }
            }
            let id =
                String(UInt64.random(in: .min ... .max), radix: 36)
                + String(UInt64.random(in: .min ... .max), radix: 36)
            snapshots[id] = Snapshot(
                file: file, principal: request.principal,
                head: reader.head(query, segments, bound.resource.target, request, renderer, total),
                prefix: renderer.prefix,
                contentType: StoreReader.contentType(format), count: count, lastUsed: now.seconds)
            return try await page(id, from: 0, request)
        } catch {
            file.remove()
            throw error
        }
    }

    // MARK: Further pages

    /// Whether a request follows a link of a snapshot.
    static func isFurtherPage(_ request: ODataRequest) -> Bool {
        request.url.options.skipToken?.hasPrefix(mark) ?? false
    }

    /// Answers a request for a further page.
    func page(_ request: ODataRequest) async throws -> ODataResponse {
        guard let token = request.url.options.skipToken, token.hasPrefix(Self.mark) else { throw PageToken.invalid }
        removeForgotten()
        let parts = token.dropFirst(Self.mark.count).split(separator: ".")
        guard parts.count == 2, let position = Int(parts[1]), position >= 0 else { throw PageToken.invalid }
        return try await page(String(parts[0]), from: position, request)
    }

    private func page(_ id: String, from position: Int, _ request: ODataRequest) async throws -> ODataResponse {
        guard var snapshot = snapshots[id], snapshot.principal == request.principal else {
            throw ODataError(
                status: 410, code: "SnapshotExpired",
                message: "The snapshot is no longer kept; read the collection again.", target: "$skiptoken")
        }
        guard position <= snapshot.count else { throw PageToken.invalid }
        snapshot.lastUsed = options.now().seconds
        snapshots[id] = snapshot
        let size = max(1, min(request.preferences.maxPageSize ?? .max, options.pageSizeLimit))
        let end = min(snapshot.count, position + size)
        var tail = "]"
        if end < snapshot.count {
            var url = request.url
            url.options.skipToken = "\(Self.mark)\(id).\(end)"
            tail += ",\"\(snapshot.prefix)nextLink\":"
            StoredJSON.appendQuoted((request.format?.serviceRoot ?? "") + url.urlEncoded(), to: &tail)
        }
        let pages = SnapshotPage(
            file: snapshot.file, head: snapshot.head, tail: Array("\(tail)}".utf8), position: position, end: end)
        var response = ODataResponse(
            body: .encoded(ByteStream { try await pages.next() }, contentType: snapshot.contentType))
        if let wanted = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(wanted, size))")
        }
        return response
    }

    private func removeForgotten() {
        let time = options.now().seconds - options.snapshotLifetime
        for (id, snapshot) in snapshots where snapshot.lastUsed < time {
            snapshots[id] = nil
            snapshot.file.remove()
        }
    }

    /// Removes all snapshots.
    func removeAll() {
        for snapshot in snapshots.values { snapshot.file.remove() }
        snapshots = [:]
    }
}

/// The file of one snapshot: rows of JSON by their position.
private final class SnapshotFile: Sendable {
    private let store: StoreDatabase

    init() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "outpost-snapshot-\(ODataGuid.random())"
        ).path
        var options = StoreDatabase.Options()
        options.writerCacheBytes = 1 << 20
        options.readerCacheBytes = 1 << 20
        options.readerCount = 1
        store = try StoreDatabase.open(path: path, protection: .encrypted(.key(.generate())), options: options)
        try store.pool.writeWithoutTransaction { database in
            // Nobody needs it after a crash.
            try database.execute(
                sql: "PRAGMA synchronous = OFF; CREATE TABLE item (position INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        }
    }

    /// Writes all rows of a query.
    ///
    /// - Parameter database: the store, in the transaction that the snapshot shows.
    /// - Returns: how many there are.
    func spool(_ piece: PageWriter.Piece, _ database: Database) throws -> Int {
        var piece = piece
        var count = 0
        var outcome = PageRun.Outcome.paused
        while outcome == .paused {
            let objects: [[UInt8]]
            (objects, piece.run, outcome) = try piece.rows(database)
            let start = count
            try store.pool.write { spool in
                let statement = try spool.cachedStatement(sql: "INSERT INTO item VALUES (?, ?)")
                for (offset, object) in objects.enumerated() {
                    try statement.execute(arguments: [start + offset, Data(object)])
                }
            }
            count += objects.count
        }
        return count
    }

    /// Some rows.
    func items(_ range: Range<Int>) async throws -> [Data] {
        try await store.read { database in
            try Data.fetchAll(
                database, sql: "SELECT bytes FROM item WHERE position >= ? AND position < ? ORDER BY position",
                arguments: [range.lowerBound, range.upperBound])
        }
    }

    /// Closes and deletes the file.
    func remove() {
        try? store.close()
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: store.path + suffix)
        }
    }
}

/// Produces one page of a snapshot, piece by piece.
private actor SnapshotPage {
    private let file: SnapshotFile
    private let head: [UInt8]
    private let tail: [UInt8]
    private let start: Int
    private let end: Int
    private var position: Int
    private var isEnded = false

    init(file: SnapshotFile, head: [UInt8], tail: [UInt8], position: Int, end: Int) {
        self.file = file
        self.head = head
        self.tail = tail
        start = position
        self.position = position
        self.end = end
    }

    func next() async throws -> [UInt8]? {
        if isEnded { return nil }
        var bytes = position == start ? head : []
        let upper = min(position + 100, end)
        for item in try await file.items(position..<upper) {
            if position > start { bytes.append(UInt8(ascii: ",")) }
            bytes += item
            position += 1
        }
        position = upper
        if position >= end {
            bytes += tail
            isEnded = true
        }
        return bytes
    }
}
