import ArgumentParser
import Foundation
import MobileServer
import Secrets
import ServerState
import ToolLanguage

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: translated("Put a backup into an empty data folder."),
        discussion: translated(
            paragraphs: """
                A new incarnation begins, so that devices notice changes that the backup does not have. Repeatable \
                requests from before the restore have an unknown outcome.

                EXAMPLE
                  outpost-server restore shop.backup --data /srv/outpost --master-key master.key
                """))

    @OptionGroup var options: ServerOptions

    @Argument(help: .text("The backup."), completion: .file())
    var file: String

    @Option(
        name: .customLong("master-key"),
        help: .text(
            """
            The file with the master key, which is copied into the folder. It is not needed if keys.master names \
            another place.
            """,
            valueName: "file"),
        completion: .file())
    var masterKey: String?

    func run() async throws {
        let target = try options.folder(ServerConfiguration())
        guard target.isEmpty else { throw ServerFolderError.notEmpty(path: target.path) }
        // The folder appears whole or not at all, wherever the process ends.
        let folder = ServerFolder(path: target.path + ".restoring")
        try? FileManager.default.removeItem(atPath: folder.path)
        let incarnation: Incarnation
        do {
            try ServerBackup.restore(file, to: folder)
            if let masterKey { try copy(masterKey, to: folder.file(ServerFolder.masterKeyName)) }
            var staged = options
            staged.data = folder.path
            let (configuration, _, _) = try staged.configuration()
            let state: SQLiteServerState
            do {
                state = try await folder.open(configuration, build: ServerOptions.build).state
            } catch {
                throw ServerFailure(
                    "The backup cannot be opened: \(ServerFailure(error).message)",
                    advice: "Name the master key of the backed-up server with --master-key.")
            }
            _ = try await state.migrate(dryRun: false)
            incarnation = try await state.beginIncarnation()
            _ = try await state.operators.audit(
                AuditNote(
                    actor: ServerOptions.actor, action: "server.restore",
                    target: (file as NSString).lastPathComponent))
            await state.close()
            // An empty folder is replaced.
            guard rename(folder.path, target.path) == 0 else {
                throw ServerFolderError.unusable(path: target.path, reason: String(cString: strerror(errno)))
            }
        } catch {
            try? FileManager.default.removeItem(atPath: folder.path)
            throw error
        }
        if options.json {
            return Console.json(Report(folder: target.path, incarnation: incarnation.number))
        }
        Console.line("The server is in \(target.path). Incarnation \(incarnation.number) has begun.")
    }

    private func copy(_ source: String, to target: String) throws {
        let key = try KeyFile(path: source)
        guard let bytes = key.key else {
            throw ServerFailure("\(source) holds no key.", advice: "Name the file master.key of the server.")
        }
        try ServerFolder.write(bytes, to: target)
    }

    private struct Report: Encodable {
        var folder: String
        var incarnation: Int64
    }
}
