import ArgumentParser
import DataVault
import Foundation
import OfflineOData
import Secrets
import ToolLanguage

struct RemoveClone: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: translated("Remove a clone and its key."),
        discussion: translated(
            paragraphs: """
                Changes that the service has not accepted are lost with a clone: it stays while there are any, unless \
                --discard is given. So are drafts and other data that only the clone has.

                A generated key is removed too, unless it opens another clone. A key file of your own stays, and so do \
                other files in the directory.

                EXAMPLE
                  outpost remove shop
                  outpost remove shop --discard --yes
                """))

    @OptionGroup var store: StoreOptions
    @Flag(help: .text("Remove it although changes wait in it, or although it cannot be opened.")) var discard = false
    @Flag(help: .text("Do not ask.")) var yes = false
    @Flag(help: .text("Report as JSON.")) var json = false

    private struct Report: Encodable {
        var directory: String
        var lostChanges: Int?
        var removedKey: String?
        /// The files that the kept key opens.
        var keyOpens: [String]?
        var isDirectoryLeft: Bool
    }

    func run() async throws {
        let directory = store.directory
        let (key, isUnfinished) = try cloneKey()
        let waiting = isUnfinished ? 0 : try await losses()
        if !yes {
            let loss: TerminalText =
                waiting.map { $0 == 0 ? "" : ", with \(Terminal.plural($0, "change")) not pushed" } ?? ""
            let answer = Terminal.confirm("Remove the clone in \(directory)\(loss)?")
            // Without a terminal nobody is asked: --discard has named the loss, and the service has the rest.
            if answer == false { throw QuietExit(status: .failed) }
        }
        try OfflineStore.remove(at: directory)
        CloneFile.remove(in: directory)
        unlink(directory + "/sync.lock")
        let isGone = rmdir(directory) == 0
        var report = Report(directory: directory, lostChanges: waiting, isDirectoryLeft: !isGone)
        if let key { try remove(key, &report) }
        KeyUses.forgetPlace(directory)
        show(report)
    }

    /// The name of the generated key of the clone, and whether its making was cut short.
    private func cloneKey() throws -> (name: String?, isUnfinished: Bool) {
        try CloneFile.requireDirectory(store.directory)
        if let unfinished = CloneFile.unfinished(in: store.directory) {
            if case .vault(let name) = unfinished.key { return (name, true) }
            return (nil, true)
        }
        if case .vault(let name) = try CloneFile.read(in: store.directory).key { return (name, false) }
        return (nil, false)
    }

    /// The number of changes that would be lost; `nil` if the store cannot be opened.
    ///
    /// - Throws: ``Failure`` for changes that wait and for a store that cannot be opened, unless --discard is given.
    private func losses() async throws -> Int? {
        let waiting: Int
        let own: Int
        do {
            (waiting, own) = try await store.reading { store in
                let status = try await store.observe.status()
                return (status.pending.count + status.failed.count, try await store.drafts.count())
            }
        } catch  where discard {
            return nil
        } catch {
            var failure = Failure(error, of: CommandSubject(self))
            let advice: TerminalText =
                "To remove it all the same: outpost remove \(store.directory.shellQuoted) --discard"
            failure.advice = [failure.advice, advice].compactMap { $0 }.joined(separator: "\n")
            throw failure
        }
        guard waiting == 0 || discard else {
            let verb: TerminalText = waiting == 1 ? "is" : "are"
            throw Failure(
                message: "\(Terminal.plural(waiting, "change")) in \(store.directory) \(verb) not pushed.",
                advice: "Send them first: outpost push DIR\nTo lose them: outpost remove DIR --discard")
        }
        guard own == 0 || discard else {
            throw Failure(
                message: "\(store.directory) has \(Terminal.plural(own, "draft")) that no service has.",
                advice: """
                    Activate the ones that you need: outpost draft activate DIR DRAFT
                    To lose the rest: outpost remove DIR --discard
                    """)
        }
        return waiting
    }

    /// Removes a generated key unless it opens something else.
    private func remove(_ name: String, _ report: inout Report) throws {
        guard let kept = try KeptKey.all().first(where: { $0.name == name }) else { return }
        let opened = kept.uses.filter { $0.state == .opens }.map(\.path)
        guard opened.isEmpty else {
            report.keyOpens = opened
            return
        }
        let secret = try SecretName(name)
        try FileSecretStore().remove(named: secret)
        KeyUses.forget(secret)
        report.removedKey = name
    }

    private func show(_ report: Report) {
        guard !json else { return print(JSONText(report).text) }
        let key: TerminalText = report.removedKey == nil ? "" : " and its key"
        print("Removed the clone in \(report.directory)\(key).")
        if let opened = report.keyOpens {
            print(Terminal.dim("Its key stays, since it opens \(opened.joined(separator: ", "))."))
        }
        if report.isDirectoryLeft { print(Terminal.dim("The directory stays, since it holds other files.")) }
    }
}
