import Foundation
import ODataQuery

/// The application configuration file of the older products (`.ini`): endpoints and their defining queries.
///
/// ```swift
/// var warnings: [ConfigurationProblem] = []
/// let changed = try EndpointFile.applying(text, path: "shop.ini", to: application, warnings: &warnings)
/// let text = EndpointFile.text(of: changed)
/// ```
///
/// The file names neither URLs nor queries. The destinations must therefore exist, and a defining query without a
/// counterpart reads the entity set of its name. Keys without a counterpart are kept for the export.
public enum EndpointFile {
    /// The maximum number of bytes of a file.
    public static let sizeLimit = 1_000_000

    /// Applies a file to an application.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - path: The path, for messages.
    ///   - application: The application with its destinations.
    ///   - warnings: The findings with which the file can be used nevertheless.
    /// - Returns: The changed application.
    /// - Throws: ``ConfigurationError`` with all mistakes at once.
    public static func applying(
        _ text: String, path: String, to application: ApplicationConfiguration,
        warnings: inout [ConfigurationProblem]
    ) throws(ConfigurationError) -> ApplicationConfiguration {
        guard text.utf8.count <= sizeLimit else {
            throw ConfigurationError(problems: [
                ConfigurationProblem(path: path, line: 0, column: 0, message: "The file exceeds \(sizeLimit) bytes.")
            ])
        }
        var reader = EndpointFileReader(path: path, application: application)
        // CR LF is one Character, so that lines are split by scalars.
        let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0.value == 0x0A }
        for (index, line) in lines.enumerated() {
            reader.read(String(String.UnicodeScalarView(line)), number: index + 1)
        }
        let mistakes = reader.problems.filter { !$0.isWarning }
        guard mistakes.isEmpty else { throw ConfigurationError(problems: reader.problems) }
        warnings = reader.problems
        return reader.application
    }

    /// Returns the file of an application: all endpoints with their queries, and the keys that were preserved.
    public static func text(of application: ApplicationConfiguration) -> String {
        var lines: [String] = []
        for (name, destination) in application.destinations.sorted(by: { $0.key < $1.key }) {
            lines += ["[endpoint]", "name=\(name)"]
            lines += EndpointFileKeys.endpoint(destination).map { "\($0)=\($1)" }
            lines += preserved(application, "endpoint \(name)")
            lines.append("")
            for (query, configuration) in destination.queries.sorted(by: { $0.key < $1.key }) {
                lines += ["[defining_query]", "name=\(query)"]
                lines += EndpointFileKeys.query(configuration).map { "\($0)=\($1)" }
                lines += preserved(application, "query \(name) \(query)")
                lines.append("")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func preserved(_ application: ApplicationConfiguration, _ section: String) -> [String] {
        application.preserved.filter { $0.key.hasPrefix(section + "/") }.sorted { $0.key < $1.key }
            .map { "\($0.key.dropFirst(section.count + 1))=\($0.value)" }
    }
}

/// Reads the lines of a file in order.
private struct EndpointFileReader {
    let path: String
    var application: ApplicationConfiguration
    var problems: [ConfigurationProblem] = []
    private var section = ""
    private var destination: String?
    private var query: String?
    private var hasClearedIndexes: Set<String> = []

    init(path: String, application: ApplicationConfiguration) {
        self.path = path
        self.application = application
    }

    private mutating func note(at line: Int, _ column: Int, _ message: String, isWarning: Bool = false) {
        problems.append(
            ConfigurationProblem(path: path, line: line, column: column, message: message, isWarning: isWarning))
    }

    mutating func read(_ text: String, number: Int) {
        var line = Substring(text)
        if number == 1, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
        if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
        let column = line.prefix { $0 == " " || $0 == "\t" }.count + 1
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        guard !trimmed.isEmpty, !trimmed.hasPrefix("#"), !trimmed.hasPrefix(";") else { return }
        if trimmed.hasPrefix("[") { return begin(trimmed, at: number, column) }
        guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
            return note(at: number, column, "A line is '[section]' or 'key=value'.")
        }
        let key = line[..<equals].trimmingCharacters(in: .whitespaces)
        let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        guard !key.isEmpty else { return note(at: number, column, "A line is '[section]' or 'key=value'.") }
        let place = line.distance(from: line.startIndex, to: equals) + 2
        take(key, value, at: number, column: column, valueColumn: place)
    }

    private mutating func begin(_ text: String, at line: Int, _ column: Int) {
        guard text.hasSuffix("]") else { return note(at: line, column, "The name of a section ends with ']'.") }
        section = text.dropFirst().dropLast().trimmingCharacters(in: .whitespaces)
        query = nil
        switch section {
        case "endpoint": destination = nil
        case "defining_query", "defining_request": break
        default:
            note(
                at: line, column,
                "The section '\(section)' is kept for the export, and has no effect.", isWarning: true)
        }
    }

    private mutating func take(_ key: String, _ value: String, at line: Int, column: Int, valueColumn: Int) {
        switch section {
        case "endpoint": takeEndpoint(key, value, at: line, column: column, valueColumn: valueColumn)
        case "defining_query", "defining_request":
            takeQuery(key, value, at: line, column: column, valueColumn: valueColumn)
        case "": note(at: line, column, "The key '\(key)' stands before the first section.")
        default: application.preserved["\(section)/\(key)"] = value
        }
    }

    private mutating func takeEndpoint(
        _ key: String, _ value: String, at line: Int, column: Int, valueColumn: Int
    ) {
        if key == "name" {
            guard application.destinations[value] != nil else {
                let near = QueryError.suggestions(for: value, among: application.destinations.keys.sorted())
                let advice = near.isEmpty ? "Add it with its URL first." : "Did you mean \(near[0])?"
                destination = nil
                return note(at: line, valueColumn, "There is no destination '\(value)'. \(advice)")
            }
            destination = value
            return
        }
        guard let name = destination, var changed = application.destinations[name] else {
            if !problems.contains(where: { !$0.isWarning }) {
                note(at: line, column, "The first key of an endpoint is its name.")
            }
            return
        }
        if key == "indexed_type", hasClearedIndexes.insert(name).inserted { changed.store.indexes = [] }
        switch EndpointFileKeys.set(key, value, of: &changed) {
        case .taken: application.destinations[name] = changed
        case .takenAs(let remark):
            application.destinations[name] = changed
            note(at: line, valueColumn, remark, isWarning: true)
        case .refused(let expected): note(at: line, valueColumn, "\(key) is \(expected).")
        case .unknown:
            application.preserved["endpoint \(name)/\(key)"] = value
            note(at: line, column, "The key '\(key)' is kept for the export, and has no effect.", isWarning: true)
        }
    }

    private mutating func takeQuery(
        _ key: String, _ value: String, at line: Int, column: Int, valueColumn: Int
    ) {
        guard let name = destination else {
            if !problems.contains(where: { !$0.isWarning }) {
                note(at: line, column, "A defining query belongs to the endpoint before it.")
            }
            return
        }
        if key == "name" {
            if let objection = ApplicationKeySchema.objection(to: value) {
                return note(at: line, valueColumn, "'\(value)' is no name: \(objection)")
            }
            query = value
            if application.destinations[name]?.queries[value] == nil {
                application.destinations[name]?.queries[value] = QueryConfiguration(value)
                note(
                    at: line, valueColumn,
                    "The defining query '\(value)' is new, and reads the entity set of this name.",
                    isWarning: true)
            }
            return
        }
        guard let query, var changed = application.destinations[name]?.queries[query] else {
            return note(at: line, column, "The first key of a defining query is its name.")
        }
        switch EndpointFileKeys.set(key, value, of: &changed) {
        case .taken: application.destinations[name]?.queries[query] = changed
        case .takenAs(let remark):
            application.destinations[name]?.queries[query] = changed
            note(at: line, valueColumn, remark, isWarning: true)
        case .refused(let expected): note(at: line, valueColumn, "\(key) is \(expected).")
        case .unknown:
            application.preserved["query \(name) \(query)/\(key)"] = value
            note(at: line, column, "The key '\(key)' is kept for the export, and has no effect.", isWarning: true)
        }
    }
}
