import ArgumentParser
import OfflineOData

/// `outpost gc`.
struct GC: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Make a clone's files as small as what is in them.",
        discussion: """
            Streams of entities that are gone, pages of downloads that were cut short and free pages of the database \
            are removed. Nothing that you can see changes.

            EXAMPLE
              outpost gc shop
              outpost gc shop --json
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let report = try await store.reading { provider in
            try await ProgressLine.during("Making \(store.directory) small") { _ in
                try await provider.maintenance.compact()
            }
        }
        if json {
            print(JSONText(["before": report.bytesBefore, "after": report.bytesAfter]).text)
            return
        }
        let freed = max(0, report.bytesBefore - report.bytesAfter)
        print(
            "\(Terminal.bold(store.directory)) has \(Terminal.number(report.bytesAfter)) bytes now, "
                + "\(Terminal.number(freed)) fewer.")
    }
}
