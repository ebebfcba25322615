import HTTPTypes
import ODataClient
import ODataHTTP
import Synchronization
import ToolLanguage

/// Signs requests in with the tokens that `outpost login` has put into the vault, and renews them.
///
/// Requests to an origin without a sign-in stay as they are.
final class SignedInStep: AuthenticationStep {
    private let signIns: SignIns
    private let known = Mutex<Set<Origin>>([])

    /// - Parameter transport: Sends the requests to authorization servers.
    /// - Returns: `nil` if this account has never signed in, or has no home.
    init?(transport: any HTTPTransport) {
        guard let vault = try? SignInVault(), vault.isThere else { return nil }
        signIns = SignIns(vault: vault, transport: transport)
    }

    func prepare(_ request: inout HTTPRequest) async throws {
        guard let origin = Origin(request), !origin.isPlain, let oauth = try await signIns.step(for: origin) else {
            return
        }
        known.withLock { _ = $0.insert(origin) }
        do {
            try await oauth.prepare(&request)
        } catch {
            throw Self.failure(error, at: origin)
        }
    }

    func recognizes(_ response: HTTPResponse, to request: HTTPRequest, isProxy: Bool) -> Bool {
        guard response.status == .unauthorized, !isProxy, let origin = Origin(request) else { return false }
        return known.withLock { $0.contains(origin) }
    }

    func answer(_ challenge: AuthenticationChallenge) async throws -> AuthenticationAnswer {
        guard let oauth = try await signIns.step(for: challenge.origin) else { return .decline }
        do {
            return try await oauth.answer(challenge)
        } catch {
            throw Self.failure(error, at: challenge.origin)
        }
    }

    /// The error as a person is told of it; errors of the connection stay as they are.
    private static func failure(_ error: any Error, at origin: Origin) -> any Error {
        guard let error = error as? OAuth2Error else { return error }
        let again: TerminalText = "Sign in again: outpost login \(origin.description.shellQuoted)"
        switch error {
        case .signInNeeded: return Failure(message: "The sign-in at \(origin) has ended.", advice: again)
        case .refused: return Failure(message: "The sign-in at \(origin) was not renewed. \(error)", advice: again)
        default: return Failure(message: "The sign-in at \(origin) was not renewed. \(error)")
        }
    }
}

/// The sign-ins of a process, each read from the vault when it is first needed.
private actor SignIns {
    private let vault: SignInVault
    private let transport: any HTTPTransport
    private var steps: [Origin: Task<OAuth2?, any Error>] = [:]

    init(vault: SignInVault, transport: any HTTPTransport) {
        self.vault = vault
        self.transport = transport
    }

    func step(for origin: Origin) async throws -> OAuth2? {
        if let step = steps[origin] { return try await step.value }
        let step = Task { [vault, transport] () -> OAuth2? in
            guard let signIn = try await vault.signIn(at: origin) else { return nil }
            return try OAuth2(
                signIn.configuration, transport: transport, store: VaultTokenStore(vault: vault, origin: origin))
        }
        steps[origin] = step
        return try await step.value
    }
}
