import ForeignPrograms
import Foundation
import ODataClient
import Testing

@Suite("The version of Outpost")
struct VersionTests {
    @Test("The tool, its Server field and the change log have the same version")
    func same() async throws {
        let site = try Site()
        let printed = try await site.tool.run("--version")
        #expect(printed.code == 0 && printed.output == OutpostProduct.version + "\n")
        try await site.serve()
        let answer = try await Command.curl("--include", site.url)
        #expect(answer.lowercased().contains("\r\nserver: outpost/\(OutpostProduct.version)\r\n"), "\(answer)")
        let log = try String(contentsOf: Site.root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        #expect(try #require(log.firstMatch(of: /\n## (\d+\.\d+\.\d+)/)).1 == OutpostProduct.version)
    }

    @Test("A single source file contains the version")
    func once() throws {
        let sources = Site.root.appendingPathComponent("Sources")
        var found: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        where path.hasSuffix(".swift") || path.hasSuffix(".md") {
            let text = try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
            let own =
                text.contains("\"\(OutpostProduct.version)\"") || text.contains("outpost-\(OutpostProduct.version)")
            if own { found.append(path) }
        }
        #expect(found == ["Protocol/ODataClient/Service/OutpostProduct.swift"])
    }
}
