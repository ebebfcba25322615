import GRDB
import ODataModel
import ODataService

/// Carries out the decision over an answer.
extension UploadStep {
    /// Decides over the answers to a unit, and carries the decision out.
    func take(_ answers: Answers, to sent: Sent) async throws -> Next {
        let (unit, error) = (sent.unit, answers.error)
        var facts = sent.facts
        if let error { facts.canSendWhole = try await learn(from: error, sent) }
        var verdict = Verdict.of(answers.answer, facts)
        if verdict == .lookForTraces, let error {
            if let outcome = try await step(of: unit).settle(refused: error) { return .done(outcome) }
            facts.hasNoTraces = true
            verdict = Verdict.of(answers.answer, facts)
        }
        let mayHaveActed = error.map(facts.mayHaveActed(beside:)) ?? facts.wasSent
        var look = Look()
        if let error, verdict.asksService {
            try await uploader.noteRefusal(of: unit, wasSent: mayHaveActed)
            look = try await self.look(at: unit, after: error, verdict, facts)
            verdict = look.finding.map { Verdict.of($0, after: error, facts) } ?? verdict
        }
        switch verdict {
        case .accepted:
            if let response = look.response {
                // The earlier transmission acted and changed the ETag.
                let isRepeat = facts.content == .single(.update)
                return .done(try await accept(unit, [response], isRepeat: isRepeat))
            }
            return .done(
                try await accept(
                    unit, answers.responses, seen: sent.seen, isRepeat: facts.wasSent,
                    learned: Learned(
                        wereIdentified: sent.isIdentified, wholeSets: sent.wholeSets,
                        takesReferences: facts.references == .untried)))
        case .alreadySo: return .done(try await acceptAsDone(look.done, of: unit, wasSent: mayHaveActed))
        case .refused: return .done(try await archive(unit, .refused, answers))
        case .waits: return .done(try await uploader.setAside(unit, error ?? uploader.doubt, wasSent: mayHaveActed))
        case .inDoubt(let doubt): return .done(try await archive(unit, .inDoubt, answers, doubt))
        case .interrupted(let acted):
            if !acted { try await uploader.putBack(unit, wasSent: mayHaveActed) }
            throw error ?? uploader.doubt
        case .sendAgain(let change):
            return try await sendAgain(unit, change, error, look, wasSent: mayHaveActed)
        case .sendIndividually(let reason): return .done(try await sendIndividually(unit, reason))
        case .conflict: return try await step(of: unit).resolve(look.conflicts, error, wasSent: mayHaveActed)
        case .lookForTraces, .lookAtVersions, .lookForRelation:
            // Each question is answered above, so that none is left.
            return .done(try await archive(unit, .inDoubt, answers, .unknown))
        }
    }

    /// The same step for the requests as they were sent.
    private func step(of unit: UploadUnit) -> UploadStep {
        UploadStep(uploader: uploader, unit: unit, strategy: strategy)
    }

    /// Remembers the facts about the service that a refusal shows.
    ///
    /// - Returns: whether single properties were sent that can be sent as whole entities.
    /// - Throws: the error of a service that is not reached: a proxy or gateway answered in its place.
    private func learn(from refusal: ODataError, _ sent: Sent) async throws -> Bool {
        if sent.facts.isRepeatable == nil, refusal.repeatabilityResult == .accepted {
            try await uploader.write { try ServiceKnowledge.setRepeatable(true, in: $0) }
        }
        if unit.isSingle, refusal.isNotFound {
            do {
                try await uploader.confirm(refusal)
            } catch {
                // The service was not reached, so that nothing was decided.
                try await uploader.putBack(sent.unit, wasSent: sent.facts.mayHaveActed(beside: refusal))
                throw error
            }
        }
        guard [405, 501].contains(refusal.status) else { return false }
        return try await !uploader.untriedWholeSets(of: sent.unit, refusal, strategy).isEmpty
    }

    private func archive(
        _ unit: UploadUnit, _ state: QueuedRequest.State, _ answers: Answers, _ doubt: Verdict.Doubt? = nil
    ) async throws -> Uploader.Outcome {
        let error = answers.error ?? uploader.doubt
        let message =
            switch doubt {
            case .forgotten where unit.isSingle: "The service no longer remembers whether this request acted."
            case .forgotten: "The service no longer remembers whether these requests acted."
            case .partlyRefused:
                "The service took a part of the change set and refused another: \(error.message)"
            case .partlyAnswered: "The service answered the change set in part."
            case .notDone, .unreadable, .unknown, nil: error.message
            }
        return try await uploader.archive(unit, state, error, message: message)
    }

    /// Removes requests from the queue whose effect the service already has.
    ///
    /// - Parameter ids: these requests of a change set; the rest is sent without them. `nil` for all.
    private func acceptAsDone(
        _ ids: Set<Int64>?, of unit: UploadUnit, wasSent: Bool
    ) async throws -> Uploader.Outcome {
        if !unit.isSingle { try await uploader.putBack(unit, wasSent: wasSent) }
        return .accepted(
            try await uploader.write { [uploader] database in
                try unit.requests.filter { request in
                    // It may have been undone while the service was asked.
                    guard ids?.contains(request.id) ?? true,
                        try uploader.outcomes.queue.request(request.id, in: database) != nil
                    else { return false }
                    try uploader.outcomes.accept(request, theirs: nil, etag: nil, in: database)
                    return true
                }
            })
    }

    /// Sends a unit again in another form.
    private func sendAgain(
        _ unit: UploadUnit, _ change: Verdict.Change, _ error: ODataError?, _ look: Look, wasSent: Bool
    ) async throws -> Next {
        var strategy = strategy
        switch change {
        case .withoutRepeatability:
            try await uploader.write { [uploader] database in
                try ServiceKnowledge.setRepeatable(false, in: database)
                // If it may have acted, the service is asked for its traces first.
                guard !wasSent else { return }
                for request in unit.requests {
                    try uploader.outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                }
            }
        case .withoutIdentification:
            // Should this answer get lost, the time of the first transmission tells of the doubt.
            strategy.isIdentified = false
        case .withWholeEntities:
            // The support for repeats is stored once the service has accepted one. If the first response is lost,
            // the request may have acted, and is treated like any other repeat.
            if let error {
                strategy.wholeSets.formUnion(try await uploader.untriedWholeSets(of: unit, error, strategy))
            }
        case .withAnyVersion: strategy.takesAnyVersion = true
        case .withFoundVersion: strategy.foundETag = look.foundETag
        }
        return .again(wasSent ? unit : unit.asPending, strategy)
    }

    /// Puts the requests of a change set back, to be sent one by one.
    func sendIndividually(_ unit: UploadUnit, _ reason: Verdict.Reason) async throws -> Uploader.Outcome {
        try await uploader.write { [uploader] database in
            switch reason {
            case .noChangeSets(let isCertain):
                if isCertain { try ServiceKnowledge.setChangeSets(false, in: database) }
                for request in unit.requests {
                    try uploader.outcomes.queue.markPending(request.id, forgetsIdentification: true, in: database)
                }
            case .noReferences(let isCertain):
                if isCertain { try ServiceKnowledge.setBind(false, in: database) }
                try takeApart(unit, in: database)
            }
        }
        return reason == .noChangeSets(isCertain: false) ? .sendIndividually : .requeued
    }

    /// Splits a change set whose references the service does not accept. Each of its requests waits for the
    /// earlier ones, and is sent with the keys that the service assigned to them.
    private func takeApart(_ unit: UploadUnit, in database: Database) throws {
        let queue = uploader.outcomes.queue
        let dependencies = QueueDependencies(queue: queue)
        var earlier: Set<Int64> = []
        for request in unit.requests {
            try queue.markPending(request.id, forgetsIdentification: true, in: database)
            // A request that was mended may wait for a later one.
            let free = try earlier.filter { try !dependencies.anyWaits([$0], for: request.id, in: database) }
            try queue.leaveChangeSet(request.id, in: database)
            try dependencies.set(free.union(request.dependsOn), of: request.id, in: database)
            earlier.insert(request.id)
        }
    }
}

extension Verdict {
    /// Whether the service is asked before the decision is made, or the conflict policy: should the process end
    /// meanwhile, the queue says that the unit has not acted.
    fileprivate var asksService: Bool {
        switch self {
        case .lookAtVersions, .lookForRelation, .conflict, .sendAgain(.withWholeEntities), .sendAgain(.withAnyVersion):
            true
        case .accepted, .alreadySo, .refused, .waits, .inDoubt, .interrupted, .sendAgain, .sendIndividually,
            .lookForTraces:
            false
        }
    }
}
