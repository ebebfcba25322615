import ArgumentParser
import Foundation
import OfflineOData
import ToolLanguage

/// The values of query parameters, such as `@employee`. They are kept with the clone, for its user.
struct ParameterOptions: ParsableArguments {
    @Option(
        name: .customLong("set"),
        help: .text(
            """
            A value for a query parameter, as in a URL: employee=7 for @employee, name='Ann' with its quotes. \
            An empty value removes the parameter. The clone keeps it. May be repeated.
            """, valueName: "name=value"
        ))
    var settings: [String] = []

    mutating func validate() throws { _ = try values }

    /// The values by name, without `@`.
    var values: [String: String] {
        get throws {
            let given = try NamedValue.dictionary(
                settings, option: "--set", example: "employee=7", mayBeEmpty: true)
            return Dictionary(
                given.map { ($0.key.hasPrefix("@") ? String($0.key.dropFirst()) : $0.key, $0.value) },
                uniquingKeysWith: { $1 })
        }
    }
}

extension OfflineStore.Queries {
    /// Sets the values of parameters; an empty value is removed.
    func setParameters(_ values: [String: String]) async throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            try await setParameter(name, to: value.isEmpty ? nil : value)
        }
    }
}

/// A name and a value in one argument, joined by an equals sign.
enum NamedValue {
    /// Reads arguments.
    ///
    /// - Throws: `ValidationError` that names the option, with an example.
    static func dictionary(
        _ texts: [String], option: String, separator: Character = "=", example: String, mayBeEmpty: Bool = false
    ) throws -> [String: String] {
        var pairs: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: !mayBeEmpty)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let name = parts.first, !name.isEmpty else {
                throw ValidationError(translated("\(option) takes a name and a value, such as \(example)."))
            }
            pairs[name] = parts[1]
        }
        return pairs
    }
}
