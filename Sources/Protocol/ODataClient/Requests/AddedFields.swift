import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// The header fields that the client adds to requests by itself, and those that a service was found to refuse (rule 39).
///
/// A read that is refused is repeated without them, whatever the status; a change only after a refusal that proves that it did
/// not act. Fields that an app gives are never left out.
final class AddedFields: Sendable {
    /// Fields that are left out together.
    enum Group: CaseIterable {
        /// The versions, and the ids and tokens of the client.
        case versions
        /// `Accept`.
        case accept
        /// Preferences, and what identifies a repeat; of changes alone, since reads carry those that the caller asked for.
        case preferences
    }

    /// How many times a field must have been refused where the same request without it succeeded.
    static let refusalsToLearn = 2
    /// How long a learned refusal counts.
    static let memory = Duration.seconds(7 * 86_400)
    /// The statuses of a change that prove that it did not act, if an OData error comes with them.
    static let proofs: Set = [400, 406, 415, 417, 501]
    /// The statuses that have nothing to do with the fields: who asks, and how often.
    private static let unrelated: Set = [401, 407, 429]
    /// The statuses of gateways and busy services, which are not asked more often than it takes.
    private static let ofCommunication: Set = [502, 503, 504]

    private struct Refusal {
        var count = 0
        var latest: ContinuousClock.Instant
    }

    private struct State {
        /// The kinds of requests that were accepted with all fields.
        var accepted: Set<String> = []
        /// The kinds of requests that were refused with and without the fields alike.
        var futile: Set<String> = []
        var refusals: [Group: Refusal] = [:]
    }

    private let state = Mutex(State())
    private let token: HTTPField.Name
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter token: the field by which a token is asked for.
    init(token: HTTPField.Name, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.token = token
        self.now = now
    }

    /// The groups that a service was found to refuse.
    var refused: Set<Group> {
        let now = now()
        return state.withLock { state in
            Set(
                state.refusals.filter {
                    $0.value.count >= Self.refusalsToLearn && now - $0.value.latest < Self.memory
                }.keys)
        }
    }

    /// A message without the fields of some groups.
    ///
    /// - Parameter given: the fields that the app gave, which stay.
    func message(_ message: HTTPRequest, without groups: Set<Group>, given: Set<HTTPField.Name>) -> HTTPRequest {
        guard !groups.isEmpty else { return message }
        var result = message
        for group in groups {
            for name in names(of: group, message) where !given.contains(name) { result.headerFields[name] = nil }
        }
        return result
    }

    /// What a refused message is sent without, one attempt after the other.
    func attempts(
        after response: HTTPResponse, to message: HTTPRequest, given: Set<HTTPField.Name>
    ) -> [Set<Group>] {
        let status = response.status.code
        guard status >= 400, !Self.unrelated.contains(status), response.headerFields[.retryAfter] == nil else {
            return []
        }
        // The service refuses the identification itself. The sender that gave it decides whether the request is sent again.
        guard response.headerFields[.repeatabilityResult] != RepeatabilityResult.rejected.rawValue else { return [] }
        let kind = Self.kind(message)
        let isKnown = state.withLock { $0.accepted.contains(kind) || $0.futile.contains(kind) }
        guard !isKnown else { return [] }
        let present = Group.allCases.filter { group in
            names(of: group, message).contains { message.headerFields[$0] != nil && !given.contains($0) }
        }
        guard !present.isEmpty else { return [] }
        guard message.isReading else { return Self.proofs.contains(status) ? [Set(present)] : [] }
        guard !Self.ofCommunication.contains(status) else { return [Set(present)] }
        var attempts = present.map { Set([$0]) }
        if present.count > 1 { attempts.append(Set(present)) }
        return attempts
    }

    /// Notes that a message was accepted, without the fields of some groups where it was refused with them.
    func noteAccepted(_ message: HTTPRequest, without groups: Set<Group> = []) {
        let (kind, now) = (Self.kind(message), self.now())
        state.withLock { state in
            guard !groups.isEmpty else {
                state.accepted.insert(kind)
                return
            }
            for group in groups {
                state.refusals[group] = Refusal(count: (state.refusals[group]?.count ?? 0) + 1, latest: now)
            }
        }
    }

    /// Notes that a message was refused with and without the fields alike.
    func noteFutile(_ message: HTTPRequest) {
        let kind = Self.kind(message)
        state.withLock { _ = $0.futile.insert(kind) }
    }

    private func names(of group: Group, _ message: HTTPRequest) -> [HTTPField.Name] {
        switch group {
        case .versions:
            let versions: [HTTPField.Name] = [
                .odataVersion, .odataMaxVersion, .dataServiceVersion, .maxDataServiceVersion, .requestID,
                .correlationID,
            ]
            return message.isReading ? versions + [token] : versions
        case .accept: return [.accept]
        case .preferences:
            guard !message.isReading else { return [] }
            return [.prefer, .repeatabilityRequestID, .repeatabilityFirstSent, .repeatabilityClientID]
        }
    }

    /// Requests whose added fields a service treats alike.
    private static func kind(_ message: HTTPRequest) -> String {
        "\(message.isReading ? "read" : message.method.rawValue) \(message.headerFields[.accept] ?? "")"
    }
}
