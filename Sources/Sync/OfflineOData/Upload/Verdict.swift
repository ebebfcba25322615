import ODataService

/// A decision about a unit, made from the facts about it and the answer of the service. ``UploadStep`` carries it
/// out.
///
/// The functions of this type are pure. They neither ask the service nor read the store: if a decision needs
/// another fact, the verdict says which one is to be looked for, and a second function decides with it.
enum Verdict: Hashable, Sendable {
    /// The service made the changes.
    case accepted
    /// The service already has the requested state: the entity is deleted, or the relation exists.
    case alreadySo
    /// The changes go to the error archive. They did not act.
    case refused
    /// The service does not take the changes for now (RFC 4918, 11.3). They stay in the queue with the reason, and a
    /// later upload sends them again. The rest of this upload goes on without them.
    case waits
    /// The changes go to the error archive with an unknown outcome.
    case inDoubt(Doubt)
    /// The upload ends with the error of the service. The requests stay marked as sent if they may have acted,
    /// else they are put back into the queue.
    case interrupted(mayHaveActed: Bool)
    /// The unit is sent again in another form.
    case sendAgain(Change)
    /// The requests of the change set are sent one by one.
    case sendIndividually(Reason)
    /// The service is asked which of the changes are there (``of(traces:)``).
    case lookForTraces
    /// The service is asked for the current versions of the entities (``of(_:after:_:)``).
    case lookAtVersions
    /// The service is asked for the relation (``of(_:after:_:)``).
    case lookForRelation
    /// Other clients changed or deleted the entities: the conflict policy decides.
    case conflict

    /// The reason for an unknown outcome.
    enum Doubt: Hashable, Sendable {
        /// The answer says neither that the changes were made nor that they were refused.
        case notDone
        /// The answer cannot be read.
        case unreadable
        /// The service took a part of a change set and refused another part.
        case partlyRefused
        /// The service answered a part of a change set.
        case partlyAnswered
        /// The service does not remember the request any more (rule 2).
        case forgotten
        /// The service says itself that it cannot tell (``ODataError/repeatInDoubt``), or the current entities cannot.
        case unknown
    }

    /// The change of the form in which a unit is sent.
    enum Change: Hashable, Sendable {
        /// Without identification from now on: the service does not know repeatable requests.
        case withoutRepeatability
        /// Without identification this time: its window has passed.
        case withoutIdentification
        /// With whole entities instead of single properties.
        case withWholeEntities
        /// With `If-Match: *`.
        case withAnyVersion
        /// With the ETag of the current entity.
        case withFoundVersion
    }

    /// The reason why the requests of a change set are sent one by one.
    enum Reason: Hashable, Sendable {
        /// The service has no batch requests, or none with change sets. Whether that is certain: else something
        /// on the way may have answered, and the next upload tries again.
        case noChangeSets(isCertain: Bool)
        /// The service takes no references to entities of the same change set.
        case noReferences(isCertain: Bool)
    }
}

extension Verdict {
    /// The facts about a unit and its transmission that decide over an answer.
    struct Facts: Hashable, Sendable {
        /// The content of the unit.
        enum Content: Hashable, Sendable {
            case single(QueuedRequest.Kind)
            case changeSet(isHarmfulTwice: Bool)
        }

        /// The version that guards a single request.
        enum Version: Hashable, Sendable, CaseIterable {
            /// No version is known.
            case none
            /// The ETag of the version that the change was made of.
            case own
            /// The ETag of the current entity, which has the values that the change was made of.
            case found
        }

        /// References in the bodies of a change set to entities that it creates.
        enum References: Hashable, Sendable, CaseIterable {
            /// There are none.
            case none
            /// It is not known whether the service takes them.
            case untried
            /// The service took some before.
            case known
            /// The service refused some before, but the unit was sent with them already.
            case refused
        }

        var content: Content
        /// Whether the service recognises repeats; `nil` if that is not known.
        var isRepeatable: Bool?
        var version = Version.none
        /// Whether the unit was sent before and its outcome is unknown.
        var wasSent: Bool
        /// Whether a single request calls an action in place of a change.
        var callsAction = false
        /// Whether another copy of the store may have sent the unit (rule 10).
        var isCopy = false
        /// Whether single properties were sent that can be sent as whole entities.
        var canSendWhole = false
        /// Whether the unit was sent with `If-Match: *`.
        var tookAnyVersion = false
        var references = References.none
        /// Whether the service was asked for traces of the first transmission, and has none.
        var hasNoTraces = false

        /// Whether the unit may have acted in an earlier transmission, beside an answer. The refusal of a service
        /// that recognises the repeat is the refusal of the first transmission as well.
        func mayHaveActed(beside error: ODataError) -> Bool {
            wasSent && !hasNoTraces && (isRepeatable != true || error.repeatabilityResult != .accepted)
        }

        fileprivate var isHarmfulTwice: Bool {
            switch content {
            case .single(let kind): kind.isHarmfulTwice || callsAction
            case .changeSet(let isHarmfulTwice): isHarmfulTwice
            }
        }

        fileprivate var kind: QueuedRequest.Kind? { if case .single(let kind) = content { kind } else { nil } }
    }

    /// The answer of the service to a unit.
    enum Answer: Hashable, Sendable {
        /// All requests were accepted.
        case accepted
        /// The error describes an answer that is neither a success nor a refusal, such as 202 or 304.
        case notDone(ODataError)
        /// All requests were refused.
        case refused(ODataError)
        /// The batch request itself was refused.
        case batchRefused(ODataError)
        /// Some requests were accepted, and some refused.
        case partlyRefused(ODataError)
        /// Fewer requests were answered than sent.
        case partlyAnswered
        /// The answer cannot be read.
        case unreadable(ODataError)
    }

    /// Decides over an answer.
    static func of(_ answer: Answer, _ facts: Facts) -> Verdict {
        switch answer {
        case .accepted: .accepted
        // 202 leaves the outcome to a later answer.
        case .notDone(let error): error.status == 202 || facts.wasSent ? .inDoubt(.notDone) : .refused
        case .unreadable: .inDoubt(.unreadable)
        case .partlyRefused: .inDoubt(.partlyRefused)
        case .partlyAnswered: .inDoubt(.partlyAnswered)
        case .batchRefused(let error) where [404, 405, 415, 501].contains(error.status):
            of(refusedBatch: error, facts)
        case .refused(let error), .batchRefused(let error):
            of(repeatability: error, facts) ?? of(communication: error, facts) ?? of(refusal: error, facts)
        }
    }

    /// Decides over a batch request that the service has no place for: its requests may be sent one by one.
    private static func of(refusedBatch error: ODataError, _ facts: Facts) -> Verdict {
        let isCertain = [405, 501].contains(error.status) || !error.code.isEmpty
        // A service that recognises repeats knows the unit by its identification, and not by the one of single
        // requests.
        guard !facts.wasSent || facts.isRepeatable != true || facts.hasNoTraces else {
            return isCertain ? .lookForTraces : .interrupted(mayHaveActed: true)
        }
        return .sendIndividually(.noChangeSets(isCertain: isCertain))
    }

    /// Decides over a refusal that is about the identification of the request (rule 2); `nil` for any other.
    private static func of(repeatability error: ODataError, _ facts: Facts) -> Verdict? {
        guard error.repeatabilityResult == .rejected else { return nil }
        switch error.status {
        case 501 where facts.isRepeatable != false: return .sendAgain(.withoutRepeatability)
        case 412:
            // A unit that never left before did not act: the clock of the device is behind by more than the
            // service remembers.
            let isFirst = !facts.mayHaveActed(beside: error) && !facts.isCopy && facts.isRepeatable != false
            return isFirst ? .sendAgain(.withoutIdentification) : .inDoubt(.forgotten)
        default: return nil
        }
    }

    /// Decides over an answer of something on the way to the service; `nil` for an answer of the service.
    private static func of(communication error: ODataError, _ facts: Facts) -> Verdict? {
        guard error.isOfCommunication else { return nil }
        return .interrupted(mayHaveActed: error.mayHaveActed)
    }

    /// Decides over a refusal by the service.
    private static func of(refusal error: ODataError, _ facts: Facts) -> Verdict {
        // A unit that may have acted stays marked as sent: the next transmission tells.
        if error.isLocked { return .waits }
        if facts.mayHaveActed(beside: error), facts.isRepeatable == true, facts.isHarmfulTwice, !error.isRepeatInDoubt {
            // The service recognises repeats and does not say that it recognised this one. Something on the way
            // may have refused it, or the service before it looked.
            return .lookForTraces
        }
        switch facts.content {
        case .single(let kind): return of(refusal: error, single: kind, facts)
        case .changeSet: return of(refusalOfChangeSet: error, facts)
        }
    }

    private static func of(
        refusal error: ODataError, single kind: QueuedRequest.Kind, _ facts: Facts
    ) -> Verdict {
        switch (error.status, kind) {
        case (404, .delete), (410, .delete), (404, .unlink), (410, .unlink): .alreadySo
        case (404, .update), (410, .update): .conflict
        case (405, .update) where facts.canSendWhole, (501, .update) where facts.canSendWhole:
            .sendAgain(.withWholeEntities)
        // It may exist already, by an earlier transmission or by another client.
        case (400, .link), (409, .link): .lookForRelation
        case (409, _) where error.isRepeatInDoubt: .inDoubt(.unknown)
        case (412, .call) where facts.version != .none: .lookAtVersions
        // A relation has no version; that of the entity from which it starts is not the one that the relation was
        // made of.
        case (428, .link) where !facts.tookAnyVersion, (428, .unlink) where !facts.tookAnyVersion:
            .sendAgain(.withAnyVersion)
        case (412, .create), (412, .update), (412, .delete), (412, .stream), (428, .create), (428, .update),
            (428, .delete), (428, .stream):
            .lookAtVersions
        default: .refused
        }
    }

    private static func of(refusalOfChangeSet error: ODataError, _ facts: Facts) -> Verdict {
        switch error.status {
        case 409 where error.isRepeatInDoubt: .inDoubt(.unknown)
        case 404, 410, 412, 428: .lookAtVersions
        case 400 where facts.references == .untried || facts.references == .refused:
            .sendIndividually(.noReferences(isCertain: false))
        case 405 where facts.canSendWhole, 501 where facts.canSendWhole: .sendAgain(.withWholeEntities)
        case 501 where facts.references != .none: .sendIndividually(.noReferences(isCertain: true))
        default: .refused
        }
    }
}

extension Verdict {
    /// The state of a unit at the service, found after a refusal.
    enum Finding: Hashable, Sendable, CaseIterable {
        /// The service answers with something that cannot be read.
        case unreadable
        /// The service has the requested state: the entity is deleted, or the relation exists.
        case asAsked
        /// The service has the version that the changes were made of.
        case unchanged
        /// The service has the values of the change.
        case ours
        /// The service has another version, or none.
        case other
    }

    /// Decides over a refusal with the state of the unit at the service.
    static func of(_ finding: Finding, after error: ODataError, _ facts: Facts) -> Verdict {
        switch (finding, facts.kind) {
        case (.asAsked, _): .alreadySo
        case (_, .link), (_, .unlink): error.isRepeatInDoubt ? .inDoubt(.unknown) : .refused
        case (.unreadable, _), (.unchanged, .call): .refused
        case (.unchanged, nil):
            // A later request of the set needs the version that an earlier one makes, and that nobody knows yet.
            error.status == 428 && !facts.tookAnyVersion ? .sendAgain(.withAnyVersion) : .refused
        case (.unchanged, _) where error.status == 428 && facts.version == .none: .sendAgain(.withFoundVersion)
        case (.ours, _) where facts.mayBeOurs(beside: error): .accepted
        case (.unchanged, _), (.ours, _), (.other, _): .conflict
        }
    }

    /// The evidence about one request with a lost response: does the service show that the request acted?
    enum Trace: Hashable, Sendable {
        /// The service has the result of the request.
        case made
        /// The entity is gone that the request deletes, by this request or by another client.
        case deleted
        /// The service does not have the result of the request.
        case notMade
        /// The evidence is missing, but a repeat does no harm: it has the same effect, or its ETag guards it.
        case harmless
        /// The evidence is missing.
        case unknown
    }

    /// The conclusion from the traces of a unit with a lost response (rule 1).
    enum Conclusion: Hashable, Sendable {
        /// The unit acted.
        case acted
        /// It did not act, or a repeat does no harm.
        case sendAgain
        /// The evidence is missing or contradictory.
        case unknown
    }

    /// Concludes from the traces of all requests of a unit whether it acted: all of them did, or none.
    static func of(traces: [Trace]) -> Conclusion {
        let telling = traces.filter { $0 != .harmless && $0 != .unknown }
        if telling.isEmpty { return traces.allSatisfy { $0 == .harmless } ? .sendAgain : .unknown }
        if telling.allSatisfy({ $0 == .notMade }) { return .sendAgain }
        guard !telling.contains(.notMade) else { return .unknown }
        // Other clients may have deleted the same entities. If the unit does nothing else, that comes to the same.
        return telling.contains(.made) || traces.allSatisfy { $0 == .deleted } ? .acted : .unknown
    }
}

extension Verdict.Facts {
    /// Whether an entity that has the values of the change can be the work of an earlier transmission.
    func mayBeOurs(beside error: ODataError) -> Bool {
        guard isRepeatable != true, mayHaveActed(beside: error) else { return false }
        return kind == .update || kind == .stream
    }
}

extension ODataError {
    /// The code of Outpost's server if it ended while it executed the request and the rows were changed since.
    static let repeatInDoubt = "RepeatInDoubt"

    var isRepeatInDoubt: Bool { code == Self.repeatInDoubt }

    /// Whether nothing was decided: the way to the service or its gate was closed for now.
    var isOfCommunication: Bool { [401, 407, 408, 429, 502, 503, 504].contains(status) }

    /// Whether somebody else has locked an entity for now, such as a user who edits it.
    var isLocked: Bool { status == 423 }

    /// Whether something on the way answered for a service that may have acted all the same. A service that names
    /// a time to come again did not let the request in.
    var mayHaveActed: Bool { [408, 502, 504].contains(status) || status == 503 && retryAfter == nil }
}
