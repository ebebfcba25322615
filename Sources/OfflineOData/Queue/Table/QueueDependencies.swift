import GRDB

/// What of the queue waits for what, for work on many requests in one transaction: it is read once, and whatever that work
/// changes of it is noted here too, so that none of them costs a look at the whole queue.
final class QueueDependencies {
    private let queue: QueueTable
    private var isRead = false
    private var dependencies: [Int64: Set<Int64>] = [:]
    private var dependents: [Int64: Set<Int64>] = [:]

    init(queue: QueueTable) { self.queue = queue }

    /// What a request waits for.
    func dependencies(of id: Int64, in database: Database) throws -> Set<Int64> {
        try read(in: database)
        return dependencies[id] ?? []
    }

    /// What waits for any of some requests, the oldest first. Some of it may have gone since.
    func dependents(of ids: Set<Int64>, in database: Database) throws -> [Int64] {
        guard !ids.isEmpty else { return [] }
        try read(in: database)
        return ids.reduce(into: Set<Int64>()) { $0.formUnion(dependents[$1] ?? []) }.sorted()
    }

    /// Whether any of some requests waits for another one, at whatever distance.
    func anyWaits(_ ids: Set<Int64>, for id: Int64, in database: Database) throws -> Bool {
        guard !ids.isEmpty else { return false }
        try read(in: database)
        var open = Array(ids)
        var seen = ids
        while let next = open.popLast() {
            if next == id { return true }
            for further in dependencies[next] ?? [] where seen.insert(further).inserted { open.append(further) }
        }
        return false
    }

    /// Lets a request wait for others instead of those that it waited for.
    func set(_ ids: Set<Int64>, of id: Int64, in database: Database) throws {
        try queue.setDependencies(ids, of: id, in: database)
        note(ids, of: id)
    }

    /// Takes a request out of the queue; what waited for it waits for another one, or for none, instead.
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

    /// Takes note of requests that have come back into the queue.
    func readAgain(_ ids: [Int64], in database: Database) throws {
        guard isRead else { return }
        for id in ids {
            let depends = try String.fetchOne(
                database, sql: "SELECT depends FROM outpost_queue WHERE id = ?", arguments: [id])
            note(QueueTable.ids(depends ?? ""), of: id)
        }
    }

    private func read(in database: Database) throws {
        guard !isRead else { return }
        let rows = try Row.fetchCursor(database, sql: "SELECT id, depends FROM outpost_queue WHERE depends <> ''")
        while let row = try rows.next() { note(QueueTable.ids(row["depends"]), of: row["id"]) }
        isRead = true
    }

    private func note(_ ids: Set<Int64>, of id: Int64) {
        for former in dependencies[id] ?? [] { dependents[former]?.remove(id) }
        dependencies[id] = ids.isEmpty ? nil : ids
        for other in ids { dependents[other, default: []].insert(id) }
    }
}
