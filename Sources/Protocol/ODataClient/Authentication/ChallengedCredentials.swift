import HTTPTypes
import ODataHTTP
import Synchronization

/// Answers `Basic` challenges of services and proxies (RFC 7617) from a store, and else by asking.
///
/// However many requests are challenged at the same time, the closure is asked once: the others wait for its answer.
/// Nothing is sent before a challenge. What was accepted goes with each later request to the same origin until the next
/// challenge; over HTTP never what was given over HTTPS. Without an answer the 401 or 407 is the caller's.
///
/// ```swift
/// let step = ChallengedCredentials(store: vault) { challenge, lastUser in
///     await dialogue.ask(host: challenge.origin.host, realm: challenge.realm(), user: lastUser)
/// }
/// ```
public final class ChallengedCredentials: AuthenticationStep {
    /// Gives credentials for a challenge, or `nil` to give up; gets the user name of those that were refused.
    public typealias Ask = @Sendable (AuthenticationChallenge, _ lastUser: String?) async throws -> UserCredentials?

    fileprivate struct State {
        /// What goes with requests to an origin.
        var current: [Origin: (space: ProtectionSpace, credentials: UserCredentials)] = [:]
        /// What goes to the proxy.
        var proxy: (space: ProtectionSpace, credentials: UserCredentials)?
        /// How often the closure has given up.
        var refusals = 0
    }

    private let store: any CredentialStore
    private let ask: Ask
    private let state = Mutex(State())
    private let turn = Turn()

    /// Makes the step.
    ///
    /// - Parameters:
    ///   - store: looked into first; gets what was asked for.
    ///   - ask: asked when the store has nothing, or what it had was refused.
    public init(
        store: any CredentialStore = MemoryCredentialStore(), ask: @escaping Ask = { _, _ in nil }
    ) {
        self.store = store
        self.ask = ask
    }

    /// Adds what the origin has accepted.
    public func prepare(_ request: inout HTTPRequest) async throws {
        guard let origin = Origin(request), let known = state.withLock({ $0.current[origin] }) else { return }
        request.headerFields[.authorization] = BasicCredentials.field(
            user: known.credentials.user, password: known.credentials.password)
    }

    /// Adds what the proxy has accepted.
    public func prepare(_ options: inout TransferOptions) async throws {
        guard let known = state.withLock({ $0.proxy }) else { return }
        options.proxyAuthorization = BasicCredentials.field(
            user: known.credentials.user, password: known.credentials.password)
    }

    /// 401 and 407.
    public func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        response.status == .unauthorized || isProxy
    }

    /// Looks into the store, and asks when that has nothing new.
    public func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard challenge.offers("basic") else { return .decline }
        let refusals = state.withLock { $0.refusals }
        try await turn.take()
        do {
            // Who waited while somebody gave up is not asked again.
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
        // Another request may have got new ones while this one was on its way.
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

    /// Forgets what goes with requests; the store keeps what it has.
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

/// Lets one at a time go on.
private actor Turn {
    private var isTaken = false
    private var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var lastNumber = 0

    /// Waits for the others.
    ///
    /// - Throws: `CancellationError`, and the turn is not taken.
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

/// A user name and a password for the proxy with each request, without waiting for a challenge.
public struct ProxyCredentials: AuthenticationStep {
    private let credentials: UserCredentials

    /// Makes the step.
    public init(_ credentials: UserCredentials) { self.credentials = credentials }

    /// Adds them.
    public func prepare(_ options: inout TransferOptions) async throws {
        options.proxyAuthorization = BasicCredentials.field(user: credentials.user, password: credentials.password)
    }
}

/// A client certificate with each request to the service, as another user than the transport's own.
public struct ClientCertificate: AuthenticationStep {
    private let identity: @Sendable () async throws -> ClientIdentity?

    /// Makes the step.
    ///
    /// - Parameter identity: gives the certificate; asked for each request, so that a renewed one is taken. `nil` shows
    ///   none.
    public init(_ identity: @escaping @Sendable () async throws -> ClientIdentity?) { self.identity = identity }

    /// Adds it.
    public func prepare(_ options: inout TransferOptions) async throws {
        if let identity = try await identity() { options.clientIdentity = identity }
    }
}
