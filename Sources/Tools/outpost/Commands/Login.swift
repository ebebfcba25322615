import ArgumentParser
import Foundation
import ODataClient
import ODataHTTP
import ODataTransportNIO
import Supportability
import ToolLanguage

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: translated("Sign in at a service with OAuth 2, in a browser."),
        discussion: translated(
            paragraphs: """
                You sign in on this machine (--browser), or with a short code on any other one (--device). The tokens \
                are kept encrypted in the vault 'sign-ins'. Every command for the same host uses and renews them, \
                unless you give --user or --token-file.

                You need an app that is registered at the authorization server; --client-id names it. The tool knows \
                the addresses if the service names its authorization server. It also knows Microsoft Graph, Dynamics \
                365, Business Central and SAP systems. Otherwise give --issuer, or --token-url with --device-url or \
                --authorize-url.

                EXAMPLE
                  outpost login https://graph.microsoft.com/v1.0/ --client-id ID --device
                  outpost login https://host/sap/opu/odata/sap/API_SALES_ORDER_SRV/ \\
                    --client-id ID --client-secret-file secret.txt
                  outpost login https://host/service/ --client-id ID --issuer https://login.example
                  outpost clone https://host/service/ shop
                  outpost logout https://host/service/
                """))

    @Argument(help: .text("The root of the service."))
    var url: String
    @OptionGroup var options: SignInOptions
    @Flag(help: .text("Enter a code in a browser on any machine.")) var device = false
    @Flag(help: .text("Use the browser of this machine.")) var browser = false
    @Option(help: .text("The minutes to wait for the browser.", valueName: "minutes"))
    var wait = 5
    @Option(
        help: .text(
            "A PEM file with certificates to trust in addition to those of the system.", valueName: "file"))
    var trust: String?
    @Flag(help: .text("Report as JSON.")) var json = false

    mutating func validate() throws {
        guard !device || !browser else {
            throw ValidationError(translated("--device and --browser exclude each other."))
        }
        guard (1...60).contains(wait) else { throw ValidationError(translated("--wait takes 1 to 60 minutes.")) }
    }

    func run() async throws {
        let work = Task { try await signIn() }
        let interruption = Interruption { _ in work.cancel() }
        defer { interruption.end() }
        do {
            try await work.value
        } catch {
            guard work.isCancelled else { throw failure(error) }
            throw Failure(
                message: "The sign-in was given up; nothing was kept.",
                advice: "To begin again, run the same command.")
        }
    }

    private func signIn() async throws {
        var configuration = NIOTransport.Configuration()
        if let trust { configuration.trust.authorities = .systemAnd(.file(trust)) }
        let transport = try NIOTransport(configuration: configuration)
        do {
            let plan = try await SignInPlan(url, options, transport: transport)
            let tokens = try await tokens(plan, transport)
            try Task.checkCancellation()
            let vault = try SignInVault()
            try await vault.exclusively(at: plan.origin) {
                try await vault.keep(SignIn(plan.configuration, tokens), at: plan.origin)
            }
            try await transport.shutdown()
            tell(plan, tokens)
        } catch {
            try? await transport.shutdown()
            throw error
        }
    }

    /// Obtains the tokens in the chosen way.
    private func tokens(_ plan: SignInPlan, _ transport: NIOTransport) async throws -> OAuth2Tokens {
        let hasBrowser = plan.server.authorizationEndpoint != nil
        let takesBrowser =
            browser || !device && hasBrowser && (plan.server.deviceEndpoint == nil || WebBrowser.isLikely)
        return try await takesBrowser ? inBrowser(plan, transport) : onDevice(plan, transport)
    }

    private func onDevice(_ plan: SignInPlan, _ transport: NIOTransport) async throws -> OAuth2Tokens {
        let flow = try OAuth2DeviceFlow(plan.configuration, server: plan.server, transport: transport)
        return try await ProgressLine.during("Waiting for the sign-in (Ctrl-C gives up)") { _ in
            try await flow.signIn { prompt in
                Terminal.error("To sign in at \(plan.origin), open this page in a browser:")
                Terminal.error("  \(prompt.verificationURL)")
                Terminal.error("and enter this code: \(Terminal.bold(prompt.userCode, on: .error))")
            }
        }
    }

    private func inBrowser(_ plan: SignInPlan, _ transport: NIOTransport) async throws -> OAuth2Tokens {
        let flow = try OAuth2BrowserFlow(plan.configuration, server: plan.server, transport: transport)
        let listener = try await RedirectListener.open(host: plan.redirectHost)
        do {
            let patience = Duration.seconds(wait * 60)
            let tokens = try await flow.signIn(redirectURI: listener.redirectURI) { url in
                // The address holds the state of the sign-in, and other users can see the arguments of a
                // program.
                let isOpen = WebBrowser.open(listener.shortcut(to: url))
                Terminal.error(
                    isOpen
                        ? "A browser opens to sign in at \(plan.origin). If it does not, open this page on this machine:"
                        : "To sign in at \(plan.origin), open this page in a browser on this machine:")
                Terminal.error("  \(url)")
                return try await ProgressLine.during("Waiting for the browser (Ctrl-C gives up)") { _ in
                    guard let landing = try await listener.landing(within: patience) else { throw OAuth2Error.expired }
                    return landing
                }
            }
            await listener.close()
            return tokens
        } catch {
            await listener.close()
            throw error
        }
    }

    private func failure(_ error: any Error) -> any Error {
        guard let error = error as? OAuth2Error else { return error }
        let advice: TerminalText =
            switch error {
            case .insecureEndpoint: "Give addresses that begin with https."
            case .invalidMetadata(_, let reason) where reason.contains("device"): "Use the browser: --browser"
            case .invalidMetadata: "Look at --issuer, or name the endpoints with --token-url and --device-url."
            case .refused("access_denied", _), .expired, .noCode: "To begin again, run the same command."
            case .refused: "Look at --client-id and --scope, and at how the app is registered."
            case .stateMismatch, .issuerMismatch:
                "Nothing was kept. Another page may have interfered: close it, and run the same command again."
            case .invalidResponse, .signInNeeded: "Ask the operator of the authorization server."
            }
        return Failure(message: TerminalText(SecretRedaction().redacted(error.description)), advice: advice)
    }

    private struct Report: Encodable {
        var service: String
        var server: String
        var scopes: [String]
        var expires: Int64?
        var renews: Bool
    }

    private func tell(_ plan: SignInPlan, _ tokens: OAuth2Tokens) {
        let renews = tokens.refreshToken != nil
        if json {
            let report = Report(
                service: plan.origin.description, server: plan.serverName, scopes: plan.configuration.scopes,
                expires: tokens.expires, renews: renews)
            print(JSONText(report).text)
            return
        }
        print("Signed in at \(Terminal.bold(plan.origin.description)), by \(TerminalText(plan.serverName)).")
        if !renews {
            Terminal.error(
                """
                The server gave no refresh token, so the sign-in ends with its first token. \
                Some servers want --scope offline_access besides the others.
                """)
        }
    }
}
