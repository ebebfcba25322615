import Foundation
import ODataHTTP
import ODataModel
import ODataService
import Synchronization

/// The use of identifications by which a service recognizes a repeated change (OASIS Repeatable Requests 1.0).
public enum RepeatabilityPolicy: Hashable, Sendable {
    /// Changes carry no identification, unless the request provides one.
    case off
    /// Changes carry an identification if the service supports repeatable requests. The service says so by
    /// `Org.OData.Repeatability.V1.Supported` in its metadata, or by `Repeatability-Result` in a response.
    case whenSupported
    /// Every change carries an identification, unless its request opts out. The app guarantees that the service
    /// supports them: a change is sent again after a lost response. The guarantee ends when the service refuses
    /// identifications or a response lacks the result.
    case always
}

/// Adds identifications to changes, and remembers whether the service supports them.
final class RepeatabilityIssuer: Sendable {
    private enum Support: Sendable {
        case unknown, supported, refused
        /// A response lacked its `Repeatability-Result`, so a proxy seems to remove the fields.
        case lost
    }

    private let policy: RepeatabilityPolicy
    private let clientID: String?
    private let support = Mutex(Support.unknown)

    init(policy: RepeatabilityPolicy, clientID: String?) {
        self.policy = policy
        self.clientID = clientID
    }

    /// Returns the request with an identification for each change that has none and does not opt out.
    ///
    /// In a batch, each request has its own identification, and a change set has one for all its requests;
    /// services recognize these, but not the batch itself. This method is called once for each request, so that
    /// a repeat keeps its identification.
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

    /// Learns from the response to a request; for a batch, from the responses to its requests. If the response
    /// to an identified change lacks `Repeatability-Result`, an intermediary removes the fields.
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

    /// Learns from a refusal. A refusal with `Repeatability-Result: accepted` confirms that the service
    /// recognizes repeats.
    func take(_ refusal: ODataError) {
        guard refusal.repeatabilityResult == .accepted else { return }
        support.withLock { if $0 != .refused { $0 = .supported } }
    }

    /// Records that the service does not support repeatable requests (501 with `Repeatability-Result:
    /// rejected`).
    func takeRefusal() { support.withLock { $0 = .refused } }

    /// Whether a change may be sent again after a lost response, because a response has confirmed that the
    /// service recognizes repeats.
    ///
    /// The metadata is not sufficient, since a proxy may remove the fields (rule 39). The guarantee of the app
    /// is sufficient until a response contradicts it.
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
    /// Returns the request with each change replaced: the request itself, or the changes of a batch.
    ///
    /// - Parameter map: Receives a change and the name of its change set.
    func mappingChanges(_ map: (ODataRequest, String?) -> ODataRequest) -> ODataRequest {
        guard case .batch(var items) = body else { return method == .read ? self : map(self, nil) }
        for index in items.indices where items[index].request.method != .read {
            items[index].request = map(items[index].request, items[index].atomicityGroup)
        }
        var request = self
        request.body = .batch(items)
        return request
    }

    /// Whether the request, or any request of the batch, carries an identification.
    var hasIdentification: Bool {
        guard case .batch(let items) = body else { return repeatability != nil }
        return items.contains { $0.request.repeatability != nil }
    }

    /// Whether the request contains changes, and all of them carry an identification.
    var isIdentified: Bool {
        guard case .batch(let items) = body else { return method != .read && repeatability != nil }
        let changes = items.filter { $0.request.method != .read }
        return !changes.isEmpty && changes.allSatisfy { $0.request.repeatability != nil }
    }
}

extension ODataResponse {
    /// Returns whether the response shows that no identified change of a batch had an effect, because the
    /// service cannot recognize repeats.
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
    /// Whether the service refused the request because it cannot recognize repeats (Repeatable Requests 1.0,
    /// 2).
    var refusesIdentification: Bool { status == 501 && repeatabilityResult == .rejected }
}
