import ArgumentParser
import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// `outpost export`.
struct Export: AsyncParsableCommand {
    /// How rows are written.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        /// An array of OData JSON.
        case json
        /// One line for each row, values as OData literals.
        case csv
    }

    static let configuration = CommandConfiguration(
        abstract: "Write what a clone holds into files that other programs read.",
        discussion: """
            Each entity set becomes a file in the directory given, or what one query finds is written to the terminal. The
            files are not encrypted.

            EXAMPLE
              outpost export shop --to backup
              outpost export shop --query 'Orders?$filter=Freight gt 500' --format csv
              outpost export shop --query RequestQueue
            """)

    @OptionGroup var store: StoreOptions
    @Option(help: ArgumentHelp("A new directory for the files.", valueName: "directory")) var to: String?
    @Option(help: "Only what this query finds, to the terminal.") var query: String?
    @Option(help: "json or csv.") var format = Format.json
    @Flag(help: "Report as JSON.") var json = false

    func validate() throws {
        guard (to == nil) != (query == nil) else { throw ValidationError("Give --to or --query.") }
    }

    func run() async throws {
        let report = try await store.reading { provider -> [String: Int] in
            if let query {
                let url = try ODataURL(parsing: query)
                try provider.check(url, written: query)
                let writer = RowFile(handle: .standardOutput, format: format, model: provider.model)
                _ = try await write(url, provider, to: writer)
                return [:]
            }
            return try await writeAll(provider, in: to ?? "")
        }
        guard query == nil else { return }
        if json {
            print(JSONText(report).text)
            return
        }
        for (set, rows) in report.sorted(by: { $0.key < $1.key }) {
            print("\(Terminal.bold(set)): \(Terminal.plural(rows, "row"))")
        }
    }

    private func writeAll(_ provider: OfflineODataProvider, in directory: String) async throws -> [String: Int] {
        guard !FileManager.default.fileExists(atPath: directory) else {
            throw Failure(
                message: "\(directory) is there already.", advice: "Name another directory.", status: .misused)
        }
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var report: [String: Int] = [:]
        for set in provider.serviceModel.container.entitySets {
            let path = "\(directory)/\(set.name).\(format.rawValue)"
            let isMade = FileManager.default.createFile(
                atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            guard isMade, let handle = FileHandle(forWritingAtPath: path) else {
                throw Failure(message: "\(path) cannot be written.")
            }
            defer { try? handle.close() }
            let writer = RowFile(handle: handle, format: format, model: provider.model)
            report[set.name] = try await write(ODataURL(set: set.name), provider, to: writer)
        }
        return report
    }

    /// Writes page after page, so that no set is in memory as a whole.
    private func write(_ url: ODataURL, _ provider: OfflineODataProvider, to file: RowFile) async throws -> Int {
        var request: ODataRequest? = ODataRequest(.read, url, preferences: Preferences(maxPageSize: 1000))
        var count = 0
        while let current = request {
            request = nil
            switch try await provider.execute(current).body {
            case .page(let page):
                // Nothing is written for a query that is refused, or finds no rows.
                try file.begin()
                for entity in page.entities { try file.append(entity) }
                count += page.entities.count
                request = page.nextLink.map {
                    ODataRequest(following: $0, preferences: Preferences(maxPageSize: 1000))
                }
            case .entity(let entity):
                try file.begin()
                try file.append(entity)
                count += 1
            default: throw Failure(message: "\(url) finds no rows.", status: .misused)
            }
        }
        try file.end()
        return count
    }
}

/// A file of rows in one of the formats.
private final class RowFile {
    private let handle: FileHandle
    private let format: Export.Format
    private let model: EntityDataModel
    private var isBegun = false
    private var isFirst = true

    init(handle: FileHandle, format: Export.Format, model: EntityDataModel) {
        self.handle = handle
        self.format = format
        self.model = model
    }

    /// Begins the file, the first time that it is called.
    func begin() throws {
        defer { isBegun = true }
        if format == .json, !isBegun { try write("[") }
    }

    func end() throws { try write(format == .json ? "\n]\n" : "") }

    func append(_ entity: Entity) throws {
        defer { isFirst = false }
        switch format {
        case .json:
            var writer = JSONWriter(reservingCapacity: 512)
            writer.value(.complex(entity), type: .entity(entity.shape.name), model: model)
            try write((isFirst ? "\n" : ",\n") + String(decoding: writer.bytes, as: UTF8.self))
        case .csv:
            if isFirst {
                try write(entity.shape.properties.map { Self.field($0.name) }.joined(separator: ",") + "\n")
            }
            let cells = entity.shape.properties.enumerated().map { ordinal, property -> String in
                guard let value = entity.values[ordinal], !value.isNull else { return "" }
                return Self.field(value.cell(type: property.type, model: model))
            }
            try write(cells.joined(separator: ",") + "\n")
        }
    }

    /// A field as RFC 4180 has it.
    private static func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"\(text.replacing("\"", with: "\"\""))\""
    }

    private func write(_ text: String) throws { try handle.write(contentsOf: Data(text.utf8)) }
}
