import ArgumentParser
import ODataClient
import ODataTransportNIO
import ToolLanguage

struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: translated("End the sign-in at a service."),
        discussion: translated(
            paragraphs: """
                Removes the tokens from the vault, and revokes them at the authorization server if it allows that. \
                Clones and their keys stay.

                EXAMPLE
                  outpost logout https://host/service/
                """))

    @Argument(help: .text("The root of the service."))
    var url: String
    @Option(
        help: .text(
            "A PEM file with certificates to trust in addition to those of the system.", valueName: "file"))
    var trust: String?
    @Flag(help: .text("Report as JSON.")) var json = false

    private struct Report: Encodable {
        var service: String
        var revoked: Bool
    }

    func run() async throws {
        let origin = try SignInPlan.service(url).1
        let vault = try SignInVault()
        guard let signIn = try await vault.signIn(at: origin) else {
            throw Failure(message: "There is no sign-in at \(origin).")
        }
        var configuration = NIOTransport.Configuration()
        if let trust { configuration.trust.authorities = .systemAnd(.file(trust)) }
        let transport = try NIOTransport(configuration: configuration)
        let oauth = try OAuth2(
            signIn.configuration, transport: transport, store: VaultTokenStore(vault: vault, origin: origin))
        do {
            try await oauth.signOut()
            try await transport.shutdown()
        } catch {
            try? await transport.shutdown()
            guard try await vault.signIn(at: origin) == nil else { throw error }
            throw Failure(
                message: "The tokens were removed from this machine, but not revoked. \(Failure(error).message)",
                advice: "They stay valid at the server until they expire. End the session there, if it lets you.")
        }
        let revoked = signIn.revocationEndpoint != nil
        if json {
            print(JSONText(Report(service: origin.description, revoked: revoked)).text)
            return
        }
        print("The sign-in at \(Terminal.bold(origin.description)) has ended.")
        if !revoked {
            Terminal.error(
                "The server has no address at which tokens are revoked: those that it gave stay valid until they expire."
            )
        }
    }
}
