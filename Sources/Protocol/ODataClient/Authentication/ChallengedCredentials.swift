import HTTPTypes
import ODataHTTP
import Synchronization

/// Answers `Basic` challenges of services and proxies (RFC 7617) from a store, or by asking the user.
///
/// If many requests are challenged at the same time, the closure is called once, and the other requests wait
/// for its result. No credentials are sent before the first challenge. Accepted credentials are sent with each
/// later request to the same origin until the next challenge. Credentials that were given for HTTPS are never
/// sent over HTTP. Without credentials, the caller receives the 401 or 407.
///
/// ```swift
/// let step = ChallengedCredentials(store: MemoryCredentialStore()) { challenge, lastUser in
///     await ask("Sign in to \(challenge.origin.host)", lastUser)
/// }
/// ```
public final class ChallengedCredentials: AuthenticationStep {
    /// Returns credentials for a challenge, or `nil` to give up. `lastUser` is the user name of the refused
    /// credentials.
    public typealias Ask = @Sendable (AuthenticationChallenge, _ lastUser: String?) async throws -> UserCredentials?

    fileprivate struct State {
        /// The credentials in use for each origin.
        var current: [Origin: (space: ProtectionSpace, credentials: UserCredentials)] = [:]
        /// The credentials in use for the proxy.
        var proxy: (space: ProtectionSpace, credentials: UserCredentials)?
        /// The number of times that the closure has given up.
        var refusals = 0
    }

    private let store: any CredentialStore
    private let ask: Ask
    private let state = Mutex(State())
    private let turn = Turn()

    /// Creates a step that answers challenges.
    ///
    /// - Parameters:
    ///   - store: The store that is searched first, and that saves credentials given by the closure.
    ///   - ask: The closure that is called if the store has no credentials, or if the stored ones were refused.
    public init(
        store: any CredentialStore = MemoryCredentialStore(), ask: @escaping Ask = { _, _ in nil }
    ) {
        self.store = store
        self.ask = ask
    }

    /// Adds the credentials that the origin has accepted.
    public func prepare(_ request: inout HTTPRequest) async throws {
        guard let origin = Origin(request), let known = state.withLock({ $0.current[origin] }) else { return }
        request.headerFields[.authorization] = BasicCredentials.field(
            user: known.credentials.user, password: known.credentials.password)
    }

    /// Adds the credentials that the proxy has accepted.
    public func prepare(_ options: inout TransferOptions) async throws {
        guard let known = state.withLock({ $0.proxy }) else { return }
        options.proxyAuthorization = BasicCredentials.field(
            user: known.credentials.user, password: known.credentials.password)
    }

    /// Recognizes 401 of the service and every response of a proxy.
    public func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        response.status == .unauthorized || isProxy
    }

    /// Searches the store, and calls the closure if the store has no new credentials.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard challenge.offers("basic") else { return .decline }
        let refusals = state.withLock { $0.refusals }
        try await turn.take()
        do {
            // A request that waited while the user gave up does not ask the user again.
            let hasGivenUp = state.withLock { $0.refusals } != refusals
            let answer = hasGivenUp ? .stop : try await answerInTurn(challenge)
            await turn.pass()
            return answer
        } catch {
            await turn.pass()
            throw error
        }
    }

    private func answerInTurn(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        let refused = state.withLock { state in
            challenge.isProxy ? state.proxy?.credentials : state.current[challenge.origin]?.credentials
        }
        // Another request may have obtained new credentials while this request was in progress.
        if let refused,
            challenge.authorization != BasicCredentials.field(user: refused.user, password: refused.password)
        {
            return .retry
        }
        let space = ProtectionSpace(
            challenge.origin, realm: challenge.realm(of: "basic"), isProxy: challenge.isProxy)
        if let stored = try await store.credentials(for: space), stored != refused {
            use(stored, in: space, for: challenge)
            return .retry
        }
        if refused != nil { try await store.remove(for: space) }
        guard let given = try await ask(challenge, refused?.user) else {
            forget(challenge)
            state.withLock { $0.refusals += 1 }
            return .stop
        }
        try await store.save(given, for: space)
        use(given, in: space, for: challenge)
        return .retry
    }

    /// Forgets the credentials in use. The store is not changed.
    public func reset() { state.withLock { $0 = State() } }

    private func use(_ credentials: UserCredentials, in space: ProtectionSpace, for challenge: AuthenticationChallenge)
    {
        state.withLock { state in
            if challenge.isProxy {
                state.proxy = (space, credentials)
            } else {
                state.current[challenge.origin] = (space, credentials)
            }
        }
    }

    private func forget(_ challenge: AuthenticationChallenge) {
        state.withLock { state in
            if challenge.isProxy { state.proxy = nil } else { state.current[challenge.origin] = nil }
        }
    }
}

/// A lock that admits one task at a time.
private actor Turn {
    private var isTaken = false
    private var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var lastNumber = 0

    /// Waits until the lock is free, and takes it.
    ///
    /// - Throws: `CancellationError`; the lock is then not taken.
    func take() async throws {
        guard isTaken else {
            isTaken = true
            return
        }
        lastNumber += 1
        let number = lastNumber
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiting.append((number, continuation))
                }
            }
        } onCancel: {
            Task { await leave(number) }
        }
    }

    func pass() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().continuation.resume() }
    }

    private func leave(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
    }
}

/// Sends a user name and a password for the proxy with each request, without waiting for a challenge.
///
/// ```swift
/// let proxy = ProxyCredentials(UserCredentials(user: "ann", password: password))
/// let client = try ODataClient(serviceRoot: root, transport: transport, authentication: Authentication(proxy))
/// ```
public struct ProxyCredentials: AuthenticationStep {
    private let credentials: UserCredentials

    /// Creates a step that sends the given credentials.
    public init(_ credentials: UserCredentials) { self.credentials = credentials }

    /// Adds the credentials for the proxy.
    public func prepare(_ options: inout TransferOptions) async throws {
        options.proxyAuthorization = BasicCredentials.field(user: credentials.user, password: credentials.password)
    }
}

/// Presents a client certificate with each request to the service, in place of the transport's own certificate.
public struct ClientCertificate: AuthenticationStep {
    private let identity: @Sendable () async throws -> ClientIdentity?

    /// Creates a step that presents a client certificate.
    ///
    /// - Parameter identity: Returns the certificate, or `nil` to keep the transport's own. The closure is
    ///   called for each request, so that a renewed certificate is used.
    public init(_ identity: @escaping @Sendable () async throws -> ClientIdentity?) { self.identity = identity }

    /// Adds the client certificate.
    public func prepare(_ options: inout TransferOptions) async throws {
        if let identity = try await identity() { options.clientIdentity = identity }
    }
}
