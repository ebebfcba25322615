import ArgumentParser
import OfflineOData
import ToolLanguage

struct GC: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: translated("Free unused room in the files of a clone."),
        discussion: translated(
            paragraphs: """
                Removes streams of deleted entities, pages of interrupted downloads and free pages of the database. \
                Visible data does not change.

                EXAMPLE
                  outpost gc shop
                  outpost gc shop --json
                """))

    @OptionGroup var store: StoreOptions
    @Flag(help: .text("Report as JSON.")) var json = false

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
            """
            \(Terminal.bold(store.directory)) has \(Terminal.number(report.bytesAfter)) bytes now, \
            \(Terminal.number(freed)) fewer.
            """)
    }
}
