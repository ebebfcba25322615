import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: translated("Write a consistent copy of the state to a file."),
        discussion: translated(
            paragraphs: """
                The server may run meanwhile. The file holds the configuration, the wrapped keys and the encrypted \
                state, and never the master key. Keep master.key in another place: the backup cannot be read without \
                it.

                EXAMPLE
                  outpost-server backup /backups/outpost-$(date +%F).backup
                """))

    @OptionGroup var options: ServerOptions

    @Argument(help: .text("The file to be made."), completion: .file())
    var file: String

    func run() async throws {
        guard !FileManager.default.fileExists(atPath: file) else {
            throw ServerFailure("\(file) exists already.", advice: "Name another file.")
        }
        let size = try await options.withServer { server in
            let size = try await ServerBackup.write(server.folder, state: server.state, to: file)
            try await server.audit("server.backup", (file as NSString).lastPathComponent)
            return size
        }
        if options.json { return Console.json(Report(file: file, bytes: size)) }
        Console.line("\(file): \(size) bytes. The master key is not in it: keep it in another place.")
    }

    private struct Report: Encodable {
        var file: String
        var bytes: Int64
    }
}
