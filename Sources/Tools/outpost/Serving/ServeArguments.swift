import Foundation

/// The arguments of `outpost serve` on a command line: the options with their values, and the argument without a name.
struct ServeArguments {
    /// The values of options by their names; a flag has the value `true`.
    private(set) var options: [String: [String]] = [:]
    /// The argument without a name; `nil` if there is none.
    private(set) var path: String?

    /// Reads arguments that follow `serve`. Whether they are right is for the argument parser to say.
    init(_ arguments: some Sequence<String>) {
        let flags = Set(ServeSetting.all.filter { if case .flag = $0.kind { true } else { false } }.map(\.name))
            .union(ServeSetting.commandLineOnly.subtracting([ServeSetting.file]))
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                path = rest.first ?? path
                break
            }
            guard argument.hasPrefix("--") else {
                if !argument.hasPrefix("-") || argument == "-" { path = argument }
                continue
            }
            let text = argument.dropFirst(2)
            let name = Self.canonical(String(text.prefix { $0 != "=" }))
            if let mark = text.firstIndex(of: "=") {
                options[name, default: []].append(String(text[text.index(after: mark)...]))
            } else if flags.contains(name) {
                options[name] = ["true"]
            } else if let value = rest.popFirst() {
                options[name, default: []].append(value)
            }
        }
    }

    /// The name of an option of which there are two.
    private static func canonical(_ name: String) -> String { name == "tls-certificate" ? "tls" : name }

    /// The names of the settings in which these arguments differ from others.
    func differences(from other: ServeArguments) -> [String] {
        ServeSetting.all.map(\.name).filter { name in
            name == ServeSetting.path ? path != other.path : options[name] != other.options[name]
        }
    }

    /// The arguments of the tool with the settings of all sources, if they are those of `outpost serve`.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the tool, without its own name.
    ///   - environment: the environment.
    /// - Throws: ``Failure`` that names the file, line and column, or the variable.
    static func expanded(
        _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> [String] {
        guard let name = arguments.first, name == Serve.configuration.commandName,
            Set(arguments).isDisjoint(with: ["--help", "-h", "--version", "--experimental-dump-help"])
        else { return arguments }
        let given = Array(arguments.dropFirst())
        return try [name] + ServeSettings(given: given, environment: environment).arguments
    }
}
