import GRDB
import ODataModel
import ODataSQL

extension OfflineStore.Changes {
    /// Submits held changes: the next upload sends them. Refused changes in the scope are submitted again.
    ///
    /// The changes of one composite tree are sent as one change set if the service has change sets. Changes that they
    /// depend on are submitted too.
    ///
    /// ```swift
    /// let visits = store.changes.provider(with: ChangeOptions(isHeld: true))
    /// try await DataService(visits).update(order)
    /// try await store.changes.submit(.all)
    /// ```
    /// - Returns: the number of submitted requests.
    /// - Throws: `StoreError`; ``OfflineError/withoutPlace(request:)``.
    @discardableResult
    public func submit(_ scope: ChangeScope) async throws -> Int {
        try await store.database.write { [store] database in
            try HeldChanges(store: store).submit(scope, in: database)
        }
    }

    /// Takes back the changes of a scope that were not sent, held, submitted or refused. Held changes behind a sent one
    /// are taken back alone.
    ///
    /// - Returns: the number of entities and calls that had changes.
    /// - Throws: ``OfflineError/alreadySent(request:)`` if nothing of a single entity or call can be taken back because
    ///   its change is on its way; `StoreError`. Nothing is taken back then.
    @discardableResult
    public func cancel(_ scope: ChangeScope) async throws -> Int {
        try await store.database.write { [store] database in
            try HeldChanges(store: store).cancel(scope, in: database)
        }
    }
}

/// Submits and cancels changes by the trees that they are in.
struct HeldChanges {
    let store: OfflineStore

    private var queue: QueueTable { store.queue }
    private var graph: CompositeGraph { store.graph }

    // MARK: Submitting

    /// Submits the changes of a scope in one transaction.
    func submit(_ scope: ChangeScope, in database: Database) throws -> Int {
        var chosen: [Int64: QueuedRequest] = [:]
        // The tree of each request; calls that are bound to no row of the store are in none.
        var trees: [Int64: RowReference] = [:]
        var seen: Set<RowReference> = []
        var open = try queue.requests(scope, QueuedRequest.State.releasable, in: database)
        var rows = Set(open.compactMap(\.subjectRow))
        switch scope {
        case .entity(let row): rows.insert(row)
        case .call:
            // A call is submitted with the changes that it waits for alone.
            for call in open { chosen[call.id] = call }
            open = try needed(by: chosen, in: database)
            rows = Set(open.compactMap(\.subjectRow))
        case .sets, .category, .all: break
        }
        while !open.isEmpty || !rows.isEmpty {
            for request in open where request.subjectRow == nil { chosen[request.id] = request }
            let roots = Set(try graph.roots(of: rows, queue, in: database).values).subtracting(seen)
            seen.formUnion(roots)
            let members = try graph.trees(below: roots, queue, in: database)
            try joinRefused(of: Set(members.keys), in: database)
            for request in try queue.requests(of: Set(members.keys), QueuedRequest.State.releasable, in: database)
            where chosen[request.id] == nil {
                chosen[request.id] = request
                if let row = request.subjectRow { trees[request.id] = members[row] }
            }
            // Whatever they wait for must be sent too.
            open = try needed(by: chosen, in: database)
            for request in open where request.subjectRow == nil { chosen[request.id] = request }
            open.removeAll { $0.subjectRow == nil }
            rows = Set(open.compactMap(\.subjectRow))
            // A tree that was seen has given all that it has.
            if try graph.roots(of: rows, queue, in: database).values.allSatisfy(seen.contains) { break }
        }
        try release(chosen, trees, in: database)
        return chosen.count
    }

    /// Puts held changes of rows into the refused changes before them: of two changes of an entity in one change set,
    /// the second could not be made of the version that the first one leaves (rule 5).
    private func joinRefused(of rows: Set<RowReference>, in database: Database) throws {
        let requests = try queue.requests(of: rows, QueuedRequest.State.releasable, in: database).filter(\.isOfRow)
        let byRow = Dictionary(grouping: requests) { RowReference(set: $0.entitySet, rowID: $0.rowID) }
        for (row, own) in byRow.sorted(by: { $0.value[0].id < $1.value[0].id }) {
            guard own.contains(where: { $0.state == .refused }), own.contains(where: { $0.state == .held }),
                let mending = Mending(
                    of: try queue.requests(set: row.set, rowID: row.rowID, in: database), changing: []),
                let last = mending.joining.last, last.state == .held
            else { continue }
            let joined = Set(mending.joining.map(\.id)).union([mending.refused.id])
            let needed = Set(mending.joining.flatMap(\.dependsOn)).subtracting(joined)
            let isPutBack = try mending.putBack(
                joining: ChangeOptions(category: last.options.category, isHeld: true), waitingFor: needed,
                at: store.environment.instant.description, queue, in: database)
            guard isPutBack else { continue }
            let nothing = ODataEntity(shape: last.changes.shape)
            try mending.rewrite(with: nothing, base: nothing, queue, in: database)
        }
    }

    /// The requests that chosen ones wait for and that must be submitted too.
    private func needed(by chosen: [Int64: QueuedRequest], in database: Database) throws -> [QueuedRequest] {
        try Set(chosen.values.flatMap(\.dependsOn)).subtracting(chosen.keys).sorted()
            .compactMap { try queue.request($0, in: database) }
            .filter { QueuedRequest.State.releasable.contains($0.state) }
    }

    private func release(
        _ requests: [Int64: QueuedRequest], _ trees: [Int64: RowReference], in database: Database
    ) throws {
        let instant = store.environment.instant.description
        let before = BeforeImages(snapshots: queue.snapshots)
        var members: [RowReference: [QueuedRequest]] = [:]
        for request in requests.values.sorted(by: { $0.id < $1.id }) {
            guard !request.isWithoutPlace else { throw OfflineError.withoutPlace(request: request.id) }
            if request.state == .refused {
                try queue.putBack(request, before: before, mapping: store.mapping, at: instant, in: database)
            } else {
                try queue.release(request.id, at: instant, in: database)
            }
            try queue.leaveChangeSet(request.id, in: database)
            if let row = request.subjectRow {
                try queue.setCounter(ReplayCounters.counter(of: row, in: database), of: request.id, in: database)
            }
            if let tree = trees[request.id] { members[tree, default: []].append(request) }
        }
        for (_, tree) in members.sorted(by: { $0.value[0].id < $1.value[0].id }) {
            // Streams never travel in a batch (rule 9).
            let together = tree.filter { $0.kind != .stream && $0.stream == nil }
            guard together.count > 1 else { continue }
            let name = store.environment.newGuid().description
            let own = Set(together.map(\.id))
            for request in together { try queue.setChangeSet(name, of: request.id, in: database) }
            let needsOthers = together.contains { request in !own.isSuperset(of: request.dependsOn) }
            // What stands between its members could never be sent without them.
            if needsOthers { try queue.unite([name], with: together[0].id, in: database) }
        }
    }

    // MARK: Cancelling

    /// Takes back the changes of a scope in one transaction.
    func cancel(_ scope: ChangeScope, in database: Database) throws -> Int {
        if case .call(let id) = scope { return try store.cancel([id], withAllOthers: true, in: database) }
        let all: [QueuedRequest.State] = [.held, .pending, .sending, .refused, .inDoubt]
        var rows = Set(try queue.requests(scope, all, in: database).compactMap(\.subjectRow))
        var isSingle = false
        if case .entity(let row) = scope {
            isSingle = true
            rows = Set(try graph.trees(below: [row], queue, in: database).keys)
        }
        let requests = try queue.requests(of: rows, all, in: database)
        let sent = Set(requests.filter { $0.state == .sending }.compactMap(\.subjectRow))
        let calls = requests.filter { $0.kind == .call && $0.state != .sending }
        let free = Set(requests.compactMap(\.subjectRow)).subtracting(sent).intersection(rows)
        var count = 0
        // A held change behind a sent one goes alone, the newest first.
        for request in requests.reversed() where request.state == .held {
            guard let row = request.subjectRow, sent.contains(row),
                try queue.request(request.id, in: database) != nil
            else { continue }
            count += try store.cancel([request.id], withAllOthers: true, in: database)
        }
        if isSingle, count == 0, free.isEmpty, let first = requests.first(where: { $0.state == .sending }) {
            throw OfflineError.alreadySent(request: first.id)
        }
        for call in calls where try queue.request(call.id, in: database) != nil {
            count += try store.cancel([call.id], withAllOthers: true, in: database)
        }
        // Parts go before their parents, whose creation takes them along.
        count += try store.takingBack(withAllOthers: true, in: database) { _ in free.sorted(by: Self.isBefore) }
        for row in rows {
            guard let table = store.mapping.tables[row.set] else { continue }
            if try Rows.owner(table, rowID: row.rowID, in: database) == nil {
                try ReplayCounters.remove(row, in: database)
            }
        }
        return count
    }

    private static func isBefore(_ one: RowReference, _ other: RowReference) -> Bool {
        (one.set, one.rowID) < (other.set, other.rowID)
    }
}
