import GRDB

/// The order in which the queue is sent.
extension QueueTable {
    /// Returns the next unit: one request, or a change set. Sent requests come first, then by priority and age
    /// the first request without open dependencies.
    ///
    /// - Parameters:
    ///   - categories: only requests of these categories and their dependencies; `nil` for all.
    ///   - selection: the earlier selection of these requests, and then the current one.
    ///   - setAside: requests that are not sent, and for which others wait.
    ///   - usesChangeSets: whether the service accepts change sets. If not, the requests of a change set are sent
    ///     one after the other, each waiting for the earlier ones.
    /// - Returns: an empty list if nothing can be sent any more.
    func next(
        in categories: Set<String>?, _ selection: inout QueueSelection?, besides setAside: Set<Int64> = [],
        usesChangeSets: Bool, in database: Database
    ) throws -> [QueuedRequest] {
        if let unit = try underWay(besides: setAside, usesChangeSets: usesChangeSets, in: database) { return unit }
        // Each change set is examined once, however many requests it has.
        var seen: Set<String> = []
        let sendable = { (row: Row) throws -> [QueuedRequest]? in
            let changeSet: String? = row["change_set"]
            if let changeSet {
                guard seen.insert(changeSet).inserted else { return nil }
                let unit = try unit(changeSet, usesChangeSets: usesChangeSets, in: database)
                return unit.flatMap { $0.contains { setAside.contains($0.id) } ? nil : $0 }
            }
            guard row["waits"] == false, !setAside.contains(row["id"]) else { return nil }
            return try request(row["id"], in: database).map { [$0] }
        }
        if let categories { return try next(in: categories, &selection, in: database, sendable) ?? [] }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, change_set, \(Self.waits) AS waits FROM outpost_queue WHERE state = 'pending'
                ORDER BY priority DESC, id
                """)
        while let row = try rows.next() {
            if let unit = try sendable(row) { return unit }
        }
        return []
    }

    /// The requests that were sent when an upload ended, and are sent again.
    private func underWay(
        besides setAside: Set<Int64>, usesChangeSets: Bool, in database: Database
    ) throws -> [QueuedRequest]? {
        let sent = try ids([.sending], in: nil, in: database).first { !setAside.contains($0) }
        guard let first = try sent.flatMap({ try request($0, in: database) }) else { return nil }
        guard let changeSet = first.options.changeSet, usesChangeSets else { return [first] }
        let members = Self.inOrder(try requests(ofChangeSet: changeSet, in: database))
        guard Self.fitIntoBatch(members) else { return [first] }
        return members.filter { $0.state == .sending }
    }

    /// The part of a change set that can be sent; `nil` if it must wait.
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
        requests.allSatisfy { $0.kind != .stream && $0.stream == nil }
    }

    /// SQL that is true for a request of the queue that waits for another one.
    static let waits = """
        EXISTS (SELECT 1 FROM outpost_dependency JOIN outpost_queue AS needed ON needed.id = needs
            WHERE request = outpost_queue.id)
        """

    /// Whether any of the given requests is still in the queue.
    private func isWaiting(for ids: Set<Int64>, in database: Database) throws -> Bool {
        for id in ids {
            let exists = try Bool.fetchOne(
                database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_queue WHERE id = ?)", arguments: [id])
            if exists ?? false { return true }
        }
        return false
    }

    /// The given requests, and all requests in the same change sets.
    func completingChangeSets(of requests: [QueuedRequest], in database: Database) throws -> [QueuedRequest] {
        var result: [Int64: QueuedRequest] = [:]
        for request in requests where result[request.id] == nil {
            result[request.id] = request
            guard let changeSet = request.options.changeSet else { continue }
            for member in try self.requests(ofChangeSet: changeSet, in: database) { result[member.id] = member }
        }
        return result.values.sorted { $0.id < $1.id }
    }

    /// Puts the refused requests of a change set back into the queue: one of them was mended, and they are sent
    /// together again. A held edit leaves the other requests in the archive: they are submitted with it.
    func reviveChangeSet(
        of request: QueuedRequest, by edit: ChangeOptions, at instant: String, in database: Database
    ) throws {
        guard !edit.isHeld, let changeSet = request.options.changeSet else { return }
        for member in try requests(ofChangeSet: changeSet, in: database) where member.state == .refused {
            try renew(member.id, at: instant, in: database)
        }
    }
}
