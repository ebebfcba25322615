import ArgumentParser
import Foundation
import OfflineOData

/// `outpost gc`.
struct GC: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Make a clone's files as small as what is in them.",
        discussion: """
            Streams of entities that are gone, pages of downloads that were cut short and free pages of the database are
            removed. Nothing that you can see changes.

            EXAMPLE
              outpost gc shop
              outpost gc shop --json
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let report = try await store.reading { try await $0.compact() }
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

/// `outpost repair`.
struct Repair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mend what can be mended in a damaged clone, and keep the changes that wait.",
        discussion: """
            Indexes are made again from the rows, and what refers to rows that are not there is removed. What cannot be
            trusted afterwards is downloaded again by the next pull. The queue of changes stays. Bytes of the files that
            are not as they were written cannot be mended: 'outpost verify' names them.

            EXAMPLE
              outpost repair shop
              outpost repair shop --json
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        let done = try await store.reading { try await $0.repair() }
        if json {
            print(JSONText(done).text)
            return
        }
        if done.isEmpty { print("There was nothing to mend in \(Terminal.bold(store.directory)).") }
        for line in done { print(line) }
    }
}
