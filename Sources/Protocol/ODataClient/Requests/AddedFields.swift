import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// The header fields that the client itself adds to requests, and those that the service is known to refuse
/// (rule 39).
///
/// A refused read is repeated without them, whatever the status. A refused change is repeated only if the
/// refusal proves that it had no effect. Fields that the app has set are never left out.
final class AddedFields: Sendable {
    /// The groups of fields that are left out together.
    enum Group: CaseIterable {
        /// The protocol versions, the request id, the correlation id and, for reads, the token field.
        case versions
        case accept
        /// The preferences and the identification of repeatable requests. They are left out of changes only,
        /// because reads carry the preferences of the caller.
        case preferences
        /// The name of the client and, for reads, the codings that the transport unpacks. They are left out in the last
        /// attempt of a read alone.
        case transport
    }

    /// The number of refusals after which a group is left out from the start. A refusal counts if the same
    /// request succeeded without the group.
    static let refusalsToLearn = 2
    /// The time for which a learned refusal is remembered.
    static let memory = Duration.seconds(7 * 86_400)
    /// The statuses that prove that a refused change had no effect, if the response contains an OData error.
    static let proofs: Set = [400, 406, 415, 417, 501]
    /// The statuses that are not caused by header fields: authentication and rate limits.
    private static let unrelated: Set = [401, 407, 429]
    /// The statuses of gateways and busy services, which should receive as few repeats as possible.
    private static let ofCommunication: Set = [502, 503, 504]

    private struct Refusal {
        var count = 0
        var latest: ContinuousClock.Instant
    }

    private struct State {
        /// The kinds of requests that were accepted with all fields.
        var accepted: Set<String> = []
        /// The kinds of requests that were refused both with and without the fields.
        var futile: Set<String> = []
        var refusals: [Group: Refusal] = [:]
    }

    private let state = Mutex(State())
    private let token: HTTPField.Name
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter token: The field with which a token is requested.
    init(token: HTTPField.Name, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.token = token
        self.now = now
    }

    /// The groups that the service is known to refuse.
    var refused: Set<Group> {
        let now = now()
        return state.withLock { state in
            Set(
                state.refusals.filter {
                    $0.value.count >= Self.refusalsToLearn && now - $0.value.latest < Self.memory
                }.keys)
        }
    }

    /// Returns a message without the fields of some groups.
    ///
    /// - Parameter given: The fields that the app has set, which are kept.
    func message(_ message: HTTPRequest, without groups: Set<Group>, given: Set<HTTPField.Name>) -> HTTPRequest {
        guard !groups.isEmpty else { return message }
        var result = message
        for group in groups {
            for name in names(of: group, message) where !given.contains(name) { result.headerFields[name] = nil }
        }
        // Without the field, the transport would add its own.
        if groups.contains(.transport), message.isReading, !given.contains(.acceptEncoding) {
            result.headerFields[.acceptEncoding] = "identity"
        }
        return result
    }

    /// Returns the groups to leave out of a refused message, one set for each further attempt.
    func attempts(
        after response: HTTPResponse, to message: HTTPRequest, given: Set<HTTPField.Name>
    ) -> [Set<Group>] {
        let status = response.status.code
        guard status >= 400, !Self.unrelated.contains(status), response.headerFields[.retryAfter] == nil else {
            return []
        }
        // The service refuses the identification itself. The component that issued it decides about a repeat.
        guard response.headerFields[.repeatabilityResult] != RepeatabilityResult.rejected.rawValue else { return [] }
        let kind = Self.kind(message)
        let isKnown = state.withLock { $0.accepted.contains(kind) || $0.futile.contains(kind) }
        guard !isKnown else { return [] }
        let present = Group.allCases.filter { group in
            group != .transport
                && names(of: group, message).contains { message.headerFields[$0] != nil && !given.contains($0) }
        }
        guard !present.isEmpty else { return [] }
        guard message.isReading else { return Self.proofs.contains(status) ? [Set(present)] : [] }
        let all = Set(present + [.transport])
        guard !Self.ofCommunication.contains(status) else { return [all] }
        var attempts = present.map { Set([$0]) }
        if present.count > 1 { attempts.append(all) }
        return attempts
    }

    /// Records that a message was accepted; `groups` are the ones without which a refused message succeeded.
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

    /// Records that a message was refused both with and without the fields.
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
        case .transport: return message.isReading ? [.userAgent] : []
        }
    }

    /// Returns a key for requests whose added fields a service is expected to treat alike.
    private static func kind(_ message: HTTPRequest) -> String {
        "\(message.isReading ? "read" : message.method.rawValue) \(message.headerFields[.accept] ?? "")"
    }
}
