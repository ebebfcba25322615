import ArgumentParser
import Foundation
import MobileServer
import Secrets
import ServerState
import ToolLanguage

struct RekeyServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: translated("Wrap all keys with a new master key."),
        discussion: translated(
            paragraphs: """
                No stored value is rewritten, and delta tokens stay valid. Without --new-key, a new key replaces \
                master.key; the old one is kept as master.key.old until you remove it. Backups from before need the \
                old key.

                EXAMPLE
                  outpost-server rekey
                  outpost-server rekey --new-key /run/secrets/outpost.key
                """))

    @OptionGroup var options: ServerOptions

    @Option(
        name: .customLong("new-key"),
        help: .text(
            "A key file, such as one of 'outpost keys new'. Set keys.master to it afterwards.", valueName: "file"),
        completion: .file())
    var newKey: String?

    func run() async throws {
        let (configuration, _, _) = try options.configuration()
        let folder = try options.folder(configuration)
        let old = try await folder.masterKey(configuration.masterKey)
        if let newKey {
            try folder.rekey(from: old, to: try KeySource(keyFile: newKey))
        } else {
            try replace(configuration.masterKey, in: folder, opening: old)
        }
        try await audit(configuration, folder)
        if options.json { return Console.json(["folder": folder.path]) }
        Console.line("The keys of \(folder.path) have a new master key. Keep a copy of it in a safe place.")
        if let newKey { Console.line("Set keys.master to file:\(newKey) before the next start.") }
    }

    /// Replaces the file of the master key. A crash at any step leaves a key that opens the keys of the server.
    private func replace(_ reference: SecretReference, in folder: ServerFolder, opening old: KeySource) throws {
        guard case .file(let name) = reference else {
            throw ServerFailure(
                "The master key is not in a file.", advice: "Name the new key with --new-key.", status: .misused)
        }
        let path = name.hasPrefix("/") ? name : folder.file(name)
        let (fresh, former) = (path + ".new", path + ".old")
        guard !FileManager.default.fileExists(atPath: former) else {
            throw ServerFailure(
                "\(former) exists: it is the key before the last change.",
                advice: "Move it to a safe place, then try again.")
        }
        try? FileManager.default.removeItem(atPath: fresh)
        try ServerFolder.write(.generate(), to: fresh)
        let new = try KeySource(keyFile: fresh)
        try FileManager.default.copyItem(atPath: path, toPath: former)
        try folder.rekey(from: old, to: new)
        guard rename(fresh, path) == 0 else {
            throw ServerFailure("\(path) cannot be replaced. The new key is in \(fresh).")
        }
    }

    private func audit(_ configuration: ServerConfiguration, _ folder: ServerFolder) async throws {
        var changed = configuration
        if let newKey {
            let whole = newKey.hasPrefix("/") ? newKey : FileManager.default.currentDirectoryPath + "/" + newKey
            changed.masterKey = .file(whole)
        }
        let (state, _) = try await folder.open(changed, build: ServerOptions.build)
        _ = try await state.operators.audit(
            AuditNote(actor: ServerOptions.actor, action: "server.rekey", target: "master key"))
        await state.close()
    }
}
