import Foundation
import Testing

@Suite("The log of the tool")
struct LogTests {
    private struct Entry: Decodable {
        var severity: String
        var tag: String
        var message: String
        var correlationID: String?
        var processID: Int32
    }

    private func entries(_ tool: Tool, _ arguments: String...) async throws -> [Entry] {
        let (process, output, _) = tool.process(["log", "--json"] + arguments)
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode([Entry].self, from: data)
    }

    @Test("Each run is logged with its failure and without secrets, and found by filters")
    func runs() async throws {
        let site = try Site()
        let tool = site.tool
        let refused = try await tool.run("query", site.path("password=hunter2"), "Orders")
        #expect(refused.code == 1)
        try await tool.run("status", site.path("none"))

        let all = try await entries(tool)
        #expect(all.filter { $0.message == "begins" }.map(\.tag) == ["outpost.query", "outpost.status"])
        let errors = try await entries(tool, "--level", "error", "--tag", "outpost.query", "--since", "1h")
        #expect(errors.count == 1)
        #expect(errors.first?.message.contains("hunter2") == false)
        let run = try #require(errors.first?.correlationID)
        #expect(try await entries(tool, "--correlation", run).map(\.tag) == ["outpost.query", "outpost.query"])
        #expect(try await entries(tool, "--process", String(try #require(errors.first).processID)).count == 2)
        #expect(try await entries(tool, "--until", "1h").isEmpty)
        #expect(try await entries(tool, "--last", "1").map(\.tag) == ["outpost.status"])
    }

    @Test("A person sees the newest entry first, with UTC time and result, and no source location")
    func reader() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        #expect(try await site.tool.run("query", clone, "Ordres").code == 1)
        #expect(try await site.tool.run("status", site.path("none")).code == 1)
        let log = try await site.tool.run("log").output
        let lines = log.split(separator: "\n")
        #expect(lines.first?.contains("Z error outpost.status fails error-code=") == true, "\(log)")
        let typed =
            "Z warning outpost.query fails error-code=query.unknown-name error-kind=request exit-code=1 position=0"
        #expect(lines.contains { $0.hasSuffix(typed) }, "\(log)")
        #expect(!log.contains(".swift"), "\(log)")
    }

    @Test("The encrypted log is exported as text, reduced by level and cleared")
    func export() async throws {
        let site = try Site()
        let tool = site.tool
        try await tool.run("status", site.path("none"))
        let file = site.path("report.txt")
        #expect(try await tool.run("log", "--export", file).code == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("OS version: "))
        #expect(text.contains("App name: outpost\n"))
        #expect(text.contains(" ERROR outpost.status "))
        let page = site.path("report.html")
        #expect(try await tool.run("log", "--export", page, "--language", "de").code == 0)
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.hasPrefix("<!DOCTYPE html>") && html.contains("<title>Protokoll</title>"))
        #expect(html.contains("<td>outpost.status</td>"))
        let packed = site.path("report.txt.gz")
        #expect(try await tool.run("log", "--export", packed).code == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: packed)).prefix(2) == Data([0x1F, 0x8B]))
        let folder = tool.home.appendingPathComponent("state/outpost/log")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
            #expect(bytes.range(of: Data("outpost.status".utf8)) == nil, "\(name)")
        }
        #expect(try await tool.run("log", "--remove-below", "error").code == 0)
        #expect(try await entries(tool).map(\.severity) == ["error"])
        #expect(try await tool.run("log", "--clear").code == 0)
        #expect(try await entries(tool).isEmpty)
    }

    @Test("A disabled log records nothing, and an unwritable log stops no command")
    func off() async throws {
        let site = try Site()
        let tool = site.tool
        #expect(
            try await tool.run("metadata", "show", "/nonexistent", environment: ["OUTPOST_LOG_LEVEL": "off"]).code == 2)
        #expect(try await entries(tool).isEmpty)
        let bad = ["XDG_STATE_HOME": site.path("shop.db") + "/below"]
        try Data().write(to: URL(fileURLWithPath: site.path("shop.db")))
        let refused = try await tool.run("metadata", "show", "/nonexistent", environment: bad)
        #expect(refused.code == 2 && refused.errors.contains("cannot be read"))
        #expect(try await tool.run("log", environment: bad).code == 1)
    }

    @Test("The events of a clone are shown with their bytes")
    func transfers() async throws {
        struct Event: Decodable {
            var kind: String
            var requests: Int?
            var bytes: Int64?
        }
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await tool.run("clone", site.url, clone).code == 0)
        for length in [1, 80] {
            let name = String(repeating: "n", count: length)
            #expect(try await tool.run("update", clone, "Products(6)", "Name=\(name)").code == 0)
            #expect(try await tool.run("sync", clone).code == 0)
        }
        let log = try await tool.run("log", clone, "--json")
        let transfers = try JSONDecoder().decode([Event].self, from: Data(log.output.utf8))
            .filter { ["upload", "download"].contains($0.kind) }
        #expect(transfers.map(\.kind) == ["download", "upload", "download", "upload", "download"])
        #expect(transfers.last?.requests == 679)
        #expect(transfers.allSatisfy { $0.bytes ?? 0 > 0 }, "\(log.output)")
        let uploads = transfers.filter { $0.kind == "upload" }
        #expect(uploads.map(\.requests) == [1, 1])
        // Requests and responses both contain the name.
        let more = (uploads.first?.bytes ?? 0) - (uploads.last?.bytes ?? 0)
        #expect(more > 79 + 40, "\(log.output)")
        #expect(try await tool.run("log", clone).output.contains(" kB)"))
        let query = "EventLog?$filter=Type eq 'Download' and Bytes gt 10000"
        let event = try await tool.run("query", clone, query, "--json")
        #expect(event.code == 0 && event.output.contains("\"Bytes\""), "\(event.output) \(event.errors)")
    }

    @Test("Wrong filters are refused", arguments: [["--level", "loud"], ["--since", "yesterday"], ["--last", "0"]])
    func wrong(_ arguments: [String]) async throws {
        let site = try Site()
        let (process, _, _) = site.tool.process(["log"] + arguments)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
    }

    @Test("Metadata are cached between runs, encrypted, unless --no-cache is given")
    func cache() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let folder = tool.home.appendingPathComponent("cache/outpost/cache").path
        let fresh = try await tool.run("metadata", "show", site.url, "--no-cache")
        #expect(fresh.code == 0)
        #expect(FileManager.default.fileExists(atPath: folder) == false)
        let first = try await tool.run("metadata", "show", site.url)
        let items = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".item") }
        #expect(items.isEmpty == false)
        for name in items {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            #expect(bytes.range(of: Data("EntityType".utf8)) == nil)
        }
        let second = try await tool.run("metadata", "show", site.url)
        #expect(first.output == fresh.output && second.output == fresh.output)
    }
}
