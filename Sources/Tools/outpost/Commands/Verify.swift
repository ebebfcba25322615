import ArgumentParser
import Foundation
import OfflineOData
import ToolLanguage

struct Verify: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: translated("Check a whole clone for damage."),
        discussion: translated(
            paragraphs: """
                Every byte of the files is read, then rows, indexes and the queue of changes. Nothing is changed. The \
                exit code is 1 if something is damaged. Pending changes can often still be read: 'outpost status'.

                EXAMPLE
                  outpost verify shop
                  outpost verify shop --json
                """))

    @OptionGroup var store: StoreOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    /// The report.
    private struct Report: Encodable {
        var isWhole: Bool
        var damages: [String]
        var problems: [String]
        var notes: [String]
    }

    func run() async throws {
        let protection = try store.key.protection(ofCloneIn: store.directory)
        let found = try await ProgressLine.during("Reading \(store.directory)") { _ in
            try await OfflineStore.verify(at: store.directory, protection: protection)
        }
        if json {
            print(
                JSONText(
                    Report(
                        isWhole: found.isWhole, damages: found.damages.map(\.description), problems: found.problems,
                        notes: found.notes)
                ).text)
        } else {
            for damage in found.damages { print("\(damage)") }
            for problem in found.problems { print(problem) }
            for note in found.notes { print(note) }
        }
        guard found.isWhole else {
            let count = found.damages.count + found.problems.count
            throw Failure(
                message: "\(store.directory) is damaged in \(count) \(translated(count == 1 ? "place" : "places")).",
                advice: "Keep a copy of it. 'outpost repair DIR' saves the readable data, pending changes first.")
        }
        if !json { print("\(Terminal.bold(store.directory)) is whole.") }
    }
}
