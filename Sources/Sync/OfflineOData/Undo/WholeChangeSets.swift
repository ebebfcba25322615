import GRDB

/// Makes sure that the changes of a change set are undone together or not at all.
struct WholeChangeSets {
    let cancelling: Cancelling

    private var queue: QueueTable { cancelling.queue }

    /// Undoes requests, and leaves no change set incomplete.
    ///
    /// - Parameters:
    ///   - takesOthers: whether the other requests of a change set are undone too.
    ///   - body: undoes requests.
    /// - Returns: the other requests that were undone.
    /// - Throws: ``OfflineError/inChangeSet(name:others:)`` if other requests would stay;
    ///   ``OfflineError/alreadySent(request:)`` if one of them was sent; the errors of the closure.
    func keep(
        takingOthers takesOthers: Bool, in database: Database, _ body: () throws -> Void
    ) throws -> [QueuedRequest] {
        let changeSets = try QueueTable.changeSets(in: database)
        try body()
        var others: [QueuedRequest] = []
        var left = changeSets
        // An undo may affect requests of other change sets.
        while let (name, rest) = try firstInPart(of: left, in: database) {
            guard takesOthers else { throw OfflineError.inChangeSet(name: name, others: rest) }
            left[name] = nil
            // The newest first, so that each one leaves the result of the ones before it.
            for id in rest.reversed() {
                guard let request = try queue.request(id, in: database) else { continue }
                try cancelling.cancel(request, in: database)
                others.append(request)
            }
        }
        return others
    }

    /// An incomplete change set, with its remaining requests.
    private func firstInPart(
        of changeSets: [String: Set<Int64>], in database: Database
    ) throws -> (name: String, rest: [Int64])? {
        for (name, ids) in changeSets.sorted(by: { $0.key < $1.key }) {
            let rest = try queue.requests(ofChangeSet: name, in: database).map(\.id).filter(ids.contains)
            if !rest.isEmpty, rest.count < ids.count { return (name, rest) }
        }
        return nil
    }
}
