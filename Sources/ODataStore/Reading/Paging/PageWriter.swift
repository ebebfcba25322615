import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Produces a page as JSON, piece by piece (rule 23).
///
/// Each read fills the buffer to at most about ``readSize``, closes its statements and its transaction, and the
/// next one resumes by key. Whoever pulls slowly holds neither a statement nor the write-ahead log.
actor PageWriter {
    /// Reads stop when the buffer holds this many bytes.
    static let readSize = 256 << 10
    /// The greatest chunk that is handed out.
    static let chunkSize = 64 << 10
    /// The most parents of one read where rows are expanded.
    static let expandedRows = 200

    private let reader: any DatabaseReader
    private let limits: ReadLimits
    private let renderer: JSONRowRenderer
    private let nextLink: @Sendable (PageToken) -> String
    /// What the next read begins with.
    private var piece: Piece
    /// What the first read gave, until it is handed out.
    private var first: Piece.Result?
    private var buffer: [UInt8]
    private var handedOut = 0
    private var isEnded = false
    private var hasRows = false

    /// Starts a page.
    ///
    /// - Parameters:
    ///   - piece: what the first read began with.
    ///   - first: what the first read gave. It stood in the transaction in which the query was compiled, since a
    ///     transaction of its own would take longer than a short page.
    ///   - head: what stands before the first row: the context, the count, and the bracket.
    ///   - nextLink: makes the link to the next page.
    init(
        reader: any DatabaseReader, limits: ReadLimits, piece: Piece, first: Piece.Result, head: [UInt8],
        nextLink: @escaping @Sendable (PageToken) -> String
    ) {
        self.reader = reader
        self.limits = limits
        self.piece = piece
        self.first = first
        renderer = piece.renderer
        self.nextLink = nextLink
        buffer = head
    }

    /// The next chunk; `nil` at the end.
    func next() async throws -> [UInt8]? {
        if handedOut == buffer.count {
            if isEnded { return nil }
            buffer.removeAll(keepingCapacity: true)
            handedOut = 0
            try await fill()
            // Nothing more is written after the closing brace.
            if buffer.isEmpty { return isEnded ? nil : try await next() }
        } else if handedOut == 0, !isEnded, !hasRows {
            // The head alone is no chunk worth sending.
            try await fill()
        }
        let end = min(handedOut + Self.chunkSize, buffer.count)
        let chunk = handedOut == 0 && end == buffer.count ? buffer : Array(buffer[handedOut..<end])
        handedOut = end
        return chunk
    }

    private func fill() async throws {
        let result = try await read()
        piece.run = result.run
        buffer += result.bytes
        hasRows = hasRows || result.count > 0
        piece.needsComma = hasRows
        if result.outcome != .paused {
            isEnded = true
            var tail = "]"
            if result.outcome == .pageIsFull, let token = result.run.token(now: piece.options.now) {
                tail += ",\"\(renderer.prefix)nextLink\":"
                StoredJSON.appendQuoted(nextLink(token), to: &tail)
            }
            buffer += Array("\(tail)}".utf8)
        }
    }

    private func read() async throws -> Piece.Result {
        if let first {
            self.first = nil
            return first
        }
        let (reader, limits, piece) = (reader, limits, piece)
        return try await StoreReader.translating {
            try await reader.read { database in try limits.timed(database) { try piece.read(database) } }
        }
    }

    /// One read.
    struct Piece: Sendable {
        /// The query, and how far it has been read.
        var run: PageRun
        let mapping: StorageMapping
        let options: SQLCompiler.Options
        let paging: ExpandPaging
        let renderer: JSONRowRenderer
        /// Whether rows have been written before.
        var needsComma = false

        /// What a read gives: the bytes and number of rows, and how to go on.
        typealias Result = (bytes: [UInt8], run: PageRun, outcome: PageRun.Outcome, count: Int)

        func read(_ database: Database) throws -> Result {
            var run = run
            var count = 0
            let plan = run.compiled.plan
            if run.compiled.expand.isEmpty, renderer.format.metadata != .full {
                var writer = JSONWriter(reservingCapacity: PageWriter.readSize + 4096)
                // An array that is already open: the first value written makes the writer expect commas.
                let columns = JSONColumns(plan, isIEEE754Compatible: renderer.format.isIEEE754Compatible)
                let outcome = try run.run(database) { row in
                    try renderer.open(row, plan, columns, to: &writer)
                    writer.endObject()
                    count += 1
                    return writer.bytes.count < PageWriter.readSize
                }
                let comma = needsComma && count > 0 ? [UInt8(ascii: ",")] : []
                return (comma + writer.bytes, run, outcome, count)
            }
            let objects: [[UInt8]]
            let outcome: PageRun.Outcome
            (objects, run, outcome) = try rows(database)
            var bytes: [UInt8] = []
            for object in objects {
                if needsComma || !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
                bytes += object
            }
            return (bytes, run, outcome, objects.count)
        }

        /// The next rows, each by itself as it stands in a page, and how to go on.
        func rows(_ database: Database) throws -> (objects: [[UInt8]], run: PageRun, outcome: PageRun.Outcome) {
            // All that full metadata say is said of entities.
            if renderer.format.metadata == .full { return try entities(database) }
            var run = run
            let plan = run.compiled.plan
            var items: [JSONRowRenderer.Object] = []
            var sources: [[[DatabaseValue]]] = []
            var size = 0
            let outcome = try run.run(database) { row in
                let item = try renderer.item(row, plan)
                size += item.writer.bytes.count
                items.append(item)
                sources.append(plan.expandSources.map { $0.map { row.value($0) } })
                return items.count < PageWriter.expandedRows && size < PageWriter.readSize / 4
            }
            try ExpandRunner(renderer: renderer, mapping: mapping, options: options, database: database, paging: paging)
                .expand(&items, sources, run.compiled.expand, of: plan.set)
            return (items.map(\.bytes), run, outcome)
        }

        private func entities(
            _ database: Database
        ) throws -> (objects: [[UInt8]], run: PageRun, outcome: PageRun.Outcome) {
            var run = run
            let plan = run.compiled.plan
            let entityRenderer = EntityRenderer(model: mapping.model)
            var entities: [Entity] = []
            var sources: [[[DatabaseValue]]] = []
            let outcome = try run.run(database) { row in
                entities.append(try entityRenderer.item(row, plan))
                sources.append(plan.expandSources.map { $0.map { row.value($0) } })
                return entities.count < PageWriter.expandedRows
            }
            try ExpandRunner(
                renderer: entityRenderer, mapping: mapping, options: options, database: database, paging: paging
            ).expand(&entities, sources, run.compiled.expand, of: plan.set)
            let objects = entities.map { entity in
                var (entity, writer) = (entity, JSONWriter(reservingCapacity: 512))
                if renderer.omitsNulls { entity.omitNulls() }
                renderer.entities.write(entity, declared: plan.shape.name, to: &writer)
                return writer.bytes
            }
            return (objects, run, outcome)
        }
    }
}

extension Entity {
    /// Takes null values out, those within complex values and related entities too (OData Protocol 4.01, 8.2.8.6).
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
