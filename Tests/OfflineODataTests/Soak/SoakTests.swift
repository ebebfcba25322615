import Foundation
import Testing

@Suite("A soak")
struct SoakTests {
    @Test("of some seconds: memory, descriptors and log stay flat, and both sides are equal (make soak: an hour)")
    func seconds() throws {
        let process = Process()
        process.executableURL = Executables.url("Soak")
        process.arguments = ["4"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains("all flat, both sides equal"))
    }
}
