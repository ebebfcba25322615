import Foundation
import Testing

@Suite("What the tool has in memory", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits")))
struct MemoryTests {
    @Test("No command that opens a clone may be written to a core dump", arguments: ["serve", "watch"])
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
}
