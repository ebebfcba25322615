import GRDB
import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// The state of the queue before and after a transmission.
extension Uploader {
    /// Makes sure that the service is still known to recognise repeats if another copy of the store may have sent
    /// the same request. A response without the header field revokes the confirmation (rule 39).
    func requireRecognisedRepeats() async throws {
        guard let reason = origin.holdReason else { return }
        let held = try await database.read { database in
            try ServiceKnowledge.isRepeatable(model: mapping.model, in: database) == true
                ? nil : try outcomes.queue.ids([.pending, .sending], in: nil, in: database).count
        }
        if let held { throw OfflineError.queueHeld(QueueHold(reason: reason, count: held)) }
    }

    /// Marks requests as on their way (rule 3), and counts that (rule 10). All of them are sent with the
    /// identification of the first (rule 2).
    ///
    /// - Parameter etags: the ETags of the current entities, by the numbers of the requests that have none of
    ///   their own. A repeat is guarded by the ETag of the first transmission: that may never have arrived, and
    ///   other clients have been there since.
    /// - Returns: `nil`, and none is marked, if one of them was undone while the service was asked about it.
    func mark(_ unit: UploadUnit, found etags: [Int64: String]) async throws -> UploadUnit? {
        let requests = unit.requests
        // The model may have to be fetched first. An interruption must not leave an unknown outcome for a request
        // that never left.
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
                let etag = etags[request.id] ?? (request.mayHaveActed ? request.foundETag : nil)
                if etag != request.foundETag {
                    try outcomes.queue.setFoundETag(etag, of: request.id, in: database)
                }
                // A request that is made anew has another identity, and another whole entity.
                if !request.mayHaveActed, request.sentEntity != nil {
                    try outcomes.queue.setSentEntity(nil, of: request.id, in: database)
                }
                return try outcomes.queue.request(request.id, in: database)
            }
            // Requests of a change set that were sent one by one before have identifications of their own.
            for index in marked.indices {
                marked[index].requestID = marked[0].requestID
                marked[index].firstSentField = marked[0].firstSentField
            }
            return (marked, try origin.count(in: database))
        }
        do throws(OfflineError) {
            if let count { try origin.incarnation.note(count) }
        } catch {
            // Nothing has left yet.
            try await putBack(unit, wasSent: unit.mayHaveActed, wasTransmitted: false)
            throw error
        }
        return marked.flatMap(unit.renewed)
    }

    /// The time of the first transmission of requests that leave now. If another copy of the store may have sent
    /// them, that may have been right after their creation, and the service must not take them for new requests
    /// (rule 2).
    private func firstSending(of requests: [QueuedRequest]) -> String {
        guard origin.isCopy, let made = requests.compactMap(\.createdAt?.seconds).min() else {
            return environment.httpDate
        }
        return HTTPDate.text(seconds: min(made, environment.now().seconds))
    }

    /// Puts a unit back that did not act in this transmission. A unit that was sent before may have acted then:
    /// it stays marked.
    ///
    /// - Parameter wasTransmitted: whether any part of it left: else the first transmission is still to come
    ///   (rule 2).
    func putBack(_ unit: UploadUnit, wasSent: Bool, wasTransmitted: Bool = true) async throws {
        guard !wasSent else { return }
        try await write { database in
            for request in unit.requests {
                if wasTransmitted {
                    try outcomes.queue.markPending(request.id, forgetsIdentification: false, in: database)
                } else {
                    try outcomes.queue.markUnsent(request.id, in: database)
                }
            }
        }
    }

    /// Keeps that a unit was refused while the service is asked why, or the app is asked for a decision. Should
    /// the process end meanwhile, it is known that the unit has not acted.
    ///
    /// - Parameter wasSent: whether the unit may have acted in an earlier transmission.
    func noteRefusal(of unit: UploadUnit, wasSent: Bool) async throws {
        guard !wasSent else { return }
        try await write { database in
            for request in unit.requests { try outcomes.queue.markUnacted(request.id, in: database) }
        }
    }
}
