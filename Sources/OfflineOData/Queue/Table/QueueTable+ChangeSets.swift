import GRDB

/// Requests that succeed or fail together.
extension QueueTable {
    /// Makes one change set of several and of a request which values of each were put into.
    ///
    /// - Parameters:
    ///   - names: the change sets; the last one's name stays. With none, nothing happens.
    ///   - request: the request, which may be in one of them or in none.
    func unite(_ names: [String], with request: Int64, in database: Database) throws {
        guard let name = names.last else { return }
        for other in Set(names) where other != name {
            try database.execute(
                sql: "UPDATE outpost_queue SET change_set = ? WHERE change_set = ?", arguments: [name, other])
        }
        try setChangeSet(name, of: request, in: database)
        try takeInBetween(name, in: database)
    }

    /// Takes in what stands between a new request and the change set that it is in, where there is anything: so it is
    /// when a request that was refused has joined the change set, and others wait for that one.
    ///
    /// - Parameter dependencies: what the new request waits for.
    func takeIn(_ dependencies: [Int64], _ name: String, in database: Database) throws {
        let first = try Int64.fetchOne(
            database, sql: "SELECT MIN(id) FROM outpost_queue WHERE change_set = ?", arguments: [name])
        // What is older than all of it waits for none of it.
        guard let first, dependencies.contains(where: { $0 > first }) else { return }
        let hasOthers = try dependencies.filter { $0 > first }.contains { id in
            try Bool.fetchOne(
                database, sql: "SELECT change_set IS NOT ? FROM outpost_queue WHERE id = ?", arguments: [name, id])
                ?? false
        }
        if hasOthers { try takeInBetween(name, in: database) }
    }

    /// Takes into a change set, each with its own, what waits for one of its requests and is waited for by another:
    /// apart from them it could never be sent, and neither could they.
    private func takeInBetween(_ name: String, in database: Database) throws {
        let rows = try Row.fetchAll(database, sql: "SELECT id, depends, change_set FROM outpost_queue")
        var changeSets: [String: Set<Int64>] = [:]
        for row in rows {
            if let other: String = row["change_set"] { changeSets[other, default: []].insert(row["id"]) }
        }
        var dependencies: [Int64: Set<Int64>] = [:]
        var dependents: [Int64: Set<Int64>] = [:]
        for row in rows {
            let id: Int64 = row["id"]
            // What is in a change set waits for all that the others in it wait for.
            let together = (row["change_set"] as String?).flatMap { changeSets[$0] } ?? []
            dependencies[id] = Self.ids(row["depends"]).union(together)
            for other in dependencies[id] ?? [] { dependents[other, default: []].insert(id) }
        }
        let members = changeSets[name] ?? []
        let between = Self.reached(from: members, by: dependencies)
            .intersection(Self.reached(from: members, by: dependents))
        for id in between.subtracting(members) { try setChangeSet(name, of: id, in: database) }
    }

    private func setChangeSet(_ name: String, of id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET change_set = ? WHERE id = ?", arguments: [name, id])
    }

    /// Some requests and all that lies behind them.
    private static func reached(from ids: Set<Int64>, by steps: [Int64: Set<Int64>]) -> Set<Int64> {
        var open = Array(ids)
        var seen = ids
        while let id = open.popLast() {
            for next in steps[id] ?? [] where seen.insert(next).inserted { open.append(next) }
        }
        return seen
    }

    /// The requests of a change set in the order in which they can be made: by age, but none before one that it waits
    /// for, as one that was mended may.
    static func inOrder(_ requests: [QueuedRequest]) -> [QueuedRequest] {
        guard requests.contains(where: { request in request.dependsOn.contains { $0 > request.id } }) else {
            return requests
        }
        var rest = requests
        var ordered: [QueuedRequest] = []
        while !rest.isEmpty {
            let open = Set(rest.map(\.id))
            let index = rest.firstIndex { open.isDisjoint(with: $0.dependsOn) } ?? 0
            ordered.append(rest.remove(at: index))
        }
        return ordered
    }
}
