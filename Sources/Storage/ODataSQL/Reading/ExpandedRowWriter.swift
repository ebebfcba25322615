import GRDB
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Writes rows with their expanded entities as JSON, piece by piece.
///
/// The tree below a chunk of rows is read level by level, with one statement for each level and chunk of 500
/// parents. It contains each row once, even if the response repeats it, and is written without access to the
/// database.
///
/// If a tree would exceed ``treeSize``, fewer rows are read at once. If the expanded entities of a single row are
/// still too large, they are read in chunks by key, each with its own tree. Memory usage is therefore constant,
/// independently of the size of the response.
struct ExpandedRowWriter: Sendable {
    /// The maximum number of bytes of a tree.
    static let treeSize = 2 << 20
    /// The maximum number of rows in a chunk of a large collection.
    static let chunkRows = 500
    /// The number of bytes after which a chunk of a large collection ends.
    static let chunkSize = 256 << 10

    typealias Object = JSONRowRenderer.Object

    /// A row whose tree has not been read.
    struct UnreadRow: Sendable {
        var object: Object
        /// The values of the join columns for each item of `$expand`.
        var sources: [[DatabaseValue]]
    }

    /// The expanded properties of the rows on one level.
    struct Level: Sendable {
        var expand: [BoundExpand]
        var set: String?
        /// The number of the level; 1 for properties of the request's rows.
        var number = 1
        var root: TableStorage?
        var paging: ExpandPaging
        /// The number of entities on one level above which `$levels=max` stops.
        var enoughEntities = ExpandRunner<JSONRowRenderer>.enoughEntities
    }

    private struct UnreadRows {
        var rows: [UnreadRow]
        var next = 0
        /// The number of rows in the next attempt.
        var attempt: Int
        let level: Level
        var isFirst: Bool
        let isOutermost: Bool
    }

    /// An expanded property of a single row.
    private struct LargeProperty {
        let row: UnreadRow
        /// The position among the items of `$expand`.
        let position: Int
        let level: Level
        let needsComma: Bool
    }

    /// A collection that is read in chunks by key.
    private struct Cursor {
        var run: PageRun
        let expand: BoundExpand
        let parentID: String?
        /// The level below the rows of the collection.
        let level: Level
        var isFirst = true
    }

    /// Work that remains; the last frame is next.
    private enum Frame {
        case text([UInt8])
        case objects([Object], next: Int, isOutermost: Bool)
        /// The bytes of an object, starting at a member.
        case object(Object, member: Int, staysOpen: Bool)
        case unread(UnreadRows)
        case property(LargeProperty)
        case cursor(Cursor)
        case boundary
    }

    private let renderer: JSONRowRenderer
    private let mapping: StorageMapping
    private let options: SQLCompiler.Options
    private var frames: [Frame] = []
    /// Whether the outermost rows are separated by ``boundaries`` instead of commas.
    private let marksRows: Bool
    /// The positions in the written bytes at which outermost rows end.
    private(set) var boundaries: [Int] = []

    init(
        renderer: JSONRowRenderer, mapping: StorageMapping, options: SQLCompiler.Options, marksRows: Bool = false
    ) {
        self.renderer = renderer
        self.mapping = mapping
        self.options = options
        self.marksRows = marksRows
    }

    /// Whether everything is written.
    var isAtEnd: Bool { frames.isEmpty }

    /// Starts with rows.
    ///
    /// - Parameter isFirst: whether no rows precede them.
    mutating func begin(_ rows: [UnreadRow], _ level: Level, isFirst: Bool) {
        guard !rows.isEmpty else { return }
        push(rows, level, isFirst: isFirst, isOutermost: true)
    }

    private mutating func push(_ rows: [UnreadRow], _ level: Level, isFirst: Bool, isOutermost: Bool = false) {
        frames.append(
            .unread(
                UnreadRows(
                    rows: rows, attempt: rows.count, level: level, isFirst: isFirst, isOutermost: isOutermost)))
    }

    /// Removes the boundaries after the caller has removed the bytes.
    mutating func forgetBoundaries() { boundaries.removeAll(keepingCapacity: true) }

    /// Writes until the buffer has the requested size, or everything is written.
    ///
    /// - Throws: ``ODataError`` 413 if the budget of the request is exceeded.
    mutating func write(to bytes: inout [UInt8], upTo size: Int, in database: Database) throws {
        while bytes.count < size, let frame = frames.popLast() {
            switch frame {
            case .text(let text): bytes += text
            case .boundary: boundaries.append(bytes.count)
            case .objects(let objects, let next, let isOutermost):
                guard next < objects.count else { continue }
                frames.append(.objects(objects, next: next + 1, isOutermost: isOutermost))
                begin(objects[next], isFirst: next == 0, isOutermost, to: &bytes)
                frames.append(.object(objects[next], member: 0, staysOpen: false))
            case .object(let object, let position, let staysOpen):
                let own = object.writer.bytes
                let start = position == 0 ? 0 : object.members[position - 1].offset
                guard position < object.members.count else {
                    bytes += own[start...]
                    if !staysOpen { bytes.append(UInt8(ascii: "}")) }
                    continue
                }
                let member = object.members[position]
                bytes += own[start..<member.offset]
                frames.append(.object(object, member: position + 1, staysOpen: staysOpen))
                write(member, to: &bytes)
            case .unread(let rows): try read(rows, to: &bytes, in: database)
            case .property(let property): try read(property, to: &bytes, in: database)
            case .cursor(let cursor): try read(cursor, to: &bytes, in: database)
            }
        }
    }

    /// Writes the comma before a row, or schedules the boundary after the row.
    private mutating func begin(_ object: Object, isFirst: Bool, _ isOutermost: Bool, to bytes: inout [UInt8]) {
        if isOutermost, marksRows {
            frames.append(.boundary)
        } else if !isFirst {
            bytes.append(UInt8(ascii: ","))
        }
    }

    // MARK: Trees

    private func runner(
        _ level: Level, _ paging: ExpandPaging, room: ExpandRoom, in database: Database
    ) -> ExpandRunner<JSONRowRenderer> {
        var runner = ExpandRunner(
            renderer: renderer, mapping: mapping, options: options, database: database, paging: paging)
        runner.room = room
        runner.enoughEntities = level.enoughEntities
        return runner
    }

    /// Reads the tree below as many rows as fit into memory.
    private mutating func read(_ unread: UnreadRows, to bytes: inout [UInt8], in database: Database) throws {
        var unread = unread
        let level = unread.level
        let budget = level.paging.budget
        while true {
            let end = min(unread.rows.count, unread.next + unread.attempt)
            let rows = unread.rows[unread.next..<end]
            var items = rows.map(\.object)
            let room = ExpandRoom(treeSize: Self.treeSize)
            var runner = runner(level, level.paging, room: room, in: database)
            runner.enoughEntities = max(1, level.enoughEntities * rows.count / unread.rows.count)
            do {
                try runner.expand(
                    &items, rows.map(\.sources), expand: level.expand, of: level.set, level: level.number,
                    root: level.root)
            } catch is ExpandRoom.IsFull {
                room.undo(budget)
                if rows.count > 1 {
                    unread.attempt = max(1, rows.count / 4)
                    continue
                }
                return try readParts(of: unread, to: &bytes, in: database)
            }
            let isFirst = unread.isFirst
            unread.isFirst = false
            unread.next = end
            if end < unread.rows.count { frames.append(.unread(unread)) }
            if !isFirst, !(unread.isOutermost && marksRows) { bytes.append(UInt8(ascii: ",")) }
            frames.append(.objects(items, next: 0, isOutermost: unread.isOutermost))
            return
        }
    }

    /// Writes a row property by property if its tree is too large.
    private mutating func readParts(
        of unread: UnreadRows, to bytes: inout [UInt8], in database: Database
    ) throws {
        var unread = unread
        let level = unread.level
        var row = unread.rows[unread.next]
        let isFirst = unread.isFirst
        unread.isFirst = false
        unread.next += 1
        if unread.next < unread.rows.count { frames.append(.unread(unread)) }
        begin(row.object, isFirst: isFirst, unread.isOutermost, to: &bytes)
        // Complex values precede the expanded properties, so that entities expanded within them must be read
        // immediately.
        for (position, expand) in level.expand.enumerated() where !expand.complexPath.isEmpty {
            try readAtOnce(expand, position, row: &row, level: level, treeSize: nil, in: database)
        }
        var properties: [Frame] = []
        var isEmpty = row.object.writer.bytes.count == 1
        for (position, expand) in level.expand.enumerated() where expand.complexPath.isEmpty {
            if let type = row.object.type, !expand.isOf(type, in: renderer.model) { continue }
            properties.append(
                .property(LargeProperty(row: row, position: position, level: level, needsComma: !isEmpty)))
            isEmpty = false
        }
        frames.append(.text([UInt8(ascii: "}")]))
        frames += properties.reversed()
        frames.append(.object(row.object, member: 0, staysOpen: true))
    }

    /// Reads the related entities of one item of `$expand` as one tree.
    ///
    /// - Parameter treeSize: the maximum number of bytes; `nil` for all memory of the request.
    /// - Throws: ``ExpandRoom/IsFull`` if the given size is exceeded; ``ODataError`` 413 if the request's memory is
    ///   exceeded.
    private func readAtOnce(
        _ expand: BoundExpand, _ position: Int, row: inout UnreadRow, level: Level, treeSize: Int?,
        in database: Database
    ) throws {
        let budget = level.paging.budget
        let room = ExpandRoom(treeSize: treeSize ?? budget?.heldBytesLeft ?? .max)
        var items = [row.object]
        do {
            try runner(level, level.paging, room: room, in: database).expand(
                &items, [[row.sources[position]]], expand: [expand], of: level.set, level: level.number,
                root: level.root)
        } catch let full as ExpandRoom.IsFull {
            room.undo(budget)
            if treeSize == nil, let budget { throw budget.tooLarge }
            throw full
        }
        row.object = items[0]
    }

    // MARK: Large collections

    private mutating func read(_ property: LargeProperty, to bytes: inout [UInt8], in database: Database) throws {
        let level = property.level
        let expand = level.expand[property.position]
        var row = property.row
        row.object.members = []
        do {
            try readAtOnce(expand, property.position, row: &row, level: level, treeSize: Self.treeSize, in: database)
        } catch is ExpandRoom.IsFull {
            if try begin(property, expand, to: &bytes, in: database) { return }
            try readAtOnce(expand, property.position, row: &row, level: level, treeSize: nil, in: database)
        }
        guard var member = row.object.members.first else { return }
        member.needsComma = property.needsComma
        write(member, to: &bytes)
    }

    /// Starts to read a collection in chunks.
    ///
    /// - Returns: Whether chunks are possible. Rows without a unique key must be read at once.
    private mutating func begin(
        _ property: LargeProperty, _ expand: BoundExpand, to bytes: inout [UInt8], in database: Database
    ) throws -> Bool {
        let level = property.level
        guard let set = level.set, let table = mapping.tables[set], expand.form != .count, expand.query.apply.isEmpty
        else { return false }
        let key = property.row.sources[property.position]
        let runner = runner(level, level.paging, room: ExpandRoom(), in: database)
        let nested = try runner.recursive(expand, level: level.number, of: 1)
        let statement = try ExpandStatement(
            nested, of: table, root: level.root ?? table, mapping: mapping, options: options,
            pageSize: level.paging.pageSize)
        guard statement.compiled.canResume else { return false }
        let query = statement.ofOne(key)
        var below = level
        below.expand = nested.query.expand
        below.set = statement.compiled.plan.set
        below.number += 1
        below.root = level.root ?? table
        below.paging = level.paging.below(expand)
        if property.needsComma { bytes.append(UInt8(ascii: ",")) }
        let name = expand.navigation.name
        if nested.query.count {
            writeCount(try StoreReader.count(query, in: database), name, to: &bytes)
            bytes.append(UInt8(ascii: ","))
        }
        bytes += JSONWriter.Key(name).text
        if expand.navigation.isCollection { bytes.append(UInt8(ascii: "[")) }
        frames.append(
            .cursor(
                Cursor(
                    run: try PageRun(
                        query, after: nil, pageSize: statement.pageSize, budget: level.paging.budget),
                    expand: nested, parentID: property.row.object.id, level: below)))
        return true
    }

    /// Reads the next chunk of a collection.
    private mutating func read(_ cursor: Cursor, to bytes: inout [UInt8], in database: Database) throws {
        var cursor = cursor
        let plan = cursor.run.compiled.plan
        let isCollection = cursor.expand.navigation.isCollection
        let mostRows = isCollection ? Self.chunkRows : 1
        var rows: [UnreadRow] = []
        var size = 0
        let outcome = try cursor.run.run(in: database) { row in
            let object = try renderer.item(row, plan)
            size += object.writer.bytes.count
            rows.append(UnreadRow(object: object, sources: plan.expandSources.map { $0.map { row.value($0) } }))
            return rows.count < mostRows && size < Self.chunkSize
        }
        let isFirst = cursor.isFirst
        guard isCollection else {
            guard !rows.isEmpty else {
                bytes += Array("null".utf8)
                return
            }
            return push(rows, cursor.level, isFirst: true)
        }
        if outcome == .paused {
            cursor.isFirst = isFirst && rows.isEmpty
            frames.append(.cursor(cursor))
        } else {
            var tail: [UInt8] = [UInt8(ascii: "]")]
            if outcome == .pageIsFull, let values = cursor.run.position,
                let link = try cursor.level.paging.link(
                    to: cursor.expand, of: cursor.parentID, values: values, mapping: mapping, compilerOptions: options)
            {
                tail += nextLink(link, cursor.expand.navigation.name)
            }
            frames.append(.text(tail))
        }
        if !rows.isEmpty { push(rows, cursor.level, isFirst: isFirst) }
    }

    // MARK: Members

    /// Writes the JSON members for related rows, up to the first row.
    private mutating func write(_ member: Object.Member, to bytes: inout [UInt8]) {
        if member.needsComma { bytes.append(UInt8(ascii: ",")) }
        let name = member.name
        switch member.related {
        case .none: bytes += JSONWriter.Key(name).text + Array("null".utf8)
        case .one(let object):
            bytes += JSONWriter.Key(name).text
            frames.append(.object(object, member: 0, staysOpen: false))
        case .many(let objects, let count, let link):
            if let count {
                writeCount(count, name, to: &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            bytes += JSONWriter.Key(name).text
            bytes.append(UInt8(ascii: "["))
            frames.append(.text([UInt8(ascii: "]")] + (link.map { nextLink($0, name) } ?? [])))
            frames.append(.objects(objects, next: 0, isOutermost: false))
        case .count(let count): writeCount(count, name, to: &bytes)
        }
    }

    private func writeCount(_ count: Int64, _ name: String, to bytes: inout [UInt8]) {
        bytes += JSONWriter.Key("\(name)\(renderer.prefix)count").text
        bytes += Array((renderer.format.isIEEE754Compatible ? "\"\(count)\"" : "\(count)").utf8)
    }

    private func nextLink(_ link: String, _ name: String) -> [UInt8] {
        var text = ""
        StoredJSON.appendQuoted(link, to: &text)
        return [UInt8(ascii: ",")] + JSONWriter.Key("\(name)\(renderer.prefix)nextLink").text + Array(text.utf8)
    }
}
