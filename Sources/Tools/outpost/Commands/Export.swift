import ArgumentParser
import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import SafeFiles
import ToolLanguage

struct Export: AsyncParsableCommand, StoreCommand {
    /// The format of the rows.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        /// An array of OData JSON.
        case json
        /// One line for each row.
        case csv
    }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: translated("Write the rows of a clone into JSON or CSV files."),
        discussion: translated(
            paragraphs: """
                Each kept entity set becomes a file in the given directory, or the rows of one query go to the \
                terminal. The files are not encrypted. The exit code is 1 if the first download of a set is \
                incomplete.

                CSV has the selected columns. Empty text is "" and null is nothing; structured values are JSON. \
                Spreadsheet programs run text that begins with = + - or @ as a formula: import it as text, or export \
                with --guard-formulas.

                EXAMPLE
                  outpost export shop --to backup
                  outpost export shop --query 'Orders?$filter=Freight gt 500' --format csv
                  outpost export shop --query RequestQueue
                """))

    @OptionGroup var store: StoreOptions
    @Option(help: .text("A new directory for the files.", valueName: "directory")) var to: String?
    @Option(help: .text("A query. Its rows go to the terminal.")) var query: String?
    @Option(help: .text("The format: json or csv.")) var format = Format.json
    @Flag(
        name: .customLong("guard-formulas"),
        help: .text("Put an apostrophe before text that a spreadsheet program would run as a formula."))
    var guardsFormulas = false
    @Flag(help: .text("Report as JSON.")) var json = false

    func validate() throws {
        guard !guardsFormulas || format == .csv else {
            throw ValidationError(translated("--guard-formulas goes with csv."))
        }
        guard (to == nil) != (query == nil) else { throw ValidationError(translated("Give --to or --query.")) }
    }

    func run() async throws {
        if let query {
            try await store.reading { try await write(query, $0) }
            return
        }
        let (report, incomplete) = try await store.reading { provider in
            try await ProgressLine.during("Writing") { try await writeAll(provider, in: to ?? "", $0) }
        }
        if json {
            print(JSONText(report).text)
        } else {
            for (set, rows) in report.sorted(by: { $0.key < $1.key }) {
                print("\(Terminal.bold(set)): \(Terminal.plural(rows, "row"))")
            }
        }
        try Self.requireComplete(incomplete)
    }

    /// Checks that no part is incomplete.
    ///
    /// - Throws: ``Failure`` that names the incomplete entity sets.
    private static func requireComplete(_ incomplete: [String]) throws {
        guard !incomplete.isEmpty else { return }
        throw Failure(
            message: "Not all is here of \(incomplete.joined(separator: ", ")): the first download was cut short.",
            advice: "Go on with: outpost pull DIR")
    }

    private static func warn(of formulas: SpreadsheetFormulas) {
        guard formulas.unguarded > 0 else { return }
        let count = Terminal.plural(formulas.unguarded, "text")
        Terminal.error(
            """
            \(Terminal.yellow("warning:", on: .error)) \(count) would be taken for formulas by a spreadsheet program: \
            import them as text, or export with --guard-formulas.
            """)
    }

    // MARK: One query

    private func write(_ text: String, _ provider: OfflineStore) async throws {
        let url = try provider.url(typed: text)
        let formulas = SpreadsheetFormulas(guards: guardsFormulas)
        let rows = try await ExportedRows(
            url, format, provider: provider, formulas: formulas, areShown: Terminal.isTerminal(.output))
        defer { Self.warn(of: formulas) }
        _ = try await rows.write(to: RowFile(nil, name: translated("The output"), rows.form)) { _ in }
        let parts = try await KeptSets(provider)
        try Self.requireComplete(parts.incomplete.filter { $0 == rows.set })
    }

    // MARK: All sets

    private func writeAll(
        _ provider: OfflineStore, in directory: String, _ line: ProgressLine
    ) async throws -> (report: [String: Int], incomplete: [String]) {
        guard !FileManager.default.fileExists(atPath: directory) else {
            throw Failure(
                message: "\(directory) is there already.", advice: "Name another directory.", status: .misused)
        }
        do {
            let parent = (directory as NSString).deletingLastPathComponent
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: parent, isDirectory: &isDirectory) {
                guard isDirectory.boolValue else { throw SafeFileError(path: parent, reason: .system(code: ENOTDIR)) }
            } else if !parent.isEmpty {
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            }
            // Fails if another process creates the directory at the same time.
            guard mkdir(directory, 0o700) == 0 else {
                throw SafeFileError(path: directory, reason: .system(code: errno))
            }
        } catch let error as SafeFileError {
            throw Failure(
                message: "The directory \(directory) cannot be made: \(error.explanation).",
                advice: "Name another directory after --to.")
        } catch {
            throw Failure(
                message: "The directory \(directory) cannot be made: \(error.systemReason).",
                advice: "Name another directory after --to.")
        }
        let parts = try await KeptSets(provider)
        let formulas = SpreadsheetFormulas(guards: guardsFormulas)
        defer { Self.warn(of: formulas) }
        var (report, leftOut): ([String: Int], [String]) = ([:], [])
        for set in provider.serviceModel.container.entitySets {
            let url = ODataURL(set: set.name)
            // A file without rows would suggest that the service has none.
            guard try await parts.hasSomething(of: set.name) else {
                leftOut.append(set.name)
                continue
            }
            let rows = try await ExportedRows(url, format, provider: provider, formulas: formulas)
            let path = "\(directory)/\(RowFile.name(of: set.name, format))"
            let handle = try RowFile.create(at: path)
            defer { try? handle.close() }
            report[set.name] = try await rows.write(to: RowFile(handle, name: path, rows.form)) {
                line.update("Writing \(set.name): \(Terminal.plural($0, "row"))")
            }
        }
        if !leftOut.isEmpty, !json {
            Terminal.error("Left out, since nothing of them is kept here: \(leftOut.joined(separator: ", "))")
        }
        return (report, parts.incomplete)
    }
}
