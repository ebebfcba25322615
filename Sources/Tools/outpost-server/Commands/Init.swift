import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: translated("Create a data folder with a master key and a configuration."),
        discussion: translated(
            paragraphs: """
                The folder gets the mode 0700. It must not exist or must be empty. Keep a copy of master.key in a safe \
                place: without it, neither the data nor a backup can be read.

                EXAMPLE
                  outpost-server init /srv/outpost
                """))

    @Argument(help: .text("The folder; by default outpost-server in the user's data folder."), completion: .directory)
    var dir: String?

    @Flag(help: .text("Write the result as JSON."))
    var json = false

    func run() async throws {
        guard let path = dir ?? ServerFolder.standardPath() else {
            throw ServerFailure("This user has no home folder.", advice: "Name a folder.", status: .misused)
        }
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let folder = ServerFolder(path: absolute)
        guard folder.isEmpty else { throw ServerFolderError.notEmpty(path: path) }
        try await folder.create()
        let file = folder.file(ServerFolder.configurationName)
        guard
            FileManager.default.createFile(
                atPath: file, contents: Data(ConfigurationTemplate.text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw ServerFolderError.unusable(path: file, reason: "the file cannot be made") }
        let (state, _) = try await folder.open(ServerConfiguration(), build: ServerOptions.build)
        _ = try await state.migrate(dryRun: false)
        await state.close()
        if json {
            return Console.json(Report(folder: absolute, configuration: file, masterKey: folder.file("master.key")))
        }
        Console.line("The server is in \(absolute).")
        Console.line("Keep a copy of \(folder.file("master.key")) in a safe place: no backup contains it.")
        Console.line("Edit \(file), then: outpost-server check --data \(absolute)")
    }

    private struct Report: Encodable {
        var folder: String
        var configuration: String
        var masterKey: String
    }
}
