import DataVault
import Foundation
import ODataClient
import ODataHTTP
import Secrets

/// Turns the answers of an app into credentials, and credentials into the authentication of requests.
struct SignInFlow: Sendable {
    let transport: any HTTPTransport
    let interaction: any OnboardingInteraction
    let clock: MobileClock

    /// Asks the user to sign in.
    ///
    /// - Throws: ``MobileError``: `signInCancelled`, `signInFailed`, `unknownSecurityConfiguration`.
    func signIn(
        _ progress: OnboardingProgress, failure: MobileError?
    ) async throws(MobileError) -> KeptSignIn {
        let methods = try Self.methods(progress)
        let request = SignInRequest(
            profile: progress.profile, methods: methods, user: progress.user, failure: failure,
            needsActivation: progress.needsActivation)
        let answer: SignInAnswer?
        do {
            answer = try await interaction.signIn(request)
        } catch {
            throw error is CancellationError ? .cancelled : .signInFailed(reason: "\(error)")
        }
        guard let answer else { throw .signInCancelled }
        return try await kept(answer, methods)
    }

    /// The ways to sign in: the one that the profile names, or all.
    private static func methods(_ progress: OnboardingProgress) throws(MobileError) -> [SignInMethod] {
        guard let name = progress.profile.securityConfiguration else { return progress.methods }
        guard !progress.methods.isEmpty else { return [] }
        guard let method = progress.methods.first(where: { $0.name == name }) else {
            throw .unknownSecurityConfiguration(name)
        }
        return [method]
    }

    private func kept(_ answer: SignInAnswer, _ methods: [SignInMethod]) async throws(MobileError) -> KeptSignIn {
        func name(_ given: String?) throws(MobileError) -> String? {
            if let given, !methods.isEmpty, !methods.contains(where: { $0.name == given }) {
                throw .unknownSecurityConfiguration(given)
            }
            return given ?? (methods.count == 1 ? methods.first?.name : nil)
        }
        switch answer {
        case .basic(let user, let password, let method, let activation):
            guard !user.isEmpty else { throw .emptyParameter("the user name") }
            guard user.count <= 255 else { throw .signInFailed(reason: "the user name has more than 255 characters") }
            var kept = KeptSignIn(.basic, method: try name(method))
            (kept.user, kept.password, kept.activation) = (user, password.reveal(), activation?.reveal())
            return kept
        case .browser(let redirectURI, let method, let activation, let browse):
            let name = try name(method)
            var kept = KeptSignIn(.tokens, method: name)
            kept.activation = activation?.reveal()
            guard let way = methods.first(where: { $0.name == name }), let issuer = way.issuer,
                let clientID = way.clientID
            else { throw .signInFailed(reason: "the server names no issuer and client for the browser") }
            try await browseAndKeep(&kept, issuer: issuer, clientID: clientID, redirectURI: redirectURI, browse)
            return kept
        case .tokens(let tokens, let method):
            var kept = KeptSignIn(.tokens, method: try name(method))
            kept.tokens = tokens
            return kept
        case .certificate(let archive, let passphrase, let method):
            var kept = KeptSignIn(.certificate, method: try name(method))
            (kept.certificate, kept.password) = (archive, passphrase.reveal())
            return kept
        case .cookies(let cookies, let user, let method):
            var kept = KeptSignIn(.cookies, method: try name(method))
            (kept.cookies, kept.user) = (cookies, user)
            return kept
        case .activation(let code, let user, let method):
            var kept = KeptSignIn(.activation, method: try name(method))
            (kept.activation, kept.user) = (code.reveal(), user)
            return kept
        case .anonymous(let method): return KeptSignIn(.anonymous, method: try name(method))
        }
    }

    private func browseAndKeep(
        _ kept: inout KeptSignIn, issuer: String, clientID: String, redirectURI: String,
        _ browse: @Sendable (String) async throws -> String
    ) async throws(MobileError) {
        let clock = clock
        do {
            let server = try await OAuth2Server.discover(issuer, transport: transport)
            let flow = try OAuth2BrowserFlow(
                OAuth2.Configuration(
                    tokenEndpoint: server.tokenEndpoint, clientID: clientID, scopes: ["openid", "offline_access"]),
                server: server, transport: transport, now: { Int64(clock.now()) })
            kept.tokens = try await flow.signIn(redirectURI: redirectURI, browse: browse)
            kept.tokenEndpoint = server.tokenEndpoint
            kept.revocationEndpoint = server.revocationEndpoint
            kept.clientID = clientID
        } catch let error as OAuth2Error {
            throw .signInFailed(reason: error.description)
        } catch is CancellationError {
            throw .cancelled
        } catch let error as TransportError {
            throw MobileError(error, host: issuer)
        } catch {
            throw .signInFailed(reason: "\(error)")
        }
    }

    /// Returns the authentication of requests with credentials.
    func authentication(_ kept: KeptSignIn, _ secrets: SessionSecrets) throws(MobileError) -> Authentication {
        switch kept.kind {
        case .basic:
            return .basic(user: kept.user ?? "", password: kept.password ?? "")
        case .tokens:
            guard let endpoint = kept.tokenEndpoint, let clientID = kept.clientID else {
                let token = kept.tokens?.accessToken ?? ""
                return .bearer { token }
            }
            let configuration = OAuth2.Configuration(
                tokenEndpoint: endpoint, clientID: clientID, scopes: ["openid", "offline_access"],
                revocationEndpoint: kept.revocationEndpoint)
            let clock = clock
            do throws(OAuth2Error) {
                return Authentication(
                    try OAuth2(
                        configuration, transport: transport, store: SessionTokenStore(secrets: secrets),
                        now: { Int64(clock.now()) }))
            } catch {
                throw .signInFailed(reason: error.description)
            }
        case .certificate:
            let identity = ClientIdentity.pkcs12(kept.certificate ?? [], passphrase: kept.password)
            return Authentication(CertificateStep(identity: identity))
        case .cookies, .activation, .anonymous: return .none
        }
    }
}

/// Shows the client certificate of the user in TLS.
private struct CertificateStep: AuthenticationStep {
    let identity: ClientIdentity

    func prepare(_ options: inout TransferOptions) async throws { options.clientIdentity = identity }
}
