import ODataHTTP
import ODataModel
import ODataService

/// One transmission of a unit: the checks before it, the transmission, and the decision over the answer (rules 1 to 7).
struct UploadStep: Sendable {
    let uploader: Uploader
    let unit: UploadUnit
    let strategy: SendStrategy

    /// The result of a transmission.
    enum Next {
        /// The unit is sent again.
        case again(UploadUnit, SendStrategy)
        /// The upload is done with the unit.
        case done(Uploader.Outcome)
    }

    /// A transmission that was answered.
    struct Sent: Sendable {
        /// The requests as they were sent.
        let unit: UploadUnit
        var facts: Verdict.Facts
        /// The entities as they were at the service before, if it was asked.
        let seen: [RowReference: ODataEntity]
        /// The entity sets of which whole entities were sent instead of single properties.
        let wholeSets: Set<String>
        /// Whether all requests carried an identification by which a repeat is recognised.
        let isIdentified: Bool
    }

    /// Sends the unit once.
    ///
    /// - Throws: errors of the way to the service; the requests stay queued.
    func run() async throws -> Next {
        let isRepeatable = try await uploader.database.read { [uploader, strategy] database in
            strategy.isIdentified
                ? try ServiceKnowledge.isRepeatable(model: uploader.mapping.model, in: database) : false
        }
        let wasSent = unit.mayHaveActed
        var seen: [RowReference: ODataEntity] = [:]
        do {
            if wasSent, isRepeatable != true, let outcome = try await settle() { return .done(outcome) }
            if !wasSent || isRepeatable != true {
                let found = try await uploader.comparisons(before: unit)
                if let error = unit.requests.lazy.compactMap({ found.conflicts[$0.id]?.error }).first {
                    return try await resolve(found.conflicts, error, wasSent: wasSent)
                }
                seen = found.seen
            }
        } catch {
            // An entity cannot be looked at, and will not be the next time: the rest of the queue must not wait
            // for that.
            return .done(try await archive(error, of: unit, wasSent: wasSent))
        }
        var found = Uploader.etags(of: seen, guarding: unit.requests)
        if let etag = strategy.foundETag { found[unit.id] = etag }
        guard let marked = try await uploader.mark(unit, found: found) else { return .done(.requeued) }
        let message: Uploader.Message
        do {
            message = try await uploader.message(for: marked, isRepeatable: isRepeatable, strategy)
        } catch {
            guard uploader.refusal(error, of: marked) != nil else {
                // Nothing has left yet.
                try await uploader.putBack(marked, wasSent: wasSent, wasTransmitted: false)
                throw error
            }
            return .done(try await archive(error, of: marked, wasSent: wasSent))
        }
        // A unit that was sent before is sent as it was: the service may recognise it by that.
        if message.needsSingleRequests, !wasSent {
            return .done(try await sendIndividually(marked, .noReferences(isCertain: false)))
        }
        let sent = Sent(
            unit: marked,
            facts: Verdict.Facts(
                content: marked.content, isRepeatable: isRepeatable,
                version: strategy.foundETag != nil ? .found : marked.requests[0].etag != nil ? .own : .none,
                wasSent: wasSent, callsAction: marked.requests[0].options.action != nil,
                isCopy: uploader.origin.isCopy,
                tookAnyVersion: strategy.takesAnyVersion,
                references: message.references),
            seen: seen, wholeSets: message.wholeSets.intersection(strategy.wholeSets),
            isIdentified: message.isIdentified)
        let answers: Answers
        do {
            answers = try await uploader.transmit(message, of: marked, wasSent: wasSent)
        } catch let error as Uploader.Unsent {
            try await uploader.putBack(marked, wasSent: wasSent, wasTransmitted: false)
            throw error.reason
        }
        // Any other error leaves the requests marked as sent: the next upload settles their outcome.
        return try await take(answers, to: sent)
    }

    /// Puts a unit into the archive that the service or its model refuses, so that trying again will not change it. A
    /// unit with a locked entity stays in the queue.
    ///
    /// - Throws: any other error.
    private func archive(
        _ error: any Error, of unit: UploadUnit, wasSent: Bool
    ) async throws -> Uploader.Outcome {
        guard let refusal = uploader.refusal(error, of: unit) else { throw error }
        if refusal.isLocked { return try await uploader.setAside(unit, refusal, wasSent: wasSent) }
        return try await uploader.archive(unit, wasSent ? .inDoubt : .refused, refusal, message: refusal.message)
    }
}
