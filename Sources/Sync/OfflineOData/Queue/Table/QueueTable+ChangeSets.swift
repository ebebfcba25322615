import GRDB

/// Requests that succeed or fail together.
extension QueueTable {
    /// Unites several change sets and a request that contains values of each.
    ///
    /// - Parameters:
    ///   - names: the change sets. The last name stays. Without names, nothing happens.
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

    /// Adds the requests between a new request and its change set to the change set. There are some if a refused
    /// request has joined the change set and others wait for it.
    ///
    /// - Parameter dependencies: the dependencies of the new request.
    func takeIn(_ dependencies: [Int64], _ name: String, in database: Database) throws {
        let first = try Int64.fetchOne(
            database, sql: "SELECT MIN(id) FROM outpost_queue WHERE change_set = ?", arguments: [name])
        // Requests that are older than the whole change set do not wait for it.
        guard let first, dependencies.contains(where: { $0 > first }) else { return }
        let hasOthers = try dependencies.filter { $0 > first }.contains { id in
            try Bool.fetchOne(
                database, sql: "SELECT change_set IS NOT ? FROM outpost_queue WHERE id = ?", arguments: [name, id])
                ?? false
        }
        if hasOthers { try takeInBetween(name, in: database) }
    }

    /// Adds requests to a change set that wait for one of its requests and that another of its requests waits
    /// for. Otherwise, neither they nor the change set could ever be sent. Their own change sets are included.
    private func takeInBetween(_ name: String, in database: Database) throws {
        let waits = try Waits(in: database)
        let members = waits.changeSets[name] ?? []
        for id in waits.circle(through: members).subtracting(members) { try setChangeSet(name, of: id, in: database) }
    }

    /// Adds a request, with its own change set, to a change set if each of the two waits for the other.
    ///
    /// - Returns: the requests that are new in the change set.
    @discardableResult
    func takeIntoCircle(_ id: Int64, in database: Database) throws -> [Int64] {
        let waits = try Waits(in: database)
        let circle = waits.circle(through: [id])
        guard let name = waits.changeSets.filter({ !circle.isDisjoint(with: $0.value) }).keys.min() else { return [] }
        let others = circle.subtracting(waits.changeSets[name] ?? []).sorted()
        for other in others { try setChangeSet(name, of: other, in: database) }
        return others
    }

    /// The dependencies between requests. A request of a change set waits for the dependencies of all its
    /// requests.
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

        /// Some requests, and the requests that wait for one of them and that another one waits for.
        func circle(through ids: Set<Int64>) -> Set<Int64> {
            reached(from: ids, by: dependencies).intersection(reached(from: ids, by: dependents))
        }

        /// The given requests and all that can be reached from them.
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

    /// The requests of a change set in an order that respects their dependencies, otherwise by age. A mended
    /// request may depend on a later one.
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
