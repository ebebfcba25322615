import ArgumentParser
import ODataClient
import Secrets
import ToolLanguage

/// The program `outpost-server`: the mobile server of a team.
@main
struct OutpostServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outpost-server",
        abstract: translated("Serve OData services to a team of devices."),
        discussion: translated(
            paragraphs: """
                Devices register with the server, and reach back ends through it. The server adds delta links, \
                repeatable requests, policies and permissions, which any OData client can use.

                EXAMPLE
                  outpost-server run
                  outpost-server init /srv/outpost
                  outpost-server check --data /srv/outpost
                  outpost-server run --data /srv/outpost

                EXIT CODES
                  0  done
                  1  the command was refused or failed
                  2  the command line or the configuration is wrong
                  3  some items were refused
                """),
        version: OutpostProduct.version,
        subcommands: [
            Init.self, Run.self, Check.self, Migrate.self, Plan.self, Activate.self, AppCommand.self,
            UserCommand.self, OperatorCommand.self, DeviceCommand.self, FeedCommand.self, LogCommand.self,
            BundleCommand.self, Backup.self,
            Restore.self,
            RekeyServer.self,
        ])

    static func main() async {
        Language.learn(GermanTexts.tables, sentences: GermanTexts.library)
        // The master key and the credentials of back ends are in the memory of most commands.
        MemoryDumps.forbid()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            ServerFailure.report(error)
        }
    }
}

/// The exit codes of commands that do not succeed.
enum ServerExit: Int32 {
    /// The command was refused or failed.
    case failed = 1
    /// The command line or the configuration is wrong.
    case misused = 2
    /// Some items were refused.
    case someRefused = 3
}
