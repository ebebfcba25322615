import GRDB
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Writes a page as JSON, piece by piece.
///
/// Each read fills the buffer to about ``readSize`` and closes its statements and its transaction. The next read
/// resumes by key. A slow client therefore blocks neither a statement nor a checkpoint of the write-ahead log.
package actor PageWriter {
    /// The buffer size in bytes at which reads stop.
    static let readSize = 256 << 10
    /// The maximum size of a chunk in bytes.
    static let chunkSize = 64 << 10
    /// The maximum number of parents in one read with expanded rows.
    static let expandedRows = 200

    /// Returns the number of bytes after which the first read of a response stops. The first pieces of all requests
    /// in a batch are kept at the same time and may use half of its memory.
    static func firstReadSize(_ budget: RequestBudget?) -> Int {
        guard let budget, budget.parts > 1, let bytes = budget.limits.heldBytes else { return readSize }
        return min(readSize, max(4096, bytes / (2 * budget.parts)))
    }

    private let reader: any DatabaseReader
    private let budget: RequestBudget?
    private let nextLink: @Sendable (PageToken) -> String
    /// The state at which the next read continues.
    private var piece: Piece
    /// The result of the first read, until it is returned.
    private var first: Piece.Result?
    /// The number of bytes of ``first`` in the budget. The pieces of a batch are kept at the same time.
    private var waitingSize: Int
    private var buffer: [UInt8]
    private var handedOut = 0
    private var isEnded = false
    /// Whether rows were returned, so that an error must be written within the response.
    private var hasBegun = false
    /// The last byte that was returned.
    private var lastByte: UInt8 = 0
    /// The error that ended the response, after it was written for the client.
    private var failure: (any Error)?

    /// Starts a page.
    ///
    /// - Parameters:
    ///   - budget: the budget of the request.
    ///   - first: the result of the first read. It took place in the transaction that compiled the query, because a
    ///     separate transaction would take longer than reading a short page.
    ///   - head: the bytes before the first row: the context, the count, and the bracket.
    ///   - nextLink: returns the link to the next page.
    /// - Throws: ``ODataError`` 413 if the request uses too much memory already.
    init(
        reader: any DatabaseReader, budget: RequestBudget?, first: Piece.Result, head: [UInt8],
        nextLink: @escaping @Sendable (PageToken) -> String
    ) throws {
        let size = budget == nil ? 0 : first.bytes.count
        try budget?.hold(size)
        waitingSize = size
        self.reader = reader
        self.budget = budget
        self.first = first
        piece = first.piece
        self.nextLink = nextLink
        buffer = head
    }

    deinit { if waitingSize > 0 { budget?.release(waitingSize) } }

    /// Returns the next chunk; `nil` at the end.
    ///
    /// If the response fails after its start, the last chunk is an error object (OData JSON Format 4.01, 21.3
    /// *In-Stream Errors*), and the next call throws.
    func next() async throws -> [UInt8]? {
        if let failure { throw failure }
        do {
            return try await nextChunk()
        } catch {
            guard hasBegun else { throw error }
            failure = error
            guard let error = error as? ODataError else { throw error }
            return inStreamError(error)
        }
    }

    private func nextChunk() async throws -> [UInt8]? {
        if handedOut == buffer.count {
            if isEnded { return nil }
            buffer.removeAll(keepingCapacity: true)
            handedOut = 0
            try await fill()
            // Nothing more is written after the closing brace.
            if buffer.isEmpty { return isEnded ? nil : try await nextChunk() }
        } else if handedOut == 0, !isEnded, !hasBegun {
            // The head alone is too small to be sent.
            try await fill()
        }
        let end = min(handedOut + Self.chunkSize, buffer.count)
        let chunk = handedOut == 0 && end == buffer.count ? buffer : Array(buffer[handedOut..<end])
        handedOut = end
        hasBegun = true
        lastByte = chunk.last ?? lastByte
        return chunk
    }

    /// Returns an error object within a response, which makes the response invalid JSON.
    private func inStreamError(_ error: ODataError) -> [UInt8] {
        var json = JSONWriter()
        ODataErrorPayload(code: error.code, message: error.message, target: error.target).write(to: &json)
        let isBehindValue = ![UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":")].contains(lastByte)
        return (isBehindValue ? [UInt8(ascii: ",")] : []) + json.bytes
    }

    private func fill() async throws {
        let result = try await read()
        piece = result.piece
        buffer += result.bytes
        guard piece.isEnded else { return }
        isEnded = true
        var tail = "]"
        if piece.outcome == .pageIsFull, let token = piece.run.token(now: piece.options.now) {
            tail += ",\"\(piece.renderer.prefix)nextLink\":"
            StoredJSON.appendQuoted(nextLink(token), to: &tail)
        }
        buffer += Array("\(tail)}".utf8)
    }

    private func read() async throws -> Piece.Result {
        if let first {
            self.first = nil
            budget?.release(waitingSize)
            waitingSize = 0
            return first
        }
        let (reader, budget, piece) = (reader, budget, piece)
        return try await StoreReader.translating {
            try await budget.reading(from: reader) { try piece.read(in: $0) }
        }
    }

    /// The state of a page between two reads.
    package struct Piece: Sendable {
        /// The query and its position.
        private(set) var run: PageRun
        let mapping: StorageMapping
        let options: SQLCompiler.Options
        let paging: ExpandPaging
        let renderer: JSONRowRenderer
        /// The reason for which the last read of rows stopped.
        package private(set) var outcome = PageRun.Outcome.paused
        /// The writer of the rows with their expanded entities.
        private var expanded: ExpandedRowWriter
        /// Whether rows were written.
        private var hasRows = false

        package init(
            run: PageRun, mapping: StorageMapping, options: SQLCompiler.Options, paging: ExpandPaging,
            renderer: JSONRowRenderer, marksRows: Bool = false
        ) {
            self.run = run
            self.mapping = mapping
            self.options = options
            self.paging = paging
            self.renderer = renderer
            expanded = ExpandedRowWriter(
                renderer: renderer, mapping: mapping, options: options, marksRows: marksRows)
        }

        /// The result of a read: the bytes, and the state for the next read.
        typealias Result = (bytes: [UInt8], piece: Piece)

        /// Whether all rows are written.
        var isEnded: Bool { outcome != .paused && expanded.isAtEnd }

        /// Reads and writes the next rows.
        ///
        /// - Parameter size: the number of bytes after which the read stops.
        func read(in database: Database, size: Int = PageWriter.readSize) throws -> Result {
            var next = self
            let bytes = try next.advance(in: database, size)
            return (bytes, next)
        }

        private mutating func advance(in database: Database, _ size: Int) throws -> [UInt8] {
            if renderer.format.metadata == .full {
                // The writer of full metadata requires entities.
                var bytes: [UInt8] = []
                for object in try entities(in: database) {
                    if hasRows { bytes.append(UInt8(ascii: ",")) }
                    hasRows = true
                    bytes += object
                }
                return bytes
            }
            let heldBytesLeft = paging.budget?.heldBytesLeft ?? .max
            guard run.compiled.expand.isEmpty else {
                if expanded.isAtEnd { try beginRows(in: database) }
                var bytes: [UInt8] = []
                try expanded.write(to: &bytes, upTo: size, in: database)
                return bytes
            }
            var count = 0
            let plan = run.compiled.plan
            var writer = JSONWriter(reservingCapacity: min(size, PageWriter.readSize) + 4096)
            // The array is already open: after the first value, the writer adds commas.
            let columns = JSONColumns(plan, isIEEE754Compatible: renderer.format.isIEEE754Compatible)
            outcome = try run.run(in: database) { [renderer, paging] row in
                try renderer.open(row, plan, columns: columns, to: &writer)
                writer.endObject()
                count += 1
                if writer.bytes.count > heldBytesLeft, let budget = paging.budget { throw budget.tooLarge }
                return writer.bytes.count < size
            }
            guard count > 0 else { return writer.bytes }
            defer { hasRows = true }
            return hasRows ? [UInt8(ascii: ",")] + writer.bytes : writer.bytes
        }

        /// Reads rows whose expanded entities must be written.
        private mutating func beginRows(in database: Database) throws {
            let plan = run.compiled.plan
            var rows: [ExpandedRowWriter.UnreadRow] = []
            var size = 0
            outcome = try run.run(in: database) { [renderer] row in
                let object = try renderer.item(row, plan)
                size += object.writer.bytes.count
                rows.append(.init(object: object, sources: plan.expandSources.map { $0.map { row.value($0) } }))
                return rows.count < PageWriter.expandedRows && size < PageWriter.readSize / 4
            }
            let level = ExpandedRowWriter.Level(expand: run.compiled.expand, set: plan.set, paging: paging)
            expanded.begin(rows, level, isFirst: !hasRows)
            hasRows = hasRows || !rows.isEmpty
        }

        /// Returns the next rows, each separately and in the form in which a page contains them; requires
        /// `marksRows`.
        ///
        /// - Throws: ``ODataError`` 413 if a row needs more memory than the request has.
        package mutating func rows(in database: Database) throws -> [[UInt8]] {
            if renderer.format.metadata == .full { return try entities(in: database) }
            try beginRows(in: database)
            var rows: [[UInt8]] = []
            let most = paging.budget?.heldBytesLeft ?? .max
            var bytes: [UInt8] = []
            while !expanded.isAtEnd {
                try expanded.write(to: &bytes, upTo: bytes.count + PageWriter.readSize, in: database)
                var start = 0
                for end in expanded.boundaries {
                    rows.append(Array(bytes[start..<end]))
                    start = end
                }
                bytes.removeFirst(start)
                expanded.forgetBoundaries()
                if bytes.count > most, let budget = paging.budget { throw budget.tooLarge }
            }
            return rows
        }

        private mutating func entities(in database: Database) throws -> [[UInt8]] {
            let start = run
            var most = PageWriter.expandedRows
            while true {
                let room = ExpandRoom()
                do {
                    defer { room.release(paging.budget) }
                    return try entities(in: database, most, room: room)
                } catch let error as ODataError where error.code == "ResponseTooLarge" && most > 1 {
                    // Fewer rows at once may fit.
                    room.undo(paging.budget)
                    paging.budget?.giveBackRows(most)
                    run = start
                    most /= 4
                }
            }
        }

        private mutating func entities(
            in database: Database, _ most: Int, room: ExpandRoom
        ) throws -> [[UInt8]] {
            let plan = run.compiled.plan
            let entityRenderer = EntityRenderer(model: mapping.model)
            var entities: [ODataEntity] = []
            var sources: [[[DatabaseValue]]] = []
            var size = 0
            outcome = try run.run(in: database) { row in
                let entity = try entityRenderer.item(row, plan)
                size += entityRenderer.size(of: entity)
                entities.append(entity)
                sources.append(plan.expandSources.map { $0.map { row.value($0) } })
                return entities.count < most && size < PageWriter.readSize
            }
            var runner = ExpandRunner(
                renderer: entityRenderer, mapping: mapping, options: options, database: database, paging: paging)
            runner.room = room
            try runner.expand(&entities, sources, expand: run.compiled.expand, of: plan.set)
            return try entities.map { entity in
                var (entity, writer) = (entity, JSONWriter(reservingCapacity: 512))
                if renderer.omitsNulls { entity.omitNulls() }
                renderer.entities.write(entity, declared: plan.shape.name, to: &writer)
                try room.hold(writer.bytes.count, paging.budget)
                return writer.bytes
            }
        }
    }
}

extension ODataEntity {
    /// Removes null values, including those within complex values and related entities (OData Protocol 4.01,
    /// 8.2.8.6).
    fileprivate mutating func omitNulls() {
        for ordinal in values.indices {
            if values[ordinal]?.isNull == true {
                values[ordinal] = nil
            } else if case .complex(var inner)? = values[ordinal] {
                inner.omitNulls()
                values[ordinal] = .complex(inner)
            }
        }
        dynamicProperties = dynamicProperties.filter { !$0.value.isNull }
        related = related.mapValues { related in
            switch related {
            case .one(var entity):
                entity.omitNulls()
                return .one(entity)
            case .many(let entities, let count, let nextLink):
                let reduced = entities.map { entity in
                    var entity = entity
                    entity.omitNulls()
                    return entity
                }
                return .many(reduced, count: count, nextLink: nextLink)
            case .none, .references: return related
            }
        }
    }
}
