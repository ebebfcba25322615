import ArgumentParser
import DataVault
import EncryptedSQLite
import Foundation
import Secrets
import ToolLanguage

struct Rekey: AsyncParsableCommand, CloneCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: translated("Change the key of a clone, without rewriting it."),
        discussion: translated(
            paragraphs: """
                Without an option, a new key is generated. It is kept in a file that only you can read \
                (~/.local/share/outpost/keys; see 'outpost keys list'). Anybody with that file can read the clone.

                Earlier copies of the clone still need the old key, and that key still opens them. No key is removed: \
                see 'outpost keys'.

                EXAMPLE
                  outpost rekey shop
                  outpost rekey shop --passphrase
                  outpost rekey shop --new-key-file /media/stick/shop.key
                """))

    @Argument(help: .text("The directory of the clone."), completion: .directory)
    var directory: String
    var cloneDirectory: String? { directory }
    @OptionGroup var key: KeyOptions
    @Flag(help: .text("Protect the clone with a passphrase; the command asks for it.")) var passphrase = false
    @Option(
        help: .text(
            "Protect the clone with this key file, made by 'outpost keys new'. Any other content is a passphrase.",
            valueName: "file"), completion: .file())
    var newKeyFile: String?
    @Flag(help: .text("Report as JSON.")) var json = false

    mutating func validate() throws {
        guard !passphrase || newKeyFile == nil else {
            throw ValidationError(translated("--passphrase and --new-key-file exclude each other."))
        }
    }

    func run() async throws {
        let database = directory + "/store.db"
        let clone = try CloneFile.read(in: directory)
        let (old, oldName) = try current(of: clone, database: database)
        let given = try NewKey.given(passphrase: passphrase, keyFile: newKeyFile)
        // A new key stays in any case; none is made if its place could not be printed.
        try clone.write(in: directory)
        let new = try given ?? NewKey.generated(for: directory)
        // The new key is durable here. If the process ends before the clone names the key, the next `rekey`
        // finds the key among the kept ones.
        try EncryptedDatabase.rekey(at: database, from: old, to: new.source)
        do {
            try CloneFile(key: new.place).write(in: directory)
        } catch {
            // A key that the clone does not name would be hard to find. The change back takes no room.
            do {
                try EncryptedDatabase.rekey(at: database, from: new.source, to: old)
            } catch {
                throw Failure(
                    message: "\(directory) has the new key, but could not record its place. \(new.said)",
                    advice: "Make room, and change it once more: outpost rekey DIR")
            }
            throw error
        }
        if json {
            print(JSONText(Report(directory, new.place, keptKeys: oldName.map { [$0] })).text)
            return
        }
        print("The key of \(Terminal.bold(directory)) was changed.")
        print(Terminal.dim(new.said))
        print(Terminal.dim(fate(of: oldName)))
    }

    /// The uses of the old key, and its place.
    private func fate(of name: String?) -> TerminalText {
        let damaged = damagedFiles()
        let copies: TerminalText =
            damaged.isEmpty
            ? "Copies of the clone that were made before need the old key"
            : """
            Copies of the clone that were made before need the old key, and so does \(damaged.joined(separator: ", "))
            """
        return name.map {
            "\(copies). It stays among your keys as \($0). To remove it: outpost keys remove \($0.shellQuoted)"
        } ?? "\(copies)."
    }

    /// The damaged databases that a repair has kept beside the store.
    private func damagedFiles() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix("store.db.damaged") && !$0.contains("-") }.sorted()
    }

    private struct Report: Encodable {
        var directory: String
        var key: String
        var name: String?
        /// The old key, if it is a generated one. Copies of the clone still need that key.
        var keptKeys: [String]?

        init(_ directory: String, _ place: CloneFile.Key, keptKeys: [String]?) {
            self.directory = directory
            self.keptKeys = keptKeys
            switch place {
            case .vault(let name): (key, self.name) = ("vault", name)
            case .passphrase: key = "passphrase"
            case .file: key = "file"
            }
        }
    }

    /// Returns the key that opens the clone, with its name if it is a generated one.
    private func current(of clone: CloneFile, database: String) throws -> (KeySource, name: String?) {
        if key.keyFile == nil, case .vault(let name) = clone.key {
            // The key that the clone names comes first. After an interrupted change another key is right.
            guard let found = try keptKey(of: database, first: name) else {
                throw Failure(
                    message: "No key in \(try FileSecretStore().directory) opens \(directory).",
                    advice: "Give its key: --key-file FILE")
            }
            return (.key(found.key), found.name)
        }
        // After an interrupted change, the clone may not name its key.
        func kept() -> (KeySource, name: String?)? {
            if case .vault = clone.key { return nil }
            guard let found = try? keptKey(of: database) else { return nil }
            return (.key(found.key), found.name)
        }
        if clone.key == .file, key.keyFile == nil, let kept = kept() { return kept }
        guard case .encrypted(let source) = try key.protection(ofCloneIn: directory) else {
            throw Failure(message: "\(directory) is not encrypted.")
        }
        if try opens(database, with: source) { return (source, nil) }
        guard let kept = kept() else {
            throw Failure(
                message: "That key does not open \(directory), and none of your keys does.",
                advice: "Give the key it was made with: --key-file FILE, or the right passphrase.")
        }
        return kept
    }

    /// The kept key of a clone that opens the database.
    private func keptKey(of database: String, first: String? = nil) throws -> (key: EncryptionKey, name: String)? {
        let keys = try FileSecretStore()
        let others = try keys.names().map(\.text).filter { $0 != first && KeyKeeper.isKeyName($0) }
        for name in (first.map { [$0] } ?? []) + others {
            guard let key = try? keys.key(named: SecretName(name)), try opens(database, with: .key(key)) else {
                continue
            }
            return (key, name)
        }
        return nil
    }

    /// Returns whether a key opens the database; every other refusal is an error.
    private func opens(_ database: String, with key: KeySource) throws -> Bool {
        do {
            try EncryptedDatabase.unlock(at: database, with: key)
            try EncryptedDatabase.lock(at: database)
            return true
        } catch {
            switch error {
            // A passphrase or a key in a file has replaced the generated key.
            case .wrongKey, .wrongKindOfKey: return false
            default: throw error
            }
        }
    }
}
