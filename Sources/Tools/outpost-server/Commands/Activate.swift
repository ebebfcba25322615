import ArgumentParser
import MobileServer
import ServerState
import ToolLanguage

struct Activate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate",
        abstract: translated("Activate a version of the configuration of an application."),
        discussion: translated(
            paragraphs: """
                Running nodes use the version within a second.

                EXAMPLE
                  outpost-server activate shop 2
                """))

    @OptionGroup var options: ServerOptions

    @Argument(help: .text("The application."))
    var app: String

    @Argument(help: .text("The version."))
    var version: Int

    func run() async throws {
        try await options.withServer { server in
            _ = try await server.application(app)
            try await ApplicationImporter(state: server.state).activate(
                version, of: app, by: ServerOptions.actor)
        }
        if options.json { return Console.json(["application": app, "version": "\(version)"]) }
        Console.line("Version \(version) of '\(app)' is active.")
    }
}
