import ArgumentParser
import Foundation
import OfflineOData
import Supportability
import ToolLanguage

/// The options for the connection to the service of a clone, kept in its encrypted store without secrets.
///
/// A pull without a header field or an option that selects rows, such as `sap-client`, would treat all other
/// rows as deleted. Therefore later commands use the options of the clone, and a contradicting option is
/// refused.
struct KeptConnection: Codable, Equatable {
    /// Header fields by their names in small letters; `nil` for a value that may be secret.
    var headers: [String: String?] = [:]
    /// Query options by their names; `nil` for a value that may be secret.
    var options: [String: String?] = [:]
    /// The language of the service's texts.
    var language: String?
    /// The user at the service.
    var user: String?
    /// Whether the user is named by a token.
    var usesToken = false
    /// Further hosts for links.
    var followed: [String] = []

    /// The name of the text that the store keeps.
    static let name = "outpost.connection"

    /// Reads the kept text.
    ///
    /// - Returns: `nil` for the store of an earlier version.
    init?(in texts: [String: String]) {
        guard let text = texts[Self.name],
            let kept = try? JSONDecoder().decode(KeptConnection.self, from: Data(text.utf8))
        else { return nil }
        self = kept
    }

    /// Collects the options of a command.
    ///
    /// - Throws: `ValidationError` for text that is no header field or option.
    init(_ service: ServiceOptions) throws {
        for (name, value) in try service.headers { headers[name.lowercased()] = Self.keepable(name, value) }
        for (name, value) in try service.requestOptions { options[name] = Self.keepable(name, value) }
        language = service.serviceLanguage
        user = service.user
        usesToken = service.tokenFile != nil
        followed = service.followed
    }

    /// The value of a field or an option; `nil` inside where it may be secret.
    private static func keepable(_ name: String, _ value: String) -> String?? {
        let lower = name.lowercased()
        let isSecret =
            SecretRedaction.mayNameSecret(name) || ["key", "auth", "token"].contains(where: lower.contains)
            || SecretRedaction().redacted("\(value)") != value
        return .some(isSecret ? nil : value)
    }

    /// The text that the store keeps.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

extension ServiceOptions {
    /// Returns the options of a command, completed by those of the clone.
    ///
    /// - Parameter kept: the options of the clone.
    /// - Returns: the options, and the completed ones as they would be written.
    /// - Throws: ``Failure`` for options that contradict those of the clone.
    func completed(by kept: KeptConnection) throws -> (options: ServiceOptions, taken: [String]) {
        let given = try KeptConnection(self)
        var (completed, taken, differences) = (self, [String](), [String]())
        func compare(
            _ option: String, _ given: [String: String?], kept: [String: String?], separator: String,
            into values: inout [String]
        ) {
            for (name, value) in kept.sorted(by: { $0.key < $1.key }) {
                switch (given[name], value) {
                case (nil, let value?):
                    values.append("\(name)\(separator)\(value)")
                    taken.append("\(option) '\(name)\(separator)\(value)'")
                case (nil, nil):
                    differences.append(translated("\(option) \(name) is missing, whose value is not kept"))
                case (.some(let other?), let value?) where other != value:
                    differences.append(
                        translated("\(option) '\(name)\(separator)\(other)' instead of '\(name)\(separator)\(value)'"))
                default: break
                }
            }
            for (name, value) in given.sorted(by: { $0.key < $1.key }) where kept[name] == nil {
                guard let value else { continue }
                differences.append(translated("\(option) '\(name)\(separator)\(value)' is new"))
            }
        }
        compare("--header", given.headers, kept: kept.headers, separator: ": ", into: &completed.fields)
        compare("--option", given.options, kept: kept.options, separator: "=", into: &completed.queryOptions)
        if let language = kept.language, language != serviceLanguage {
            if let serviceLanguage {
                differences.append(translated("--service-language \(serviceLanguage) instead of \(language)"))
            } else {
                completed.serviceLanguage = language
                taken.append("--service-language \(language)")
            }
        }
        if let name = kept.user {
            if user == nil, tokenFile == nil {
                completed.user = name
                taken.append("--user \(name)")
            } else if user != name {
                differences.append(
                    translated("\(user.map { "--user \($0)" } ?? "--token-file") instead of --user \(name)"))
            }
        } else if kept.usesToken, tokenFile == nil {
            differences.append(
                translated(user.map { "--user \($0) instead of --token-file" } ?? "--token-file is missing"))
        }
        for host in kept.followed where !followed.contains(host) {
            completed.followed.append(host)
            taken.append("--follow \(host)")
        }
        guard differences.isEmpty else {
            throw Failure(
                message: "The clone was made with other options: \(differences.joined(separator: "; ")).",
                advice:
                    """
                    With other options, the service may show other rows, and the next pull would remove those that it \
                    leaves out. Give the options of the clone, or make another clone. To go on with yours: \
                    --keep-options
                    """,
                status: .misused)
        }
        return (completed, taken)
    }
}

/// The choice whether the options of a command replace those of the clone.
struct KeepingOptions: ParsableArguments {
    @Flag(
        name: .customLong("keep-options"),
        help: .text("Use the header fields, options, language and user of this command from then on."))
    var keepsOptions = false

    /// Returns the options of a command, completed by those of its clone, and prints the completed ones.
    func completed(_ service: ServiceOptions, in basis: ConnectionBasis) throws -> ServiceOptions {
        guard !keepsOptions, let kept = KeptConnection(in: basis.texts) else { return service }
        let (options, taken) = try service.completed(by: kept)
        if !taken.isEmpty {
            Terminal.error(Terminal.dim("As the clone was made: \(taken.joined(separator: " "))", on: .error))
        }
        return options
    }
}
