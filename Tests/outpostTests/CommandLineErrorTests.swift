import Foundation
import Testing

@testable import struct outpost.Misuse

@Suite("Mistakes on the command line")
struct CommandLineErrorTests {
    @Test(
        "A misspelt command is named, with the nearest one",
        arguments: [
            (["qury", "shop", "Orders"], "There is no command 'qury'. Did you mean query?"),
            (["stauts", "shop"], "Did you mean status?"), (["keys", "lst"], "Did you mean keys list?"),
            (["vault", "opne", "x"], "Did you mean vault open?"),
            (["metadata", "shwo", "x"], "Did you mean metadata show?"),
            (["frobnicate", "x"], "There is no command 'frobnicate'."),
            (["query", "shop", "Orders", "--jsn"], "Did you mean '--json'?"),
        ])
    func typos(arguments: [String], words: String) async throws {
        let result = try await Site().tool.run(arguments)
        #expect(result.code == 2 && result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.hasPrefix("error: "), "\(result.errors)")
        #expect(!result.errors.contains("Error:"), "\(result.errors)")
    }

    private struct Report: Decodable {
        struct Body: Decodable {
            var code: String
            var message: String
            var advice: String?
            var query: String?
            var position: Int?
            var exitCode: Int32
        }
        var error: Body
    }

    @Test("With --json an error is a JSON object on standard error, with its stable code")
    func json() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        for (arguments, code, words) in [
            (["query", clone, "Ordres", "--json"], "query.unknown-name", "Did you mean Orders?"),
            (["query", clone, "Orders?$filter=Freight > 5", "--json"], "query.syntax", "Write gt for >."),
            (["status", site.path("nowhere"), "--json"], "tool.", "outpost clone"),
            (["status", "--json"], "tool.usage", "directory"),
            (["qury", "--json"], "tool.usage", "Did you mean query?"),
            (["clone", "http://127.0.0.1:1/", site.path("c"), "--json"], "transport.", "Cannot connect"),
        ] {
            let result = try await site.tool.run(arguments)
            let report = try JSONDecoder().decode(Report.self, from: Data(result.errors.utf8)).error
            #expect(report.code.hasPrefix(code), "\(arguments): \(report)")
            #expect((report.message + (report.advice ?? "")).contains(words), "\(arguments): \(report)")
            #expect(report.exitCode == result.code && result.output.isEmpty, "\(arguments): \(report)")
        }
        let place = try await site.tool.run("query", clone, "Orders?$filter=Freight > 5", "--json")
        let report = try JSONDecoder().decode(Report.self, from: Data(place.errors.utf8)).error
        #expect(report.query == "Orders?$filter=Freight > 5" && report.position == 24, "\(report)")
    }

    @Test("A word in an argument position is no misspelt command")
    func arguments() {
        #expect(Misuse.unknownCommand(["query", "qury"]) == nil)
        #expect(Misuse.unknownCommand(["--help"]) == nil)
        #expect(Misuse.unknownCommand(["qury"])?.suggestions == ["query"])
    }
}
