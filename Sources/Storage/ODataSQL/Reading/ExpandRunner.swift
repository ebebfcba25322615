import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Reads the related entities of `$expand` and attaches them to their parents, with one statement for each level
/// and chunk of parents.
struct ExpandRunner<Renderer: RowRenderer> {
    /// The maximum number of levels of `$levels=max`, in case the data have cycles.
    static var maxLevels: Int { 32 }
    /// The number of entities on one level above which `$levels=max` stops, for one part of a response. In cyclic
    /// data, the number may grow with every level.
    static var enoughEntities: Int { 10_000 }
    /// The maximum number of entities on one level of any other `$levels`.
    static var maxEntities: Int { 1_000_000 }

    let renderer: Renderer
    let mapping: StorageMapping
    let options: SQLCompiler.Options
    let database: Database
    /// The paging of expanded collections.
    var paging = ExpandPaging()
    /// The memory for the rows.
    var room = ExpandRoom()
    /// The number of entities on one level above which `$levels=max` stops.
    var enoughEntities = Self.enoughEntities

    /// Expands all items of a query.
    ///
    /// - Parameters:
    ///   - items: the parents.
    ///   - sources: the values of the join columns for each parent and each item of `$expand`.
    ///   - expand: the items of `$expand`.
    ///   - set: the entity set of the parents.
    ///   - level: the level of the related entities; 1 below the rows of the request.
    ///   - root: the table of the request's rows; `nil` if the parents are these rows.
    ///   - times: the number of occurrences of each parent in the response; `nil` if each parent occurs once.
    func expand(
        _ items: inout [Renderer.Item], _ sources: [[[DatabaseValue]]], expand: [BoundExpand], of set: String?,
        level: Int = 1, root: TableStorage? = nil, times: [Int]? = nil
    ) throws {
        guard !items.isEmpty, !expand.isEmpty else { return }
        guard let set, let table = mapping.tables[set] else { throw ODataError.notImplemented("$expand here") }
        for (position, item) in expand.enumerated() {
            if item.form == .value { throw ODataError.notImplemented("$expand of \(item.navigation.name)/$value") }
            let keys = sources.map { $0[position] }
            let parents = times?.reduce(0) { Self.sum($0, $1) } ?? items.count
            let nested = try recursive(item, level: level, of: parents)
            var runner = self
            runner.paging = paging.below(item)
            var timesByKey: [StoredValues: Int] = [:]
            for (index, key) in keys.enumerated() where item.levels != 1 || paging.budget != nil {
                let key = StoredValues(key)
                timesByKey[key] = Self.sum(timesByKey[key] ?? 0, times?[index] ?? 1)
            }
            let related = try runner.read(
                nested, keys, times: timesByKey, table: table, root: root ?? table, level: level)
            for index in items.indices {
                // The id is computed only if there is a link, which is rare.
                let found = try related(keys[index]) { token in
                    try runner.paging.link(
                        to: nested, of: renderer.id(of: items[index]), values: token, mapping: mapping,
                        compilerOptions: options)
                }
                renderer.attach(found, as: item, to: &items[index])
            }
        }
    }

    /// Adds an item to its own nested items until the depth of `$levels` is reached.
    ///
    /// - Parameter count: the number of parents in the response on this level.
    func recursive(_ item: BoundExpand, level: Int, of count: Int) throws -> BoundExpand {
        var item = item
        if let levels = item.levels {
            guard levels > 1 else { return item }
            guard count <= Self.maxEntities else {
                throw ODataError(
                    status: 400, code: "RowLimit",
                    message: "The answer has more than \(Self.maxEntities) entities at level \(level - 1) of "
                        + "\(item.navigation.name); ask for fewer by $levels, $top or $filter.")
            }
            var nested = item
            nested.levels = levels - 1
            item.query.expand.append(nested)
        } else if level < Self.maxLevels, count <= enoughEntities {
            item.query.expand.append(item)
        }
        return item
    }

    /// Returns a sum with an upper bound, which avoids an overflow.
    private static func sum(_ some: Int, _ more: Int) -> Int { min(some + more, 1 << 40) }

    /// Reads the related rows by the values of the join columns.
    ///
    /// - Parameter times: the number of occurrences of the parents in the response; 1 if absent.
    private func read(
        _ expand: BoundExpand, _ keys: [[DatabaseValue]], times: [StoredValues: Int], table: TableStorage,
        root: TableStorage, level: Int
    ) throws -> ([DatabaseValue], ([DatabaseValue]) throws -> String?) throws -> RelatedItems<Renderer.Item> {
        let statement = try ExpandStatement(
            expand, of: table, root: root, mapping: mapping, options: options, pageSize: paging.pageSize)
        var seen: Set<StoredValues> = []
        // Rows with NULL in a join column have no related rows.
        let distinct = keys.map(StoredValues.init).filter {
            !$0.values.contains(where: \.isNull) && seen.insert($0).inserted
        }
        var rows: [StoredValues: Rows] = [:]
        var counts: [StoredValues: Int64] = [:]
        for start in stride(from: 0, to: distinct.count, by: ExpandStatement.maxParents) {
            let chunk = Array(distinct[start..<min(start + ExpandStatement.maxParents, distinct.count)])
            try statement.requirements(chunk.map(\.values)).check(in: database)
            if expand.form == .count || expand.query.count {
                try count(statement, chunk, counts: &counts)
            }
            if expand.form != .count {
                try fetch(statement, chunk, times: times, expand: expand, root: root, level: level, rows: &rows)
            }
        }
        let isCollection = expand.navigation.isCollection
        let wantsCount = expand.query.count
        let isCountOnly = expand.form == .count
        return { values, link in
            let key = StoredValues(values)
            if isCountOnly { return .count(counts[key] ?? 0) }
            let found = rows[key] ?? Rows()
            if !isCollection { return found.items.first.map { .one($0) } ?? .none }
            return .many(
                found.items, count: wantsCount ? counts[key] ?? 0 : nil,
                nextLink: found.hasMore ? try found.last.flatMap(link) : nil)
        }
    }

    /// The related rows of one parent.
    private struct Rows {
        var items: [Renderer.Item] = []
        /// The sort values of the last row on the page.
        var last: [DatabaseValue]?
        /// Whether the page is full and further rows exist.
        var hasMore = false
    }

    private func count(
        _ statement: ExpandStatement, _ chunk: [StoredValues], counts: inout [StoredValues: Int64]
    ) throws {
        let fragment = statement.countStatement(chunk.map(\.values))
        let cursor = try Row.fetchCursor(
            StatementCache.statement(fragment.sql, in: database), arguments: StatementArguments(fragment.arguments))
        while let row = try cursor.next() {
            let parent: Int = row[0]
            if chunk.indices.contains(parent) { counts[chunk[parent]] = row[1] }
        }
    }

    private func fetch(
        _ statement: ExpandStatement, _ chunk: [StoredValues], times: [StoredValues: Int], expand: BoundExpand,
        root: TableStorage, level: Int, rows: inout [StoredValues: Rows]
    ) throws {
        let plan = statement.compiled.plan
        var items: [Renderer.Item] = []
        var counted = [Int](repeating: 0, count: chunk.count)
        var parents: [Int] = []
        var sources: [[[DatabaseValue]]] = []
        let fragment = statement.statement(chunk.map(\.values))
        let prepared = try StatementCache.statement(fragment.sql, in: database)
        let cursor = try Row.fetchCursor(prepared, arguments: StatementArguments(fragment.arguments))
        while try cursor.next() != nil {
            let row = StoredRow(statement: prepared.sqliteStatement)
            let parent = Int(row.integer(statement.parentColumn))
            guard chunk.indices.contains(parent) else { continue }
            if let size = statement.pageSize {
                counted[parent] += 1
                if counted[parent] > size {
                    rows[chunk[parent], default: Rows()].hasMore = true
                    continue
                }
                if counted[parent] == size {
                    rows[chunk[parent], default: Rows()].last = plan.sort.map { row.value($0) }
                }
            }
            let item = try renderer.item(row, plan)
            try room.take(renderer.size(of: item), times: times[chunk[parent]] ?? 1, paging.budget)
            items.append(item)
            parents.append(parent)
            sources.append(plan.expandSources.map { $0.map { row.value($0) } })
        }
        let itemTimes = times.isEmpty ? nil : parents.map { times[chunk[$0]] ?? 1 }
        try self.expand(
            &items, sources, expand: expand.query.expand, of: plan.set, level: level + 1, root: root, times: itemTimes)
        for (item, parent) in zip(items, parents) { rows[chunk[parent], default: Rows()].items.append(item) }
    }
}
