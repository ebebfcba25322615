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
/// snapshot that nobody has read for a while is removed, as is the one that was read longest ago where there are too many,
/// and its links are refused with 410. One whose first page is all of it is not kept.
actor SnapshotSpool {
    /// How many results are kept; each takes five file descriptors.
    static let capacity = 64
    private static let mark = "s~"

    private let options: StoreService.Options
    private var snapshots: [String: Snapshot] = [:]
    /// Removes what is forgotten while nobody asks for anything.
    private var cleaner: Task<Void, Never>?

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
        let snapshot = Snapshot(
            file: file, principal: request.principal,
            head: reader.head(query, segments, bound.resource.target, request, renderer, total),
            prefix: renderer.prefix, contentType: StoreReader.contentType(format), count: count, lastUsed: now.seconds)
        if count > pageSize(for: request) { keep(snapshot, as: id) }
        return try await page(of: snapshot, id, from: 0, request)
    }

    private func keep(_ snapshot: Snapshot, as id: String) {
        if snapshots.count >= Self.capacity, let oldest = snapshots.min(by: { $0.value.lastUsed < $1.value.lastUsed }) {
            snapshots[oldest.key] = nil
        }
        snapshots[id] = snapshot
        guard cleaner == nil else { return }
        let pause = Duration.seconds(max(1, options.snapshotLifetime))
        cleaner = Task { [weak self] in
            repeat {
                do { try await Task.sleep(for: pause) } catch { return }
            } while await self?.isInUse() ?? false
        }
    }

    /// Removes what is forgotten.
    ///
    /// - Returns: whether something is left that may be.
    private func isInUse() -> Bool {
        removeForgotten()
        if snapshots.isEmpty { cleaner = nil }
        return !snapshots.isEmpty
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
        return try await page(of: snapshot, id, from: position, request)
    }

    private func pageSize(for request: ODataRequest) -> Int {
        max(1, min(request.preferences.maxPageSize ?? .max, options.pageSizeLimit))
    }

    private func page(
        of snapshot: Snapshot, _ id: String, from position: Int, _ request: ODataRequest
    ) async throws -> ODataResponse {
        let size = pageSize(for: request)
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
        // The answers to a batch are held together: what is small needs no file meanwhile.
        let isSmall = end - position <= SnapshotPage.pieceSize
        let bytes = isSmall ? ByteStream(try await pages.next() ?? []) : ByteStream { try await pages.next() }
        var response = ODataResponse(body: .encoded(bytes, contentType: snapshot.contentType))
        if let wanted = request.preferences.maxPageSize {
            response.preferencesApplied.append("maxpagesize=\(min(wanted, size))")
        }
        return response
    }

    private func removeForgotten() {
        let time = options.now().seconds - options.snapshotLifetime
        for (id, snapshot) in snapshots where snapshot.lastUsed < time { snapshots[id] = nil }
    }

    /// Removes all snapshots.
    func removeAll() {
        snapshots = [:]
        cleaner?.cancel()
        cleaner = nil
    }
}

/// The file of one snapshot, rows of JSON by their position: it goes with the last who has it, a page that is being sent among
/// them.
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

    deinit {
        try? store.close()
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: store.path + suffix)
        }
    }
}

/// Produces one page of a snapshot, piece by piece.
private actor SnapshotPage {
    /// How many rows are read at once.
    static let pieceSize = 100

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
        let upper = min(position + Self.pieceSize, end)
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
