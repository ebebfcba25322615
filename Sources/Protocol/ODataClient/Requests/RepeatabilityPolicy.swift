import Foundation
import ODataHTTP
import ODataModel
import ODataService
import Synchronization

/// Whether changes carry an identification by which the service recognises a repeat
/// (OASIS Repeatable Requests 1.0).
public enum RepeatabilityPolicy: Hashable, Sendable {
    /// Never, unless a request brings its own.
    case off
    /// Where the service says that it recognises repeats: by `Org.OData.Repeatability.V1.Supported` in its metadata,
    /// or by `Repeatability-Result` in an answer.
    case whenSupported
    /// Every change carries an identification, unless its request opts out. The app vouches for the service: a change is sent
    /// again after a lost response, until the service refuses identifications or a response lacks the result.
    case always
}

/// Gives identifications to changes, and remembers whether the service takes them.
final class RepeatabilityIssuer: Sendable {
    private enum Support: Sendable {
        case unknown, supported, refused
        /// A response lacked its `Repeatability-Result`: a proxy on the way removes the fields.
        case lost
    }

    private let policy: RepeatabilityPolicy
    private let clientID: String?
    private let support = Mutex(Support.unknown)

    init(policy: RepeatabilityPolicy, clientID: String?) {
        self.policy = policy
        self.clientID = clientID
    }

    /// An identification for each change that has none and does not refuse one: of a batch its requests, one for all of a change set, since a
    /// service recognises those and not the batch. The same request with the same body never gets a second one, because
    /// this is called once for each.
    func identified(_ request: ODataRequest, model: EntityDataModel) -> ODataRequest {
        guard isWanted(model) else { return request }
        var groups: [String: Repeatability] = [:]
        return request.mappingChanges { change, group in
            guard change.repeatability == nil, !change.isUnidentified else { return change }
            var change = change
            change.repeatability = group.flatMap { groups[$0] } ?? issue()
            if let group { groups[group] = change.repeatability }
            return change
        }
    }

    private func issue() -> Repeatability {
        Repeatability(requestID: ODataGuid.random().description, firstSent: Self.now(), clientID: clientID)
    }

    /// Learns from the response to a request, of a batch from the responses to its requests. A response without
    /// `Repeatability-Result` to an identified change shows that something on the way takes the fields out.
    func take(_ response: ODataResponse, to request: ODataRequest) {
        var results = [response.repeatabilityResult]
        if case .batch(let answers) = response.body {
            results = answers.map {
                if case .success(let answer) = $0.result { answer.repeatabilityResult } else { nil }
            }
        }
        let isConfirmed = results.contains(.accepted)
        let isMissing = !isConfirmed && request.isIdentified && response.status < 300
        support.withLock { support in
            switch support {
            case .unknown where isConfirmed, .lost where isConfirmed: support = .supported
            case .unknown where isMissing, .supported where isMissing: support = .lost
            default: break
            }
        }
    }

    /// Learns from a refusal: one that says how the request was taken confirms that the service recognises repeats.
    func take(_ refusal: ODataError) {
        guard refusal.repeatabilityResult == .accepted else { return }
        support.withLock { if $0 != .refused { $0 = .supported } }
    }

    /// Learns that the service refused to recognise repeats (501 with `Repeatability-Result: rejected`).
    func takeRefusal() { support.withLock { $0 = .refused } }

    /// Whether a response has confirmed that the service recognises repeats, so that a change with a lost response can be sent
    /// again. The promise of its metadata does not count, since a proxy may take the fields out (rule 39); the word of the app
    /// counts until a response shows that.
    var isConfirmed: Bool {
        support.withLock { $0 == .supported || policy == .always && $0 == .unknown }
    }

    private func isWanted(_ model: EntityDataModel) -> Bool {
        let support = support.withLock { $0 }
        guard support != .refused else { return false }
        return switch policy {
        case .off: false
        case .always: true
        case .whenSupported: support == .supported || ServiceCapabilities(model).supportsRepeatableRequests
        }
    }

    private static func now() -> String { HTTPDate.text(seconds: Int64(Date().timeIntervalSince1970)) }
}

extension ODataRequest {
    /// The same request with each change replaced: itself, or those of its requests where it is a batch.
    ///
    /// - Parameter map: gets a change and the name of its change set.
    func mappingChanges(_ map: (ODataRequest, String?) -> ODataRequest) -> ODataRequest {
        guard case .batch(var items) = body else { return method == .read ? self : map(self, nil) }
        for index in items.indices where items[index].request.method != .read {
            items[index].request = map(items[index].request, items[index].atomicityGroup)
        }
        var request = self
        request.body = .batch(items)
        return request
    }

    /// Whether it carries an identification, or of a batch any of its requests does.
    var hasIdentification: Bool {
        guard case .batch(let items) = body else { return repeatability != nil }
        return items.contains { $0.request.repeatability != nil }
    }

    /// Whether it changes something, and every change carries an identification.
    var isIdentified: Bool {
        guard case .batch(let items) = body else { return method != .read && repeatability != nil }
        let changes = items.filter { $0.request.method != .read }
        return !changes.isEmpty && changes.allSatisfy { $0.request.repeatability != nil }
    }
}

extension ODataResponse {
    /// Whether it answers a batch none of whose identified changes acted, because the service cannot recognise repeats.
    func refusesIdentification(of request: ODataRequest) -> Bool {
        guard case .batch(let items) = request.body, case .batch(let answers) = body else { return false }
        let changes = Set(items.filter { $0.request.method != .read }.map(\.id))
        let results = answers.filter { changes.contains($0.id) }
        return !results.isEmpty
            && results.allSatisfy {
                if case .failure(let error) = $0.result { error.refusesIdentification } else { false }
            }
    }
}

extension ODataError {
    /// Whether the service says that it did not act because it cannot recognise repeats (Repeatable Requests 1.0, 2).
    var refusesIdentification: Bool { status == 501 && repeatabilityResult == .rejected }
}
