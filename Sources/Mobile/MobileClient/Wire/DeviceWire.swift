import HTTPTypes
import MobileProtocol
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import Synchronization

/// An answer of the device API.
struct DeviceAnswer: Sendable {
    var response: HTTPResponse
    var bytes: [UInt8]

    var status: Int { response.status.code }
    var etag: String? { response.headerFields[.eTag] }
    func field(_ name: String) -> String? { response.field(name) }
    var error: ODataError { ErrorBody(bytes).error(for: response) }
}

/// Sends the requests of a registration to the device API.
final class DeviceWire: Sendable {
    /// The maximum number of bytes of a document of the device API.
    static let maxDocumentSize = 4 << 20

    private struct State {
        var profile: ConnectionProfile
        var session: HTTPSession?
        var cookies = CookieJar()
    }

    let identity: DeviceIdentity
    /// The transport with proofs, without sign-in and retries.
    let transport: DeviceTransport
    private let settings = WireSettings()
    private let state: Mutex<State>

    init(_ profile: ConnectionProfile, transport: any HTTPTransport, clock: MobileClock) {
        identity = DeviceIdentity(origin: profile.origin, clock: clock)
        self.transport = DeviceTransport(base: transport, identity: identity)
        state = Mutex(State(profile: profile))
    }

    var profile: ConnectionProfile { state.withLock { $0.profile } }

    /// The cookies of the registration.
    var cookies: CookieJar { state.withLock { $0.cookies } }

    /// Uses the cookies of an earlier run.
    func load(_ cookies: [Cookie]) {
        state.withLock {
            $0.cookies = CookieJar(cookies)
            $0.session = nil
        }
    }

    func retarget(_ profile: ConnectionProfile) {
        identity.move(to: profile.origin)
        state.withLock {
            $0.profile = profile
            $0.session = nil
        }
    }

    /// The sign-in of each request.
    var authentication: Authentication {
        get { settings.authentication }
        set { settings.authentication = newValue }
    }

    /// Whether requests other than those for the order of an operator are refused on this device.
    var isStopped: Bool {
        get { settings.isStopped }
        set { settings.isStopped = newValue }
    }

    /// Returns a session for requests to the origin of the server, for destinations too.
    func session(_ configuration: HTTPSession.Configuration = .init()) throws(MobileError) -> HTTPSession {
        var configuration = configuration
        let own = Authentication(CurrentSignIn(settings: settings))
        configuration.authentication = own.then(configuration.authentication)
        configuration.cookies = cookies
        configuration.allowsPlainHTTP = profile.allowsPlainHTTP
        do {
            return try HTTPSession(
                StoppingTransport(base: transport, settings: settings), serviceRoot: profile.baseURL,
                configuration: configuration)
        } catch {
            throw MobileError(error, host: profile.host)
        }
    }

    /// Sends a request to the device API.
    ///
    /// - Parameters:
    ///   - path: The resource below the application, such as `Policies`.
    ///   - body: JSON.
    ///   - fields: Further header fields.
    ///   - isBare: Whether credentials and proof are left out.
    /// - Throws: ``MobileError/unreachable(host:reason:isRetried:)`` and other errors of the exchange. Refusals are
    ///   returned.
    func send(
        _ method: HTTPRequest.Method, _ path: String, body: [UInt8]? = nil, fields: [String: String] = [:],
        isBare: Bool = false
    ) async throws -> DeviceAnswer {
        let profile = profile
        var request = try ServiceRoot("/").request(method, url: profile.deviceAPI + path)
        request.headerFields[.accept] = path == "$metadata" ? "application/xml" : "application/json"
        request.headerFields[.odataMaxVersion] = "4.01"
        if body != nil { request.headerFields[.contentType] = "application/json" }
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        let stream = body.map { ByteStream($0) }
        let (response, answer): (HTTPResponse, ByteStream)
        if isBare {
            (response, answer) = try await transport.base.send(request, body: stream)
        } else {
            (response, answer) = try await deviceSession().send(request, body: stream, options: TransferOptions())
        }
        return DeviceAnswer(response: response, bytes: try await answer.collect(limit: Self.maxDocumentSize))
    }

    /// Returns a document, or throws the refusal of the server.
    func document(
        _ method: HTTPRequest.Method, _ path: String, body: [UInt8]? = nil, fields: [String: String] = [:]
    ) async throws(MobileError) -> DeviceAnswer {
        let answer: DeviceAnswer
        do {
            answer = try await send(method, path, body: body, fields: fields)
        } catch {
            throw MobileError(error, host: profile.host)
        }
        guard (200..<300).contains(answer.status) || answer.status == 304 else {
            throw MobileError(answer.error, profile: profile)
        }
        return answer
    }

    /// The session of the device API. It repeats nothing: the registration has its own back-off.
    private func deviceSession() throws(MobileError) -> HTTPSession {
        if let session = state.withLock({ $0.session }) { return session }
        let session: HTTPSession
        do {
            session = try HTTPSession(
                transport, serviceRoot: profile.baseURL,
                configuration: HTTPSession.Configuration(
                    authentication: Authentication(CurrentSignIn(settings: settings)), retry: .none,
                    wholeTimeout: .seconds(60), cookies: cookies, allowsPlainHTTP: profile.allowsPlainHTTP))
        } catch {
            throw MobileError(error, host: profile.host)
        }
        state.withLock { $0.session = session }
        return session
    }
}

/// The settings that sessions look up for each request. Sessions of stores may live longer than the wire.
private final class WireSettings: Sendable {
    private let state = Mutex((authentication: Authentication.none, isStopped: false))

    var authentication: Authentication {
        get { state.withLock { $0.authentication } }
        set { state.withLock { $0.authentication = newValue } }
    }

    var isStopped: Bool {
        get { state.withLock { $0.isStopped } }
        set { state.withLock { $0.isStopped = newValue } }
    }
}

/// Signs requests in as the registration does at the moment.
private struct CurrentSignIn: AuthenticationStep {
    let settings: WireSettings

    func prepare(_ request: inout HTTPRequest) async throws {
        for step in settings.authentication.steps { try await step.prepare(&request) }
    }

    func prepare(_ options: inout TransferOptions) async throws {
        for step in settings.authentication.steps { try await step.prepare(&options) }
    }

    func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        settings.authentication.steps.contains { $0.recognizes(response, to: request, isProxy: isProxy) }
    }

    func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        for step in settings.authentication.steps {
            guard step.recognizes(challenge.response, to: challenge.request, isProxy: challenge.isProxy) else {
                continue
            }
            switch try await step.answer(challenge) {
            case .retry: return .retry
            case .stop: return .stop
            case .decline: continue
            }
        }
        return .decline
    }
}

/// Refuses requests while the app is locked.
private struct StoppingTransport: HTTPTransport {
    let base: any HTTPTransport
    let settings: WireSettings

    var configuredIdentity: ClientIdentity? { base.configuredIdentity }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard !settings.isStopped else { throw MobileError.locked(.order) }
        return try await base.send(request, body: body, options: options)
    }
}
