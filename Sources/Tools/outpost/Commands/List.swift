import ArgumentParser
import Foundation
import ToolLanguage

struct ListClones: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: translated("List the clones of this machine with their keys."),
        discussion: translated(
            paragraphs: """
                A clone is known from the moment when it is made or opened here. 'missing' is a directory that was \
                removed or moved; its key is kept until 'outpost keys remove --stale'. Clones with a passphrase or a \
                key file are not opened, and only their directory is shown.

                EXAMPLE
                  outpost list
                  outpost list --json
                """))

    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let clones = await KnownClone.all()
        guard !json else { return print(JSONText(clones).text) }
        guard !clones.isEmpty else { return print("There is no clone yet. Make one with: outpost clone URL DIR") }
        let hasUsers = clones.contains { $0.user != nil }
        var table = Table(["Directory", "Service"] + (hasUsers ? ["User"] : []) + ["Rows", "State", "Key"])
        for clone in clones {
            table.add(
                [clone.directory, clone.service ?? ""] + (hasUsers ? [clone.user ?? ""] : [])
                    + [clone.rows.map { Terminal.number($0) } ?? "", clone.state, clone.key.text])
        }
        Terminal.write(table.rendered())
    }
}
