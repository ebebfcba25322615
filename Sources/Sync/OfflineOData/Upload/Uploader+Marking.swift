import GRDB
import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// What is kept in the store and noted outside of it before a request leaves.
extension Uploader {
    /// Makes sure that the service is still known to recognise repeats where another copy of the store may have sent the
    /// same: a response without the field takes the confirmation back (rule 39).
    func requireRecognisedRepeats() async throws {
        guard let reason = origin.holdReason else { return }
        let held = try await database.read { database in
            try ServiceKnowledge.isRepeatable(model: mapping.model, in: database) == true
                ? nil : try outcomes.queue.ids([.pending, .sending], in: nil, in: database).count
        }
        if let held { throw OfflineError.queueHeld(QueueHold(reason: reason, count: held)) }
    }

    /// Marks requests as on their way (rule 3), and counts that (rule 10). All of them are sent with the identification of the first
    /// (rule 2).
    ///
    /// - Parameter etags: those of what the service was found to have, by the numbers of the requests that have none of their
    ///   own. A repeat is guarded by what the first sending was: that may never have arrived, and others have been there since.
    /// - Returns: `nil`, and none is marked, where one of them was undone while the service was asked about it.
    func mark(_ requests: [QueuedRequest], found etags: [Int64: String]) async throws -> [QueuedRequest]? {
        // It may have to be fetched first, and what ends meanwhile must not leave a doubt about what never left.
        _ = try await remote.model
        let now = firstSending(of: requests)
        let (marked, count) = try await database.write { database -> ([QueuedRequest]?, StoreIncarnation.Count?) in
            let marks = requests.map { _ in "?" }.joined(separator: ",")
            let count = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM outpost_queue WHERE id IN (\(marks))",
                arguments: StatementArguments(requests.map(\.id)))
            guard count == requests.count else { return (nil, nil) }
            var marked = try requests.compactMap { request in
                try outcomes.queue.markSending(request.id, firstSent: now, in: database)
                let etag = etags[request.id] ?? (request.mayHaveActed ? request.detail.foundETag : nil)
                if etag != request.detail.foundETag {
                    try outcomes.queue.setFoundETag(etag, of: request.id, in: database)
                }
                // A request that is made anew has another identity, and another whole entity.
                if !request.mayHaveActed, request.detail.sentEntity != nil {
                    try outcomes.queue.setSentEntity(nil, of: request.id, in: database)
                }
                return try outcomes.queue.request(request.id, in: database)
            }
            for index in marked.indices { marked[index].requestID = marked[0].requestID }
            return (marked, try origin.count(in: database))
        }
        do throws(OfflineError) {
            if let count { try origin.incarnation.note(count) }
        } catch {
            // Nothing has left yet.
            try await putBack(requests, wasSent: requests.contains(where: \.mayHaveActed), wasTransmitted: false)
            throw error
        }
        return marked
    }

    /// The time of the first sending of requests that leave now: where another copy of the store may have sent them, that may have
    /// been as soon as they were made, and the service must not take them for new ones (rule 2).
    private func firstSending(of requests: [QueuedRequest]) -> String {
        guard origin.isCopy, let made = requests.compactMap({ ODataDateTimeOffset($0.createdAt)?.seconds }).min() else {
            return environment.httpDate
        }
        return HTTPDate.text(seconds: min(made, Int64(environment.now().rounded(.down))))
    }
}
