import Foundation
import ODataQuery
import ToolLanguage

/// The settings of a service from the command line, the environment and a configuration file, in this order of
/// precedence.
struct ServeSettings {
    /// The arguments of `outpost serve` with the settings of all sources.
    let arguments: [String]

    /// Merges the settings.
    ///
    /// - Parameters:
    ///   - given: the arguments of the command line.
    ///   - environment: the environment.
    /// - Throws: ``Failure`` that names the file, line and column, or the variable.
    init(given: [String], environment: [String: String]) throws {
        let known = ServeArguments(given)
        var values = try Self.values(in: environment)
        let variable = environment[ServeSetting.variable(of: ServeSetting.file)].flatMap { $0.isEmpty ? nil : $0 }
        if let file = known.options[ServeSetting.file]?.last ?? variable {
            try values.merge(Self.values(in: YAMLFile(path: file))) { stronger, _ in stronger }
        }
        var added: [String] = []
        for setting in ServeSetting.all where setting.name != ServeSetting.path && known.options[setting.name] == nil {
            for value in values[setting.name] ?? [] {
                switch setting.kind {
                case .flag: if value == "true" { added.append("--\(setting.name)") }
                default: added.append("--\(setting.name)=\(value)")
                }
            }
        }
        // The options stand before a mark after which nothing is an option.
        let end = given.firstIndex(of: "--") ?? given.endIndex
        var arguments: [String] = Array(given[..<end]) + added + Array(given[end...])
        if known.path == nil, let path = values[ServeSetting.path]?.first { arguments += ["--", path] }
        self.arguments = arguments
    }

    // MARK: Sources

    private static func values(in environment: [String: String]) throws -> [String: [String]] {
        var values: [String: [String]] = [:]
        for (variable, text) in environment where variable.hasPrefix(ServeSetting.prefix) {
            guard variable != ServeSetting.variable(of: ServeSetting.file), !text.isEmpty else { continue }
            guard let setting = ServeSetting.all.first(where: { $0.variable == variable }) else {
                let near = QueryError.suggestions(for: variable, among: ServeSetting.all.map(\.variable))
                throw Failure(
                    message: "The environment has the variable \(variable), which is no setting of 'outpost serve'.",
                    advice: near.isEmpty ? nil : "Did you mean \(near.joined(separator: translated(" or ")))?",
                    status: .misused)
            }
            func refuse(_ kind: TerminalText) -> Failure {
                Failure(message: "The variable \(variable) is \(kind).", status: .misused)
            }
            switch setting.kind {
            case .text, .path: values[setting.name] = [text]
            case .texts:
                values[setting.name] = text.split(whereSeparator: \.isNewline).map(String.init)
            case .flag:
                guard text == "true" || text == "false" else { throw refuse("true or false") }
                values[setting.name] = [text]
            case .number(let range):
                guard let number = Int(text), range.contains(number) else {
                    throw refuse("a number from \(range.lowerBound) to \(range.upperBound)")
                }
                values[setting.name] = [text]
            }
        }
        return values
    }

    private static func values(in file: YAMLFile) throws -> [String: [String]] {
        guard let root = file.root else { return [:] }
        var values: [String: [String]] = [:]
        let known = ServeSetting.all.map(\.name)
        for (name, _, value) in try file.entries(of: root, known: known, in: "The configuration") {
            guard let setting = ServeSetting.all.first(where: { $0.name == name }) else { continue }
            switch setting.kind {
            case .text: values[name] = [try file.text(value, of: name)]
            case .texts: values[name] = try file.texts(value, of: name)
            case .flag: values[name] = [try file.flag(value, of: name) ? "true" : "false"]
            case .number(let range): values[name] = try ["\(file.number(value, of: name, in: range))"]
            case .path: values[name] = [place(try file.text(value, of: name), beside: file.path)]
            }
        }
        return values
    }

    /// Returns a path in the folder of a configuration file. A URL, and a path from the root, stay as they are.
    private static func place(_ text: String, beside file: String) -> String {
        guard !text.hasPrefix("/"), !text.contains("://") else { return text }
        let folder = (file as NSString).deletingLastPathComponent
        return folder.isEmpty ? text : (folder as NSString).appendingPathComponent(text)
    }
}
