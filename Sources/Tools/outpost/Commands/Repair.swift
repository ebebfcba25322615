import ArgumentParser
import Foundation
import ODataSQL
import OfflineOData
import ToolLanguage

struct Repair: AsyncParsableCommand, StoreCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: translated("Repair a damaged clone, and keep its pending changes."),
        discussion: translated(
            paragraphs: """
                Indexes are rebuilt from the rows, and references to missing rows are removed. The next pull downloads \
                doubtful rows again. The queue of changes stays.

                If bytes of the files are damaged ('outpost verify' names the places), readable data is saved into new \
                files, pending changes first. The damaged files are kept beside them, and the next pull brings the \
                lost rows. If the saved changes may be outdated, they are held until 'outpost push --from-copy' sends \
                them.

                EXAMPLE
                  outpost repair shop
                  outpost repair shop --json
                  outpost repair shop --service https://host/service/
                """))

    @OptionGroup var store: StoreOptions
    @Option(
        name: .customLong("service"),
        help: .text(
            "The root of the service, if the clone has lost its address.",
            valueName: "url"))
    var serviceRoot: String?
    @OptionGroup var service: ServiceOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let protection = try store.key.protection(ofCloneIn: store.directory)
        let done = try await ProgressLine.during("Reading \(store.directory)") { try await mend(protection, $0) }
        if json {
            print(JSONText(done).text)
            return
        }
        tell(done)
    }

    /// Repairs the clone.
    ///
    /// - Returns: one sentence for each step.
    private func mend(_ protection: StoreProtection, _ line: ProgressLine) async throws -> [String] {
        var done: [String] = []
        if try await isDamaged(protection) {
            line.update("Saving the readable data of \(store.directory)")
            let report = try await salvage(protection)
            let changes: TerminalText = report.savedChanges == 1 ? "change" : "changes"
            done.append(
                translated("\(report.savedChanges) \(changes) and \(report.savedRows) rows were saved into new files."))
            for (table, places) in report.losses.sorted(by: { $0.key < $1.key }) {
                let noun: TerminalText = places == 1 ? "place" : "places"
                done.append(translated("\(table) could not be read in \(places) \(noun)."))
            }
            done.append(translated("The damaged files are kept as \(report.damagedFile)."))
        }
        let opened = try await OfflineStore.open(at: store.directory, protection: protection)
        defer { try? opened.close() }
        line.update("Mending \(store.directory)")
        done += try await opened.maintenance.repair().map { LibraryText.text($0) }
        return done
    }

    /// Whether the files were altered, so that they must not be opened.
    private func isDamaged(_ protection: StoreProtection) async throws -> Bool {
        do {
            return try await !OfflineStore.verify(at: store.directory, protection: protection).damages.isEmpty
        } catch StoreError.corrupt {
            return true
        }
    }

    private func salvage(_ protection: StoreProtection) async throws -> SalvageReport {
        do {
            return try await OfflineStore.salvage(
                at: store.directory, protection: protection, origin: try await origin())
        } catch OfflineError.originLost {
            throw Failure(
                message: "\(store.directory) has lost the address of its service.",
                advice: "Name it: outpost repair DIR --service URL")
        } catch let error as StoreError where error.isDamage {
            throw Failure(
                message: "Nothing of \(store.directory) was saved. \(error)",
                advice: "Its files are as they were. Keep them, and make another clone: outpost clone URL NEW-DIR")
        }
    }

    private func origin() async throws -> StoreOrigin? {
        guard let serviceRoot else { return nil }
        let connector = try service.connector(to: serviceRoot)
        do {
            let client = try connector.client(root: serviceRoot)
            let origin = StoreOrigin(serviceRoot: client.serviceRoot.url(for: ""), model: try await client.model)
            try await connector.close()
            return origin
        } catch {
            try? await connector.close()
            throw error
        }
    }

    private func tell(_ done: [String]) {
        if done.isEmpty { print("There was nothing to mend in \(Terminal.bold(store.directory)).") }
        for line in done { print(line) }
    }
}

extension StoreError {
    /// Whether the file itself is damaged.
    fileprivate var isDamage: Bool { if case .corrupt = self { true } else { false } }
}
