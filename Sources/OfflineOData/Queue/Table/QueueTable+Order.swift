import GRDB

/// In which order the queue is sent.
extension QueueTable {
    /// What to send next: one request, or a change set. What is on its way comes first, then by priority and age the
    /// first that waits for no other.
    ///
    /// - Parameters:
    ///   - categories: only requests of these, and those that they depend on; `nil` for all.
    ///   - usesChangeSets: whether the service takes several requests as one; else those of a change set are sent
    ///     one after the other, each waiting for those before it.
    /// - Returns: none when nothing is left that can be sent.
    func next(
        in categories: Set<String>?, usesChangeSets: Bool, in database: Database
    ) throws -> [QueuedRequest] {
        let wanted = try categories.map { try requests(in: $0, in: database) }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, state, depends, change_set FROM outpost_queue WHERE state = 'sending'
                UNION ALL
                SELECT * FROM (
                    SELECT id, state, depends, change_set FROM outpost_queue WHERE state = 'pending'
                    ORDER BY priority DESC, id)
                """)
        var seen: Set<String> = []
        while let row = try rows.next() {
            let id: Int64 = row["id"]
            let changeSet: String? = row["change_set"]
            if row["state"] == QueuedRequest.State.sending.rawValue {
                let single = try request(id, in: database).map { [$0] } ?? []
                guard let changeSet, usesChangeSets else { return single }
                let members = Self.inOrder(try requests(ofChangeSet: changeSet, in: database))
                guard Self.fitIntoBatch(members) else { return single }
                return members.filter { $0.state == .sending }
            }
            if let wanted, !wanted.contains(id) { continue }
            guard let changeSet else {
                if try !isWaiting(for: Self.ids(row["depends"]), in: database) {
                    return try request(id, in: database).map { [$0] } ?? []
                }
                continue
            }
            // Each is looked at once, however many requests it has.
            guard seen.insert(changeSet).inserted else { continue }
            if let unit = try unit(changeSet, usesChangeSets: usesChangeSets, in: database) { return unit }
        }
        return []
    }

    /// What of a change set can be sent; `nil` when it waits.
    private func unit(
        _ changeSet: String, usesChangeSets: Bool, in database: Database
    ) throws -> [QueuedRequest]? {
        let members = Self.inOrder(try requests(ofChangeSet: changeSet, in: database))
        guard usesChangeSets, Self.fitIntoBatch(members) else {
            guard let first = members.first, first.state == .pending,
                try !isWaiting(for: Set(first.dependsOn), in: database)
            else { return nil }
            return [first]
        }
        let own = Set(members.map(\.id))
        guard members.allSatisfy({ $0.state == .pending }) else { return nil }
        let others = Set(members.flatMap(\.dependsOn)).subtracting(own)
        return try isWaiting(for: others, in: database) ? nil : members
    }

    /// Streams never travel in a batch (rule 9).
    private static func fitIntoBatch(_ requests: [QueuedRequest]) -> Bool {
        requests.allSatisfy { $0.kind != .stream && $0.detail.stream == nil }
    }

    static func ids(_ text: String) -> Set<Int64> { Set(text.split(separator: ",").compactMap { Int64($0) }) }

    /// Whether any of some requests is still there.
    private func isWaiting(for ids: Set<Int64>, in database: Database) throws -> Bool {
        for id in ids {
            let exists = try Bool.fetchOne(
                database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE id = ?)", arguments: [id])
            if exists ?? false { return true }
        }
        return false
    }

    /// The requests of some categories, all that they depend on, and what is in a change set with one of those.
    private func requests(in categories: Set<String>, in database: Database) throws -> Set<Int64> {
        let rows = try Row.fetchAll(database, sql: "SELECT id, category, depends, change_set FROM outpost_queue")
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

    /// All requests that succeed or fail together with some: those of their change sets, and themselves.
    func completingChangeSets(of requests: [QueuedRequest], in database: Database) throws -> [QueuedRequest] {
        var result: [Int64: QueuedRequest] = [:]
        for request in requests where result[request.id] == nil {
            result[request.id] = request
            guard let changeSet = request.options.changeSet else { continue }
            for member in try self.requests(ofChangeSet: changeSet, in: database) { result[member.id] = member }
        }
        return result.values.sorted { $0.id < $1.id }
    }

    /// Puts what was refused with a request, since it is in one change set with it, back into the queue: one of them
    /// was mended, and they are sent together again.
    func reviveChangeSet(of request: QueuedRequest, in database: Database) throws {
        guard let changeSet = request.options.changeSet else { return }
        for member in try requests(ofChangeSet: changeSet, in: database) where member.state == .refused {
            try markPending(member.id, forgetsIdentification: true, in: database)
        }
    }
}
