import Foundation

extension Tool {
    /// All commands without commands of their own, each with the ones that lead to it.
    func commands(below path: [String] = []) async throws -> [[String]] {
        let help = try await run(path + ["--help"]).output
        guard let rest = help.components(separatedBy: "SUBCOMMANDS:").dropFirst().first,
            let section = rest.components(separatedBy: "\n\n").first
        else { return [path] }
        var found: [[String]] = []
        for line in section.split(separator: "\n") where line.hasPrefix("  ") && !line.hasPrefix("   ") {
            guard let name = line.split(separator: " ").first else { continue }
            found += try await commands(below: path + [String(name.filter { $0 != "," })])
        }
        return found
    }
}
