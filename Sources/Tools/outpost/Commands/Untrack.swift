import ArgumentParser
import Foundation
import ODataDatabases

/// `outpost untrack`.
struct Untrack: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "untrack",
        abstract: "Take the triggers of 'outpost serve --track' out of a database.",
        discussion: """
            Removes the triggers and the table outpost_change, which 'outpost serve FILE --track' puts into the \
            database to note every change. Nothing else in the database is changed. The file FILE-outpost beside it \
            stays: it holds row versions and remembered requests. A server that is started without --track compares \
            rows instead.

            EXAMPLE
              outpost untrack northwind.db
              outpost untrack northwind.db --json
            """)

    @Argument(help: "The SQLite database.", completion: .file())
    var file: String
    @Flag(help: "Report as JSON.") var json = false

    /// The removed parts.
    private struct Report: Encodable {
        var file: String
        var triggersRemoved: Int
    }

    func run() throws {
        let count = try ChangeTriggers.remove(fromDatabaseAt: file)
        if json {
            print(JSONText(Report(file: file, triggersRemoved: count)).text)
        } else if count == 0 {
            print("\(Terminal.bold(file)) has no triggers of outpost.")
        } else {
            print("\(count) \(count == 1 ? "trigger" : "triggers") removed from \(Terminal.bold(file)).")
        }
    }
}
