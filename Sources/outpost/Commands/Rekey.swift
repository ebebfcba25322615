import ArgumentParser
import DataVault
import EncryptedSQLite
import Foundation
import Secrets

/// `outpost rekey`.
struct Rekey: AsyncParsableCommand, CloneCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Change the key of a clone, without rewriting it.",
        discussion: """
            Without an option, a new key is made and kept in a file that only you can read \
            (~/.local/share/outpost/keys; 'outpost vault' does not show it). Whoever has that file can read the clone. \
            Copies of the clone that were made before still need the old key, and whoever has both can still read \
            them. Where the old key is such a file, that is removed, unless 'outpost repair' has left damaged files \
            beside the store, which need it too.

            EXAMPLE
              outpost rekey shop
              outpost rekey shop --passphrase
              outpost rekey shop --new-key-file /media/stick/shop.key
            """)

    @Argument(help: "The directory of the clone.", completion: .directory)
    var directory: String
    var cloneDirectory: String? { directory }
    @OptionGroup var key: KeyOptions
    @Flag(help: "Protect it by a passphrase, which is asked for.") var passphrase = false
    @Option(
        help: ArgumentHelp(
            "Protect it by this file: 32 bytes or 64 hexadecimal digits; anything else in it is a passphrase.",
            valueName: "file"), completion: .file())
    var newKeyFile: String?
    @Flag(help: "Report as JSON.") var json = false

    mutating func validate() throws {
        guard !passphrase || newKeyFile == nil else {
            throw ValidationError("--passphrase and --new-key-file exclude each other.")
        }
    }

    func run() async throws {
        let database = directory + "/store.db"
        let clone = try CloneFile.read(in: directory)
        let (old, oldNames) = try current(of: clone, database: database)
        let (new, place, said) = try chooseKey()
        // The new key is durable by now. If this process ends before the clone says where it is, the next
        // `rekey` finds it among the kept keys.
        do {
            try EncryptedDatabase.rekey(at: database, from: old, to: new)
        } catch {
            // Only a key that opens nothing may go.
            if case .keyInDoubt = error { throw error }
            if case .vault(let name) = place { KeyKeeper.remove(named: name) }
            throw error
        }
        do {
            try CloneFile(key: place).write(in: directory)
        } catch {
            // Nobody would look for the new key where it is. The change back takes no room.
            do {
                try EncryptedDatabase.rekey(at: database, from: new, to: old)
            } catch {
                throw Failure(
                    message: "\(directory) has the new key, but cannot say where it is. \(said)",
                    advice: "Make room, and change it once more: outpost rekey DIR")
            }
            if case .vault(let name) = place { KeyKeeper.remove(named: name) }
            throw error
        }
        let kept = oldNames.isEmpty ? [] : damagedFiles()
        if kept.isEmpty { for name in oldNames { KeyKeeper.remove(named: name) } }
        if json {
            print(JSONText(Report(directory, place, keptKeys: kept.isEmpty ? nil : oldNames)).text)
            return
        }
        print("The key of \(Terminal.bold(directory)) was changed.")
        print(Terminal.dim(said))
        print(Terminal.dim(fate(of: oldNames, neededBy: kept)))
    }

    /// What the old key is still good for, and where it is.
    private func fate(of names: [String], neededBy kept: [String]) -> String {
        let copies = "Copies of the clone that were made before need the old key"
        if !kept.isEmpty {
            return "\(copies), and so does \(kept.joined(separator: ", ")): it stays among your keys as "
                + names.joined(separator: " or ") + "."
        }
        return names.isEmpty ? "\(copies)." : "\(copies), which was removed."
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
        /// Old keys that stay, since damaged files beside the store need them.
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

    /// The key that opens the clone now, and the names of kept keys that are of no use afterwards.
    private func current(of clone: CloneFile, database: String) throws -> (KeySource, names: [String]) {
        if key.keyFile == nil, case .vault(let name) = clone.key {
            // The one that the clone names comes first; another one is right after a change that was cut short.
            guard let found = try keptKey(of: database, first: name) else {
                throw Failure(
                    message: "No key in \(try FileSecretStore().directory) opens \(directory).",
                    advice: "Give its key: --key-file FILE")
            }
            return (.key(found.key), found.name == name ? [name] : [name, found.name])
        }
        // After a change that was cut short, there may be a key of which the clone does not say.
        func kept() -> (KeySource, names: [String])? {
            if case .vault = clone.key { return nil }
            guard let found = try? keptKey(of: database) else { return nil }
            return (.key(found.key), [found.name])
        }
        if clone.key == .file, key.keyFile == nil, let kept = kept() { return kept }
        guard case .encrypted(let source) = try key.protection(ofCloneIn: directory) else {
            throw Failure(message: "\(directory) is not encrypted.")
        }
        if try opens(database, with: source) { return (source, []) }
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
        let others = try keys.names().map(\.text).filter { $0 != first && $0.hasPrefix("clone-") }
        for name in (first.map { [$0] } ?? []) + others {
            guard let key = try? keys.key(named: SecretName(name)), try opens(database, with: .key(key)) else {
                continue
            }
            return (key, name)
        }
        return nil
    }

    /// Whether a key opens the database; every other refusal is an error.
    private func opens(_ database: String, with key: KeySource) throws -> Bool {
        do {
            try EncryptedDatabase.unlock(at: database, with: key)
            try EncryptedDatabase.lock(at: database)
            return true
        } catch {
            switch error {
            // A passphrase, or a key in a file, has taken its place.
            case .wrongKey, .wrongKindOfKey: return false
            default: throw error
            }
        }
    }

    private func chooseKey() throws -> (KeySource, CloneFile.Key, String) {
        if let newKeyFile {
            return (try KeySource(namedFile: newKeyFile), .file, "Its key is in \(newKeyFile); keep that file safe.")
        }
        if passphrase {
            guard let first = try Terminal.askSecret("New passphrase: "), !first.isEmpty else {
                throw Failure(message: "A passphrase is needed, and nobody is here to be asked.")
            }
            guard try Terminal.askSecret("Once more: ") == first else {
                throw Failure(message: "The two passphrases differ.")
            }
            return (.passphrase(Secret(first)), .passphrase, "It is protected by your passphrase.")
        }
        let (key, name, place) = try KeyKeeper.generate()
        return (.key(key), .vault(name: name), "Its key is kept in \(place).")
    }
}
