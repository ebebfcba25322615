import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataService
import Synchronization

/// Signs requests to the mobile server with the device key, and reports the connection and the versions that answers
/// announce. It lies below retries and sign-in, so that each attempt has a proof of its own.
struct DeviceTransport: HTTPTransport {
    let base: any HTTPTransport
    let identity: DeviceIdentity

    var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let origin = Origin(request), origin == identity.origin else {
            return try await base.send(request, body: body, options: options)
        }
        let (proved, nonce) = try identity.proving(request)
        let (response, stream) = try await attempt(proved, body: body.map { $0.fromStart() ?? $0 }, options: options)
        guard identity.isWorthAnotherAttempt(response, nonce: nonce), body?.isRepeatable ?? true else {
            return (response, stream)
        }
        // The server has executed nothing: it wants a proof with its new nonce.
        let (again, _) = try identity.proving(request)
        return try await attempt(again, body: body.map { $0.fromStart() ?? $0 }, options: options)
    }

    private func attempt(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        do {
            let answer = try await base.send(request, body: body, options: options)
            identity.note(answer.0)
            return answer
        } catch let error as TransportError {
            switch error {
            case .cannotConnect, .timedOut, .connectionLost, .truncated, .tooSlow: identity.report(.lost)
            default: break
            }
            throw error
        }
    }
}

/// The identity of a registration on the wire, as requests use it: id, key and nonce.
final class DeviceIdentity: Sendable {
    /// The news that answers bring.
    enum News: Sendable, Hashable {
        /// The server has answered.
        case answered
        /// A request has not reached the server, or its answer was lost.
        case lost
        /// A request was refused with 403, for which the order of the operator may be the reason.
        case forbidden
        /// The versions of policies and settings, in the spelling of the server.
        case versions(policies: String?, settings: String?)
    }

    private struct State {
        var origin: Origin?
        var id: String?
        var key: DeviceSigningKey?
        var nonce: String?
        var isLost = false
        var listeners: [@Sendable (News) -> Void] = []
    }

    private let state: Mutex<State>
    private let clock: MobileClock

    init(origin: Origin?, clock: MobileClock) {
        state = Mutex(State(origin: origin))
        self.clock = clock
    }

    var origin: Origin? { state.withLock { $0.origin } }
    var id: String? { state.withLock { $0.id } }

    func set(id: String?, key: DeviceSigningKey?) {
        state.withLock {
            $0.id = id
            $0.key = key
        }
    }

    func move(to origin: Origin?) {
        state.withLock {
            $0.origin = origin
            $0.nonce = nil
        }
    }

    func listen(_ listener: @escaping @Sendable (News) -> Void) { state.withLock { $0.listeners.append(listener) } }

    /// Whether the last request got no answer.
    var isLost: Bool { state.withLock { $0.isLost } }

    func report(_ news: News) {
        let listeners = state.withLock { state in
            if news == .lost { state.isLost = true }
            if news == .answered { state.isLost = false }
            return state.listeners
        }
        for listener in listeners { listener(news) }
    }

    /// Returns the request with id and proof, and the nonce in it. A server without nonces wants no proofs.
    func proving(_ request: HTTPRequest) throws -> (HTTPRequest, nonce: String?) {
        let (id, key, nonce) = state.withLock { ($0.id, $0.key, $0.nonce) }
        var request = request
        if let id, let name = HTTPField.Name(MobileFieldNames.registration) { request.headerFields[name] = id }
        guard let key, let nonce, let name = HTTPField.Name(MobileFieldNames.proof) else { return (request, nil) }
        let path = (request.path ?? "/").prefix { $0 != "?" }
        let url = "\(request.scheme ?? "https")://\(request.authority ?? "")\(path)"
        request.headerFields[name] = try key.proof(
            method: request.method.rawValue, url: url, authorization: request.headerFields[.authorization],
            nonce: nonce, now: Int64(clock.now()))
        return (request, nonce)
    }

    /// Whether a refused request is sent once more with the nonce that its answer brought.
    func isWorthAnotherAttempt(_ response: HTTPResponse, nonce: String?) -> Bool {
        guard let fresh = response.field(MobileFieldNames.proofNonce), fresh != nonce, hasKey else { return false }
        switch response.status.code {
        case 401:
            return nonce == nil
                || response.headerFields[values: .wwwAuthenticate].contains { $0.contains("use_dpop_nonce") }
        case 403: return nonce == nil
        default: return false
        }
    }

    private var hasKey: Bool { state.withLock { $0.key != nil } }

    func note(_ response: HTTPResponse) {
        if let nonce = response.field(MobileFieldNames.proofNonce) { state.withLock { $0.nonce = nonce } }
        report(.answered)
        let policies = response.field(MobileFieldNames.policies)
        let settings = response.field(MobileFieldNames.settings)
        if policies != nil || settings != nil { report(.versions(policies: policies, settings: settings)) }
        if response.status == .forbidden { report(.forbidden) }
    }

    func forgetNonce() { state.withLock { $0.nonce = nil } }
}

extension HTTPResponse {
    func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { headerFields[$0] } }
}
