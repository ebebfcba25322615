import Foundation
import Testing

@Suite("The outputs of the tool")
struct OutputTests {
    /// All that the tool shows goes through one place, which makes the texts of strangers harmless.
    @Test("only one file writes to the outputs")
    func places() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Tools/outpost")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let ways = [
            "standardOutput", "standardError", "STDOUT_FILENO", "STDERR_FILENO", "Swift.print", "debugPrint", "dump(",
            "fputs",
            "putchar", "StreamLogHandler(", "/dev/stdout", "/dev/tty",
        ]
        var (count, found) = (0, Set<String>())
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            for way in ways where text.contains(way) { found.insert("\(file.lastPathComponent): \(way)") }
        }
        #expect(count > 50)
        // The output of a browser is discarded. Signal handlers write a text of the program, since they must not
        // wait for another writer.
        #expect(
            found == [
                "ReloadSignal.swift: /dev/tty", "Terminal.swift: standardOutput", "Terminal.swift: standardError",
                "Terminal+Secrets.swift: STDERR_FILENO", "StopDeadline.swift: standardError",
                "WebBrowser.swift: standardOutput", "WebBrowser.swift: standardError",
            ])
    }
}
