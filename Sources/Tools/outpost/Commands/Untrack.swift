import ArgumentParser
import Foundation
import ODataDatabases
import ToolLanguage

struct Untrack: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "untrack",
        abstract: translated("Remove the triggers of 'outpost serve --track' from a database."),
        discussion: translated(
            paragraphs: """
                Removes the triggers and the table outpost_change, with which 'outpost serve FILE --track' notes every \
                change. Nothing else in the database changes. The file FILE-outpost stays: it holds row versions and \
                remembered requests. A server without --track compares rows instead.

                EXAMPLE
                  outpost untrack northwind.db
                  outpost untrack northwind.db --json
                """))

    @Argument(help: .text("The SQLite database."), completion: .file())
    var file: String
    @Flag(help: .text("Report as JSON.")) var json = false

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
            print("\(count) \(translated(count == 1 ? "trigger" : "triggers")) removed from \(Terminal.bold(file)).")
        }
    }
}
