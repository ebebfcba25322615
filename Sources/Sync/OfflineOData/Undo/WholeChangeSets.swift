import GRDB

/// Sees to it that what was made together is taken back together or not at all.
struct WholeChangeSets {
    let cancelling: Cancelling

    private var queue: QueueTable { cancelling.queue }

    /// Takes requests back, and leaves no change set in part.
    ///
    /// - Parameters:
    ///   - takesOthers: whether the others of a change set go too.
    ///   - body: takes requests back.
    /// - Returns: the others that went.
    /// - Throws: ``OfflineError/inChangeSet(name:others:)`` where others would stay;
    ///   ``OfflineError/alreadySent(request:)`` where one of them is on its way; what the closure throws.
    func keep(
        takingOthers takesOthers: Bool, in database: Database, _ body: () throws -> Void
    ) throws -> [QueuedRequest] {
        let changeSets = try QueueTable.changeSets(in: database)
        try body()
        var others: [QueuedRequest] = []
        var left = changeSets
        // Taking some back may take others back, of other change sets.
        while let (name, rest) = try firstInPart(of: left, in: database) {
            guard takesOthers else { throw OfflineError.inChangeSet(name: name, others: rest) }
            left[name] = nil
            // The newest first, so that each one leaves what the ones before it made.
            for id in rest.reversed() {
                guard let request = try queue.request(id, in: database) else { continue }
                try cancelling.cancel(request, in: database)
                others.append(request)
            }
        }
        return others
    }

    /// A change set of which some requests are gone and others are not, with those that are not.
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
