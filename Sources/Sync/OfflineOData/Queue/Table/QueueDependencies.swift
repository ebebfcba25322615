import GRDB

/// The dependencies of the queue, for work on many requests in one transaction. They are read once, and changes
/// are recorded here too, so that no request costs a scan of the queue.
final class QueueDependencies {
    private let queue: QueueTable
    private var isRead = false
    private var dependencies: [Int64: Set<Int64>] = [:]
    private var dependents: [Int64: Set<Int64>] = [:]
    /// The change set of each request, and the requests of each change set.
    private var changeSets: [Int64: String] = [:]
    private var members: [String: [Int64]] = [:]

    init(queue: QueueTable) { self.queue = queue }

    /// The dependencies of a request.
    func dependencies(of id: Int64, in database: Database) throws -> Set<Int64> {
        try read(in: database)
        return dependencies[id] ?? []
    }

    /// The requests that wait for any of the given requests, oldest first. Some may have left the queue since.
    func dependents(of ids: Set<Int64>, in database: Database) throws -> [Int64] {
        guard !ids.isEmpty else { return [] }
        try read(in: database)
        return ids.reduce(into: Set<Int64>()) { $0.formUnion(dependents[$1] ?? []) }.sorted()
    }

    /// Whether any of the given requests waits for another one, directly or indirectly.
    ///
    /// - Parameter together: whether a request also waits for the dependencies of the other requests in its
    ///   change set. The change set of the other request itself is exempt: in it, requests can be sent in any
    ///   order.
    func anyWaits(_ ids: Set<Int64>, for id: Int64, together: Bool = true, in database: Database) throws -> Bool {
        guard !ids.isEmpty else { return false }
        try read(in: database)
        let own = changeSets[id]
        var open = Array(ids)
        var seen = ids
        var seenSets: Set<String> = []
        while let next = open.popLast() {
            if next == id { return true }
            for further in dependencies[next] ?? [] where seen.insert(further).inserted { open.append(further) }
            guard together, let changeSet = changeSets[next], changeSet != own, seenSets.insert(changeSet).inserted
            else { continue }
            for further in members[changeSet] ?? [] where seen.insert(further).inserted { open.append(further) }
        }
        return false
    }

    /// Replaces the dependencies of a request.
    func set(_ ids: Set<Int64>, of id: Int64, in database: Database) throws {
        try queue.setDependencies(ids, of: id, in: database)
        note(ids, of: id)
    }

    /// Removes a request from the queue. Its dependents wait for another request instead, or for none.
    func remove(_ id: Int64, replacingBy other: Int64? = nil, in database: Database) throws {
        try read(in: database)
        try queue.remove(id, in: database)
        note([], of: id)
        for dependent in dependents[id] ?? [] {
            var ids = dependencies[dependent] ?? []
            ids.remove(id)
            if let other, other != dependent { ids.insert(other) }
            try set(ids, of: dependent, in: database)
        }
    }

    /// Records requests that have come back into the queue.
    func readAgain(_ ids: [Int64], in database: Database) throws {
        guard isRead else { return }
        for id in ids {
            let row = try Row.fetchOne(
                database,
                sql: "SELECT id, \(QueueTable.dependencies) AS depends, change_set FROM outpost_queue WHERE id = ?",
                arguments: [id])
            if let row { note(row) }
        }
    }

    private func read(in database: Database) throws {
        guard !isRead else { return }
        let needs = try Row.fetchCursor(database, sql: "SELECT request, needs FROM outpost_dependency")
        while let row = try needs.next() {
            let (request, other): (Int64, Int64) = (row[0], row[1])
            dependencies[request, default: []].insert(other)
            dependents[other, default: []].insert(request)
        }
        let members = try Row.fetchCursor(
            database, sql: "SELECT id, change_set FROM outpost_queue WHERE change_set IS NOT NULL ORDER BY id")
        while let row = try members.next() { note(changeSet: row[1], of: row[0]) }
        isRead = true
    }

    private func note(_ row: Row) {
        let id: Int64 = row["id"]
        note(QueueTable.ids(row["depends"]), of: id)
        if let changeSet: String = row["change_set"] { note(changeSet: changeSet, of: id) }
    }

    private func note(changeSet: String, of id: Int64) {
        changeSets[id] = changeSet
        members[changeSet, default: []].append(id)
    }

    private func note(_ ids: Set<Int64>, of id: Int64) {
        for former in dependencies[id] ?? [] { dependents[former]?.remove(id) }
        dependencies[id] = ids.isEmpty ? nil : ids
        for other in ids { dependents[other, default: []].insert(id) }
    }
}
