import Foundation
import ODataHTTP
import ODataModel
import ODataService
import Synchronization

/// Whether changes carry an identification by which the service recognises a repeat
/// (OASIS Repeatable Requests 1.0; rules 1 and 2).
public enum RepeatabilityPolicy: Hashable, Sendable {
    /// Never, unless a request brings its own.
    case off
    /// Where the service says that it recognises repeats: by `Org.OData.Repeatability.V1.Supported` in its metadata,
    /// or by `Repeatability-Result` in an answer.
    case whenSupported
    /// With every change.
    case always
}

/// Gives identifications to changes, and remembers whether the service takes them.
final class RepeatabilityIssuer: Sendable {
    private enum Support: Sendable { case unknown, supported, refused }

    private let policy: RepeatabilityPolicy
    private let clientID: String?
    private let support = Mutex(Support.unknown)

    init(policy: RepeatabilityPolicy, clientID: String?) {
        self.policy = policy
        self.clientID = clientID
    }

    /// An identification for a change that has none; the same request with the same body never gets a second one,
    /// because this is called once for each.
    func identified(_ request: ODataRequest, model: EntityDataModel) -> ODataRequest {
        guard request.method != .read, request.repeatability == nil, isWanted(model) else { return request }
        var request = request
        request.repeatability = Repeatability(
            requestID: ODataGuid.random().description, firstSent: Self.now(), clientID: clientID)
        return request
    }

    /// Learns from an answer.
    func take(_ result: RepeatabilityResult?) {
        if result == .accepted { support.withLock { if $0 == .unknown { $0 = .supported } } }
    }

    /// Learns that the service refused to recognise repeats (501 with `Repeatability-Result: rejected`).
    func takeRefusal() { support.withLock { $0 = .refused } }

    /// Whether the service is known to recognise a repeat, so that what was lost on the way can be sent again.
    func isRecognized(_ model: EntityDataModel) -> Bool {
        switch support.withLock({ $0 }) {
        case .supported: true
        case .refused: false
        case .unknown: ServiceCapabilities(model).supportsRepeatableRequests
        }
    }

    private func isWanted(_ model: EntityDataModel) -> Bool {
        guard support.withLock({ $0 != .refused }) else { return false }
        return switch policy {
        case .off: false
        case .always: true
        case .whenSupported: isRecognized(model)
        }
    }

    private static func now() -> String { HTTPDate.text(seconds: Int64(Date().timeIntervalSince1970)) }
}
