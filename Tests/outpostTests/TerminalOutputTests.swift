import Foundation
import Testing

@Suite("No harmful character reaches a terminal")
struct TerminalOutputTests {
    /// Runs a command with all its outputs at a terminal.
    private func shown(_ tool: Tool, _ arguments: [String], for limit: Duration = .seconds(60)) async throws -> String {
        let terminal = try PseudoTerminal()
        let (process, _, _) = tool.process(arguments, environment: ["TERM": "xterm", "NO_COLOR": "1"])
        process.standardOutput = terminal.handle
        process.standardError = terminal.handle
        try process.run()
        let end = ContinuousClock.now + limit
        var text = ""
        while process.isRunning, ContinuousClock.now < end {
            text += terminal.read()
            try await Task.sleep(for: .milliseconds(20))
        }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        // The line that tells of progress is the tool's own, and so are the ends of its lines.
        return (text + terminal.read()).replacing("\r\u{1B}[K", with: "").replacing("\r\n", with: "\n")
    }

    private func expectHarmless(
        _ text: String, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let harm = text.unicodeScalars.filter { scalar in
            let category = scalar.properties.generalCategory
            return category == .control && scalar != "\n" || category == .format || category == .lineSeparator
        }
        #expect(
            harm.isEmpty, "\(what): \(harm.map(\.value)) in \(text.debugDescription)", sourceLocation: sourceLocation)
        let isForged = text.split(separator: "\n").contains { $0.hasPrefix("FAKE") }
        #expect(!isForged, "\(what)", sourceLocation: sourceLocation)
    }

    @Test("Names, codes, messages and values are harmless in every command")
    func commands() async throws {
        let site = try Site()
        let tool = site.tool
        try await HostileService().serving { url in
            let clone = site.path("clone")
            expectHarmless(try await shown(tool, ["clone", url, clone, "--trace", "high"]), "clone")
            #expect(try await tool.run("update", clone, "Things(1)", "Name=x").code == 0)
            let commands: [[String]] = [
                ["query", clone, "Things"], ["query", clone, "Things(1)"], ["query", clone, "Things", "--json"],
                ["query", clone, "Things(1)/Name/$value"], ["query", clone, "Things(1)/Name"],
                ["query", clone, "Things?$filter=Name eq '\(HostileService.harm)'", "--explain"],
                ["query", clone, "Things?$filter=Nam eq '\(HostileService.harm)'"],
                ["explain", clone, "Things?$filter=Name eq '\(HostileService.harm)'"],
                ["export", clone, "--query", "Things", "--format", "csv"],
                ["export", clone, "--query", "Things", "--format", "json"],
                ["push", clone, "--trace", "low"], ["status", clone], ["errors", clone], ["errors", clone, "--json"],
                ["conflicts", clone], ["log", clone], ["log", clone, "--json"], ["log"],
                ["pull", clone, "--trace", "high"], ["metadata", "show", url], ["nothing\(HostileService.harm)"],
                ["query", "no\(HostileService.harm)", "Things"],
                ["errors", "retry", clone], ["push", clone, "--trace", "high"],
            ]
            for command in commands {
                let text = try await shown(tool, command)
                #expect(!text.isEmpty || command.contains("conflicts"), "\(command)")
                expectHarmless(text, command.joined(separator: " "))
            }
            let watched = try await shown(tool, ["watch", clone, "Things"], for: .seconds(3))
            #expect(watched.contains("ID=1"))
            expectHarmless(watched, "watch")
        }
    }

    @Test("CSV in a pipe or file keeps values unchanged, and JSON escapes them")
    func files() async throws {
        let site = try Site()
        let tool = site.tool
        try await HostileService().serving { url in
            let clone = site.path("clone")
            #expect(try await tool.run("clone", url, clone).code == 0)
            let csv = try await tool.run("export", clone, "--query", "Things", "--format", "csv")
            #expect(csv.output.contains("value \(HostileService.harm)"))
            #expect(csv.errors.contains("--guard-formulas") && csv.output.contains("\"=a"))
            let guarded = try await tool.run(
                "export", clone, "--query", "Things", "--format", "csv", "--guard-formulas")
            #expect(guarded.output.contains("\"'=a") && !guarded.errors.contains("--guard-formulas"))
            for arguments in [["export", clone, "--query", "Things"], ["query", clone, "Things", "--json"]] {
                let json = try await tool.run(arguments)
                expectHarmless(json.output, "\(arguments)")
                #expect(json.output.contains("\\u202e"))
                let value = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
                let rows = (value as? [String: Any])?["value"] as? [[String: Any]] ?? value as? [[String: Any]]
                #expect(rows?.first?["Name"] as? String == "value \(HostileService.harm)")
            }
        }
    }
}
