import ArgumentParser
import Foundation
import Testing

@testable import outpost_server

/// The help of each command (`mobile-server.md` 2).
@Suite("The help of outpost-server") struct CommandHelpTests {
    private typealias Named = (name: String, command: any ParsableCommand.Type)

    /// All commands without commands of their own.
    private static func leaves(_ command: any ParsableCommand.Type, _ path: [String] = []) -> [Named] {
        let children = command.configuration.subcommands
        guard !children.isEmpty else { return [(path.joined(separator: " "), command)] }
        return children.flatMap { leaves($0, path + [$0._commandName]) }
    }

    @Test("The commands are those of the specification")
    func names() {
        let expected: Set = [
            "init", "run", "check", "migrate", "plan", "activate", "app list", "app show", "app add", "app remove",
            "app import", "app export", "user list", "user show", "user add", "user lock", "user unlock",
            "user remove", "user erase", "operator list", "operator add", "operator remove", "operator roles",
            "operator reset", "operator link", "device list", "device show", "device lock", "device unlock",
            "device wipe", "device disconnect", "device activation-code", "feed list", "feed show", "feed refresh",
            "feed resume", "feed check-shared", "backup", "restore", "rekey",
        ]
        let names = Set(Self.leaves(OutpostServer.self).map(\.name))
        #expect(expected.subtracting(names).isEmpty)
    }

    @Test("Each command has a sentence, an example that names it, and --json")
    func examples() {
        for (name, command) in Self.leaves(OutpostServer.self) {
            let help = command.helpMessage()
            #expect(!command.configuration.abstract.isEmpty, "\(name)")
            #expect(help.contains("EXAMPLE") && help.contains("outpost-server \(name)"), "\(name): \(help)")
            #expect(help.contains("--json"), "\(name)")
        }
    }

    @Test("The arguments of commands for one user are the same ones")
    func userArguments() throws {
        for name in ["show", "lock", "unlock", "remove", "erase"] {
            _ = try OutpostServer.parseAsRoot(["user", name, "shop", "ann", "--json"])
            #expect(throws: (any Error).self) { try OutpostServer.parseAsRoot(["user", name, "shop"]) }
        }
    }
}
