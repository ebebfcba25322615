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
        let waits = try Waits(in: database)
        let members = waits.changeSets[name] ?? []
        for id in waits.circle(through: members).subtracting(members) { try setChangeSet(name, of: id, in: database) }
    }

    /// Takes a request, with its own change set where it is in one, into the change set that waits for it, where it waits for
    /// that: one of its requests for it, and it for another one.
    ///
    /// - Returns: what is in that change set now and was not before.
    @discardableResult
    func takeIntoCircle(_ id: Int64, in database: Database) throws -> [Int64] {
        let waits = try Waits(in: database)
        let circle = waits.circle(through: [id])
        guard let name = waits.changeSets.filter({ !circle.isDisjoint(with: $0.value) }).keys.min() else { return [] }
        let others = circle.subtracting(waits.changeSets[name] ?? []).sorted()
        for other in others { try setChangeSet(name, of: other, in: database) }
        return others
    }

    /// What waits for what: what is in a change set waits for all that the others in it wait for.
    private struct Waits {
        private(set) var changeSets: [String: Set<Int64>] = [:]
        private var dependencies: [Int64: Set<Int64>] = [:]
        private var dependents: [Int64: Set<Int64>] = [:]

        init(in database: Database) throws {
            let rows = try Row.fetchAll(
                database, sql: "SELECT id, \(QueueTable.dependencies) AS depends, change_set FROM outpost_queue")
            for row in rows {
                if let name: String = row["change_set"] { changeSets[name, default: []].insert(row["id"]) }
            }
            for row in rows {
                let id: Int64 = row["id"]
                let together = (row["change_set"] as String?).flatMap { changeSets[$0] } ?? []
                dependencies[id] = QueueTable.ids(row["depends"]).union(together)
                for other in dependencies[id] ?? [] { dependents[other, default: []].insert(id) }
            }
        }

        /// Some requests, and what waits for one of them and is waited for by another.
        func circle(through ids: Set<Int64>) -> Set<Int64> {
            reached(from: ids, by: dependencies).intersection(reached(from: ids, by: dependents))
        }

        /// Some requests and all that lies behind them.
        private func reached(from ids: Set<Int64>, by steps: [Int64: Set<Int64>]) -> Set<Int64> {
            var open = Array(ids)
            var seen = ids
            while let id = open.popLast() {
                for next in steps[id] ?? [] where seen.insert(next).inserted { open.append(next) }
            }
            return seen
        }
    }

    /// Puts a request into a change set.
    func setChangeSet(_ name: String, of id: Int64, in database: Database) throws {
        try database.execute(sql: "UPDATE outpost_queue SET change_set = ? WHERE id = ?", arguments: [name, id])
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
