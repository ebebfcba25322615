import ArgumentParser
import DataVault
import Foundation
import OfflineOData
import SafeFiles
import Secrets
import ToolLanguage

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: translated("List, make and remove the keys of clones."),
        discussion: translated(
            paragraphs: """
                The keys of 'clone' and 'rekey' are kept in files that only you can read \
                (~/.local/share/outpost/keys). They stay until 'keys remove'. A copy of a clone, on a stick or in a \
                backup, needs the key from the time of the copy.

                EXAMPLE
                  outpost keys list
                  outpost keys new /media/stick/shop.key
                  outpost keys remove clone-1b4e28ba-2fa1-41d2-883f-0016d3cca427
                """),
        subcommands: [List.self, New.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: translated("Show each key with the clones and vaults that use it."),
            discussion: translated(
                paragraphs: """
                    Each key is tried at every place where a clone was made, opened or re-keyed. A copy that was never \
                    opened is unknown. 'missing' is a place without a clone; 'other key' is a clone that was re-keyed \
                    or replaced. The keys of the tool's log and cache are not listed.

                    EXAMPLE
                      outpost keys list
                      outpost keys list --json
                    """))

        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let keys = try KeptKey.all()
            if json {
                print(JSONText(keys).text)
                return
            }
            guard !keys.isEmpty else {
                print("There are no keys in \(try FileSecretStore().directory).")
                return
            }
            for key in keys {
                print(Terminal.bold(key.name))
                for line in key.lines { print("  \(line)") }
            }
        }
    }

    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: translated("Create a file with a new key, for --key-file and --new-key-file."),
            discussion: translated(
                paragraphs: """
                    Only you can read the new file; an existing file is never overwritten. Keep a copy in a safe \
                    place: without the key, nothing opens the clone.

                    EXAMPLE
                      outpost keys new /media/stick/shop.key
                      outpost clone https://host/service/ shop --key-file /media/stick/shop.key
                    """))

        @Argument(help: .text("The new file."), completion: .file()) var file: String
        @OptionGroup var secrets: SecretOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let (folder, name) = CheckedFolder.place(of: file)
            do throws(SafeFileError) {
                try CheckedFolder(folder, secrets.allowsExposed ? .anyFolder : .ours).create(
                    name, KeyFile.content(for: .generate()).reveal())
            } catch {
                let isFolder =
                    switch error.reason {
                    case .openFolder, .foreignFolder: true
                    default: false
                    }
                throw Failure(
                    message: "The key file \(file) cannot be made: \(error.explanation).",
                    advice: isFolder
                        ? "Name a file in a folder of your own. To use this one as it is: --allow-readable-secrets"
                        : "Name another file.")
            }
            if json {
                print(JSONText(["file": file]).text)
                return
            }
            print("Made the key file \(Terminal.bold(file)).")
            print(Terminal.dim("Keep a copy of it in a safe place: nothing else opens its clones."))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: translated("Remove keys, after a list of the files that they open."),
            discussion: translated(
                paragraphs: """
                    A removed key cannot be restored, and nothing else opens its clones. Copies that were never opened \
                    are not in the list. --stale removes the keys without a remaining place: all known files are \
                    missing or have other keys.

                    EXAMPLE
                      outpost keys remove clone-1b4e28ba-2fa1-41d2-883f-0016d3cca427
                      outpost keys remove --stale
                    """))

        @Argument(help: .text("The names of the keys, as 'outpost keys list' shows them.")) var names: [String] = []
        @Flag(help: .text("Remove the keys of missing clones.")) var stale = false
        @Flag(help: .text("Do not ask.")) var yes = false
        @Flag(help: .text("Report as JSON.")) var json = false

        mutating func validate() throws {
            guard names.isEmpty == stale else {
                throw ValidationError(translated("Name the keys, or give --stale for those of missing clones."))
            }
        }

        func run() async throws {
            let chosen = try choice()
            guard !chosen.isEmpty else {
                print(json ? JSONText([String]()).text : "There are no stale keys.")
                return
            }
            let inUse = chosen.filter(\.isInUse).count
            for key in chosen {
                Terminal.error(Terminal.bold(key.name, on: .error))
                for line in await key.linesWithPendingChanges() { Terminal.error("  \(line)") }
            }
            if !yes {
                let what =
                    inUse == 0
                    ? Terminal.plural(chosen.count, "key")
                    : "\(Terminal.plural(chosen.count, "key")); the files above cannot be read without them"
                guard let answer = Terminal.confirm("Remove \(what)?") else {
                    throw Failure(
                        message: "Nobody is here to be asked.", advice: "Give --yes to remove the listed keys.")
                }
                guard answer else { throw QuietExit(status: .failed) }
            }
            let store = try FileSecretStore()
            for key in chosen {
                let name = try SecretName(key.name)
                try store.remove(named: name)
                KeyUses.forget(name)
            }
            if json {
                print(JSONText(chosen).text)
            } else {
                print("Removed \(Terminal.plural(chosen.count, "key")).")
            }
        }

        private func choice() throws -> [KeptKey] {
            let all = try KeptKey.all()
            if stale { return all.filter(\.isStale) }
            return try names.map { name in
                guard let key = all.first(where: { $0.name == name }) else {
                    throw Failure(
                        message: "There is no key \(name) in \(try FileSecretStore().directory).",
                        advice: "See which there are: outpost keys list")
                }
                if case .vault(let vault?) = key.owner {
                    throw Failure(
                        message: "\(name) is the key of the vault \(vault), which nothing else opens.",
                        advice: "To give the vault up: outpost vault destroy \(vault.shellQuoted)")
                }
                return key
            }
        }
    }
}
