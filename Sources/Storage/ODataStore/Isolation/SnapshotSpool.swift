import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import Secrets
import Synchronization

/// Results that are kept as they were when their first page was read: `OData-Isolation: snapshot`
/// (OData Protocol 4.01, 8.2.6).
///
/// A result is read whole in one transaction and written, row by row, to an encrypted file of its own whose key is
/// known to this process alone; its pages are then read from there. Nothing stays open on the store meanwhile. A
/// snapshot that nobody has read for a while is removed, as is the one of the same caller that was read longest ago when
/// the caller has too many (``SnapshotLimits``). Its links are refused with 410. One whose first page is all of it is not
/// kept.
final class SnapshotSpool: Sendable {
    private static let mark = "s~"

    private let options: StoreService.Options
    private let shelf: SnapshotShelf<Snapshot>
    /// Removes what is forgotten while nobody asks for anything.
    private let cleaner = Mutex<Task<Void, Never>?>(nil)

    init(options: StoreService.Options) {
        self.options = options
        shelf = SnapshotShelf(options.snapshotLimits)
    }

    deinit { cleaner.withLock { $0?.cancel() } }

    /// One result.
    private struct Snapshot {
        let file: SnapshotFile
        let principal: Principal?
        let head: [UInt8]
        let prefix: String
        let contentType: String
        let count: Int
    }

    // MARK: First page

    /// Reads a result whole and answers with its first page.
    func start(
        _ bound: BoundURL, _ request: ODataRequest, reader: StoreReader, in database: any DatabaseWriter
    ) async throws -> ODataResponse {
        removeForgotten()
        guard let query = bound.query else { throw ODataError.notImplemented("A snapshot of this") }
        let format = request.format ?? ResponseFormat()
        let renderer = JSONRowRenderer(
            model: reader.mapping.model, format: format, omitsNulls: request.preferences.omitValues == "nulls")
        let owner = CallerID(of: request)
        let bytes = Atomic<Int>(0)
        try shelf.begin(owner)
        defer { shelf.finish(bytes.load(ordering: .relaxed), owner) }
        let file = try SnapshotFile()
        let segments = bound.resource.steps
        let now = options.now()
        let budget = request.context.budget
        let (count, total) = try await reader.reading(database, budget) { [shelf] database -> (Int, Int64?) in
            let (compiled, compilerOptions) = try reader.prepare(query, segments, now: now, in: database)
            let total = query.count ? try StoreReader.count(compiled, in: database) : nil
            var paging = ExpandPaging()
            paging.budget = budget
            // The rows are written as those of a page that is not kept.
            let piece = PageWriter.Piece(
                run: try PageRun(compiled, after: nil, pageSize: nil, budget: budget), mapping: reader.mapping,
                options: compilerOptions, paging: paging, renderer: renderer, marksRows: true)
            let count = try file.spool(piece, in: database) { size in
                bytes.wrappingAdd(size, ordering: .relaxed)
                try shelf.grow(size, owner)
            }
            return (count, total)
        }
        let id =
            String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        let snapshot = Snapshot(
            file: file, principal: request.context.principal,
            head: reader.head(
                query, segments, target: bound.resource.target, request: request, renderer: renderer, total: total),
            prefix: renderer.prefix, contentType: StoreReader.contentType(format), count: count)
        if count > pageSize(for: request) {
            shelf.keep(snapshot, as: id, bytes: bytes.load(ordering: .relaxed), owner: owner, at: now.seconds)
            startCleaning()
        }
        return try await page(of: snapshot, id, from: 0, request)
    }

    private func startCleaning() {
        let pause = Duration.seconds(max(1, options.snapshotLifetime))
        cleaner.withLock { cleaner in
            guard cleaner == nil else { return }
            cleaner = Task { [weak self] in
                repeat {
                    do { try await Task.sleep(for: pause) } catch { return }
                } while self?.isInUse() ?? false
            }
        }
    }

    /// Removes what is forgotten.
    ///
    /// - Returns: whether something is left that may be.
    private func isInUse() -> Bool {
        let isInUse = removeForgotten()
        if !isInUse { cleaner.withLock { $0 = nil } }
        return isInUse
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
        guard let snapshot = shelf.find(id, at: options.now().seconds), snapshot.principal == request.context.principal
        else {
            throw ODataError(
                status: 410, code: "SnapshotExpired",
                message: "The snapshot is no longer kept; read the collection again.", target: "$skiptoken")
        }
        guard position <= snapshot.count else { throw PageToken.invalid }
        return try await page(of: snapshot, id, from: position, request)
    }

    private func pageSize(for request: ODataRequest) -> Int {
        max(1, min(request.preferences.maxPageSize ?? .max, options.serving.pageBound))
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

    @discardableResult
    private func removeForgotten() -> Bool {
        shelf.remove(unusedSince: options.now().seconds - options.snapshotLifetime)
    }

    /// Removes all snapshots.
    func removeAll() {
        shelf.removeAll()
        cleaner.withLock { cleaner in
            cleaner?.cancel()
            cleaner = nil
        }
    }
}

/// The file of one snapshot, rows of JSON by their position: it goes with the last who has it, a page that is being sent among
/// them.
private final class SnapshotFile: Sendable {
    /// The pages in the write-ahead log before they are moved into the file: 1 MB.
    private static let logPages = 256

    private let store: StoreDatabase

    init() throws {
        let path = try SpoolFolder.newFile("outpost-snapshot-\(ODataGuid.random())")
        var options = StoreDatabase.Options()
        options.writerCacheBytes = 1 << 20
        options.readerCacheBytes = 1 << 20
        options.readerCount = 1
        store = try StoreDatabase.open(path: path, protection: .encrypted(.key(.generate())), options: options)
        try store.pool.writeWithoutTransaction { database in
            // Nobody needs it after a crash, and its rows are to lie on the disk once.
            try database.setPragma(.synchronous, "OFF")
            try database.setPragma(.autocheckpoint, Self.logPages)
            try database.setPragma(.journalSizeLimit, 0)
            try database.execute(sql: "CREATE TABLE item (position INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        }
    }

    /// Writes all rows of a query.
    ///
    /// - Parameters:
    ///   - database: the store, in the transaction that the snapshot shows.
    ///   - grow: told of the bytes before they are written.
    /// - Returns: how many rows there are.
    func spool(
        _ piece: PageWriter.Piece, in database: Database, grow: (Int) throws -> Void
    ) throws -> Int {
        var piece = piece
        var count = 0
        repeat {
            let objects = try piece.rows(in: database)
            try grow(objects.reduce(0) { $0 + $1.count })
            let start = count
            try store.pool.write { spool in
                let statement = try spool.cachedStatement(sql: "INSERT INTO item VALUES (?, ?)")
                for (offset, object) in objects.enumerated() {
                    try statement.execute(arguments: [start + offset, Data(object)])
                }
            }
            count += objects.count
        } while piece.outcome == .paused
        // What a statement left in the log is moved, and the log cut.
        try store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
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
