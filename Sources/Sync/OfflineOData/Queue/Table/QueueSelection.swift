import GRDB

/// The requests for an upload of some categories, with their dependencies. They are selected once, so that other
/// requests are not examined each time. The selection is renewed if requests were added, if a request has changed
/// its category, and before the end is reported.
struct QueueSelection: Sendable {
    /// The requests of the categories themselves.
    fileprivate let named: Set<Int64>
    /// The waiting requests, by priority and age. Some may have left the queue since.
    fileprivate var waiting: [Int64]
    /// The newest request of the queue at the time of the selection.
    fileprivate let newest: Int64
}

extension QueueTable {
    /// Selects the next request of some categories.
    ///
    /// - Parameters:
    ///   - selection: the earlier selection, and then the current one.
    ///   - sendable: returns the unit that can be sent for a request; `nil` if it must wait. The request is read
    ///     with its order only.
    /// - Returns: `nil` if nothing can be sent any more.
    func next(
        in categories: Set<String>, _ selection: inout QueueSelection?, in database: Database,
        _ sendable: (Row) throws -> [QueuedRequest]?
    ) throws -> [QueuedRequest]? {
        let newest = try Int64.fetchOne(database, sql: "SELECT MAX(id) FROM outpost_queue") ?? 0
        // A number is never given twice.
        if var known = selection, known.newest >= newest {
            let found = try first(of: &known, categories, in: database, sendable)
            selection = known
            if let found { return found }
        }
        let marks = categories.map { _ in "?" }.joined(separator: ",")
        let named = try Int64.fetchSet(
            database, sql: "SELECT id FROM outpost_queue WHERE category IN (\(marks))",
            arguments: StatementArguments(categories))
        var present = QueueSelection(
            named: named, waiting: try ids([.pending], in: categories, in: database), newest: newest)
        let found = try first(of: &present, categories, in: database, sendable)
        selection = present
        return found
    }

    /// - Returns: `nil` also if a selected request has changed its category.
    private func first(
        of selection: inout QueueSelection, _ categories: Set<String>, in database: Database,
        _ sendable: (Row) throws -> [QueuedRequest]?
    ) throws -> [QueuedRequest]? {
        let statement = try database.cachedStatement(
            sql: "SELECT id, state, category, change_set, \(Self.waits) AS waits FROM outpost_queue WHERE id = ?")
        var kept: [Int64] = []
        for (position, id) in selection.waiting.enumerated() {
            guard let row = try Row.fetchOne(statement, arguments: [id]),
                row["state"] == QueuedRequest.State.pending.rawValue
            else { continue }
            if selection.named.contains(id) {
                let category: String? = row["category"]
                guard let category, categories.contains(category) else { return nil }
            }
            // It is selected again if it is put back.
            kept.append(id)
            guard let found = try sendable(row) else { continue }
            selection.waiting.replaceSubrange(...position, with: kept)
            return found
        }
        selection.waiting = kept
        return nil
    }

    /// The requests in some states that an upload of some categories sends, by priority and age.
    ///
    /// - Parameter categories: `nil` for all.
    func ids(
        _ states: [QueuedRequest.State], in categories: Set<String>?, in database: Database
    ) throws -> [Int64] {
        let marks = states.map { _ in "?" }.joined(separator: ",")
        let ids = try Int64.fetchAll(
            database, sql: "SELECT id FROM outpost_queue WHERE state IN (\(marks)) ORDER BY priority DESC, id",
            arguments: StatementArguments(states.map(\.rawValue)))
        guard let categories else { return ids }
        let all = try wanted(in: categories, in: database)
        return ids.filter(all.contains)
    }

    /// The requests of some categories, all their dependencies, and the requests in the same change sets.
    private func wanted(in categories: Set<String>, in database: Database) throws -> Set<Int64> {
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, category, \(Self.dependencies) AS depends, change_set FROM outpost_queue")
        var dependencies: [Int64: Set<Int64>] = [:]
        var changeSets: [String: Set<Int64>] = [:]
        for row in rows { if let name: String = row["change_set"] { changeSets[name, default: []].insert(row["id"]) } }
        var open: [Int64] = []
        for row in rows {
            let members = (row["change_set"] as String?).flatMap { changeSets[$0] } ?? []
            dependencies[row["id"]] = Self.ids(row["depends"]).union(members)
            if let category: String = row["category"], categories.contains(category) { open.append(row["id"]) }
        }
        var wanted = Set(open)
        while let id = open.popLast() {
            for next in dependencies[id] ?? [] where wanted.insert(next).inserted { open.append(next) }
        }
        return wanted
    }
}
