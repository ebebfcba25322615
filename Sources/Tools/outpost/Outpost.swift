import ArgumentParser
import Logging
import Secrets

/// The tool: serve a database, clone a service, work offline, push and pull.
@main
struct Outpost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outpost",
        abstract: "Takes OData services offline.",
        discussion: """
            Clone the part of a service you need into an encrypted store, work on it without a network, push your \
            changes and pull what others changed.

            EXAMPLE
              outpost serve northwind.db --port 8080
              outpost clone http://127.0.0.1:8080/ shop
              outpost query shop 'Orders?$filter=Freight gt 500&$expand=Customer'
              outpost update shop 'Orders(10248)' Freight=40
              outpost push shop
              outpost pull shop

            EXIT CODES
              0  done
              1  refused or failed
              2  used wrongly
              3  some requests were refused; see 'outpost errors'
            """,
        version: "0.1.0",
        subcommands: [
            Serve.self, Clone.self, Query.self, Index.self, Watch.self, Create.self, Update.self, Delete.self,
            Undo.self, Status.self, Push.self, Pull.self, Sync.self, Errors.self, Conflicts.self, Doubts.self,
            AddQuery.self, RemoveQuery.self, HandOver.self, Explain.self, Export.self, Repair.self, GC.self,
            Log.self, Metadata.self, Generate.self, VaultCommand.self, KeysCommand.self, Rekey.self, Verify.self,
            UsersCommand.self, Untrack.self, Login.self, Logout.self,
        ])

    static func main() async {
        // Keys, passwords and tokens are in the memory of most commands.
        MemoryDumps.forbid()
        var logger: Logger?
        var known: (any ParsableCommand)?
        do {
            let arguments = try ServeArguments.expanded(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot(arguments)
            known = command
            // Looking at the log leaves no traces in it.
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

/// How a command ends when it does not end well.
enum ExitStatus: Int32 {
    /// Refused or failed.
    case failed = 1
    /// Used wrongly.
    case misused = 2
    /// Some requests were refused.
    case someRefused = 3
}
