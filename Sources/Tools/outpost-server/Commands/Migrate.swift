import ArgumentParser
import MobileServer
import ServerState
import ToolLanguage

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: translated("Bring the tables of the state to the version of this build."),
        discussion: translated(
            paragraphs: """
                'run' does this itself, unless database.migrate is false. The previous build can read the tables \
                afterwards.

                EXAMPLE
                  outpost-server migrate --dry-run
                """))

    @OptionGroup var options: ServerOptions

    @Flag(name: .customLong("dry-run"), help: .text("List the steps, and change nothing."))
    var dryRun = false

    func run() async throws {
        let (configuration, _, _) = try options.configuration()
        let folder = try options.folder(configuration)
        let (state, _) = try await folder.open(configuration, build: ServerOptions.build)
        let report: MigrationReport
        do {
            report = try await state.migrate(dryRun: dryRun)
        } catch {
            await state.close()
            throw error
        }
        await state.close()
        if options.json { return Console.json(report) }
        guard !report.steps.isEmpty else { return Console.line("The tables have version \(report.to) already.") }
        let (from, to, steps) = (report.from, report.to, report.steps.joined(separator: ", "))
        Console.line(
            dryRun
                ? "The steps from version \(from) to version \(to): \(steps)."
                : "Went from version \(from) to version \(to): \(steps).")
    }
}
