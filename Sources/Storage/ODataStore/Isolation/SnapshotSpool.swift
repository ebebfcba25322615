import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import Secrets
import Synchronization

/// The results under snapshot isolation, kept as they were when their first page was read (`OData-Isolation:
/// snapshot`; OData Protocol 4.01, 8.2.6).
///
/// A result is read completely in one transaction and written, row by row, to an encrypted file. The key of the
/// file exists only in this process. Pages are read from the file, so that no transaction on the store stays
/// open.
///
/// A snapshot is removed when it has not been read for ``StoreService/Options/snapshotLifetime``. If a caller
/// has too many snapshots (``SnapshotLimits``), the least recently read one is removed. Links of a removed
/// snapshot are refused with 410. A result that fits on its first page is not kept.
final class SnapshotSpool: Sendable {
    private static let mark = "s~"

    private let options: StoreService.Options
    private let shelf: SnapshotShelf<Snapshot>
    /// The task that removes expired snapshots when there are no requests.
    private let cleaner = Mutex<Task<Void, Never>?>(nil)

    init(options: StoreService.Options) {
        self.options = options
        shelf = SnapshotShelf(options.snapshotLimits)
    }

    deinit { cleaner.withLock { $0?.cancel() } }

    private struct Snapshot {
        let file: SnapshotFile
        let principal: Principal?
        let head: [UInt8]
        let prefix: String
        let contentType: String
        let count: Int
    }

    // MARK: First page

    /// Reads a complete result and returns its first page.
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
            // Rows are encoded like those of an ordinary page.
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

    /// Removes expired snapshots.
    ///
    /// - Returns: whether any snapshots are left.
    private func isInUse() -> Bool {
        let isInUse = removeForgotten()
        if !isInUse { cleaner.withLock { $0 = nil } }
        return isInUse
    }

    // MARK: Further pages

    /// Returns whether a request follows a link of a snapshot.
    static func isFurtherPage(_ request: ODataRequest) -> Bool {
        request.url.options.skipToken?.hasPrefix(mark) ?? false
    }

    /// Returns a further page of a snapshot.
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
        // The responses of a batch are held in memory together, so a small page does not need to keep the file
        // open.
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

    func removeAll() {
        shelf.removeAll()
        cleaner.withLock { cleaner in
            cleaner?.cancel()
            cleaner = nil
        }
    }
}

/// The file of one snapshot: JSON rows by position. The file is deleted with the last reference to it,
/// including those of pages that are being sent.
private final class SnapshotFile: Sendable {
    /// The number of pages in the write-ahead log before a checkpoint: 1 MB.
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
            // The file is not needed after a crash, and rows should be on disk only once.
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
    ///   - grow: a closure that is called with the number of bytes before they are written.
    /// - Returns: the number of rows.
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
        // Moves the rows left in the log into the file and truncates the log.
        try store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        return count
    }

    /// Returns the rows at a range of positions.
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

/// A page of a snapshot, read piece by piece.
private actor SnapshotPage {
    /// The number of rows in a piece.
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
