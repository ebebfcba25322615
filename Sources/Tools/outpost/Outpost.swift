import ArgumentParser
import Logging
import ODataClient
import Secrets
import ToolLanguage

/// The tool: serves a database, clones a service, works offline, pushes and pulls.
@main
struct Outpost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outpost",
        abstract: translated("Take OData services offline."),
        discussion: translated(
            paragraphs: """
                Clone a part of a service into an encrypted store and work on it without a network. Then push your \
                changes, and pull those of others.

                EXAMPLE
                  outpost serve northwind.db --port 8080
                  outpost clone http://127.0.0.1:8080/ shop
                  outpost query shop 'Orders?$filter=Freight gt 500&$expand=Customer'
                  outpost update shop 'Orders(10248)' Freight=40
                  outpost push shop
                  outpost pull shop

                EXIT CODES
                  0  done
                  1  the command was refused or failed
                  2  the command line is wrong
                  3  the service refused some changes; see 'outpost changes DIR --failed'
                """),
        version: OutpostProduct.version,
        subcommands: [
            Serve.self, Clone.self, ListClones.self, RemoveClone.self, Query.self, Select.self, Index.self, Watch.self,
            Create.self,
            Update.self, Delete.self, Link.self, Unlink.self, StreamCommand.self, Call.self, ChangeSet.self,
            DraftCommand.self, Undo.self, Status.self, ChangesCommand.self, Diff.self, Push.self, Pull.self, Sync.self,
            Errors.self, Conflicts.self, Doubts.self, AddQuery.self, RemoveQuery.self, HandOver.self, Explain.self,
            Export.self, Repair.self, GC.self, Log.self, Metadata.self, Generate.self, VaultCommand.self,
            KeysCommand.self, Rekey.self, Verify.self, UsersCommand.self, Untrack.self, Login.self, Logout.self,
            New.self,
        ])

    static func main() async {
        Language.learn(GermanTexts.tables, sentences: GermanTexts.sentences)
        // Keys, passwords and tokens are in the memory of most commands.
        MemoryDumps.forbid()
        var logger: Logger?
        var known: (any ParsableCommand)?
        do {
            let arguments = try ServeArguments.expanded(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot(arguments)
            known = command
            // Showing the log is not logged itself.
            if !(command is Log) {
                let names = Set(configuration.subcommands.compactMap { $0.configuration.commandName })
                logger = ToolLog.begin(CommandLine.arguments.first { names.contains($0) } ?? "outpost")
            }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            try Terminal.finish()
        } catch {
            Failure.report(error, of: known.map(CommandSubject.init) ?? CommandSubject(), logger)
        }
    }
}

/// The exit codes of commands that do not succeed.
enum ExitStatus: Int32 {
    /// The command was refused or failed.
    case failed = 1
    /// The command line is wrong.
    case misused = 2
    /// The service refused some changes.
    case someRefused = 3
}
