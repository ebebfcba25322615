import Foundation
import Testing

@Suite("Memory of the tool", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits")))
struct MemoryTests {
    @Test("No command that opens a clone leaves a core dump", arguments: ["serve", "watch"])
    func dumps(command: String) async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        site.stop()
        let arguments = command == "serve" ? ["serve", clone, "--port", "0"] : ["watch", clone, "Customers"]
        let (process, output, _) = site.tool.process(arguments)
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", "ulimit -c unlimited; grep core /proc/self/limits; exec \"$0\" \"$@\"", Tool.executable.path]
            + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        let allowed = await Tool.line(of: output)
        #expect(allowed.contains("unlimited"), "the control: \(allowed)")
        // By its first line it has its keys.
        #expect(await !Tool.line(of: output).isEmpty)
        let limits = try String(contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
    }

    @Test("Serving a large database does not load it into memory")
    func servedFile() async throws {
        let size = 1 << 30
        let site = try Site()
        let sql = try String(contentsOf: Site.root.appendingPathComponent("Examples/Shop/shop.sql"), encoding: .utf8)
        try SQLite.execute(sql, in: site.database)
        // A hole, which takes no room on the disk. SQLite goes by the number of pages in the first one.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: site.database))
        try file.truncate(atOffset: UInt64(size))
        try file.close()
        try await site.serve(path: site.database)
        #expect(site.entitySets.contains("Customers"))
        let status = try String(contentsOfFile: "/proc/\(site.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let peak = try #require(Int(line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1])) * 1024
        #expect(peak < size / 2, "\(peak) bytes")
        site.stop()
    }
}
