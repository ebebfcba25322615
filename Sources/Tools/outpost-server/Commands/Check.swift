import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: translated("Check the configuration, the state and the back ends."),
        discussion: translated(
            paragraphs: """
                All mistakes of the configuration are told at once, each with its line and column. Then the state is \
                opened, the audit is checked, and each back end is asked for its metadata. Nothing is changed.

                EXAMPLE
                  outpost-server check --config outpost-server.yaml
                  outpost-server check --data /srv/outpost --json
                """))

    @OptionGroup var options: ServerOptions

    func run() async throws {
        var problems: [ConfigurationProblem] = []
        var findings: [CheckFinding] = []
        var settings = ServerConfiguration()
        do {
            let read = try options.configuration()
            (settings, problems) = (read.configuration, read.warnings)
        } catch let error as ConfigurationError {
            problems = error.problems
        }
        let isReadable = problems.allSatisfy(\.isWarning)
        if isReadable { findings = try await check(settings) }
        let hasErrors = !isReadable || findings.contains { $0.severity == .error }
        if options.json {
            Console.json(Report(problems: problems, findings: findings, isFine: !hasErrors))
        } else {
            for problem in problems { Console.line(ServerFailure.words(of: problem)) }
            for finding in findings { Console.line(words(of: finding)) }
            if !hasErrors { Console.line("The configuration is fine.") }
        }
        guard isReadable else { throw ExitCode(ServerExit.misused.rawValue) }
        if hasErrors { throw ExitCode(ServerExit.failed.rawValue) }
    }

    private func words(of finding: CheckFinding) -> TerminalText {
        let severity: TerminalText =
            switch finding.severity {
            case .fine: "fine"
            case .warning: "warning"
            case .error: "error"
            }
        return "\(severity): \(LibraryText.text(finding.subject)): \(LibraryText.text(finding.message))"
    }

    private func check(_ configuration: ServerConfiguration) async throws -> [CheckFinding] {
        let folder = try options.folder(configuration)
        guard folder.isInitialised else {
            return [
                CheckFinding(.warning, "data folder", message: translated("There is no server in \(folder.path) yet."))
            ]
        }
        let state: SQLiteServerState
        let keys: ServerKeys
        do {
            (state, keys) = try await folder.open(configuration, build: ServerOptions.build)
        } catch {
            return [CheckFinding(.error, "state", message: ServerFailure(error).message.description)]
        }
        var findings: [CheckFinding] = []
        do {
            let report = try await state.migrate(dryRun: true)
            if report.steps.isEmpty {
                findings.append(
                    CheckFinding(.fine, "state", message: translated("The tables have version \(report.to).")))
                let server = OpenServer(configuration: configuration, folder: folder, state: state, keys: keys)
                let composition = try ServerComposition(server.services())
                for part in composition.parts { findings += await part.check() }
                for part in composition.parts.reversed() { await part.stop() }
            } else {
                findings.append(
                    CheckFinding(
                        .warning, "state",
                        message: translated(
                            "The tables have version \(report.from), and this build needs version \(report.to).")))
            }
        } catch {
            findings.append(CheckFinding(.error, "state", message: ServerFailure(error).message.description))
        }
        await state.close()
        return findings
    }

    private struct Report: Encodable {
        var problems: [ConfigurationProblem]
        var findings: [CheckFinding]
        var isFine: Bool
    }
}
