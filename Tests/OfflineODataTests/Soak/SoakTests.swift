import Foundation
import Testing

@Suite("A soak")
struct SoakTests {
    /// The number of rounds that reveals growth: 40 rounds to warm up, and 40 more to measure.
    private static let rounds = 80

    @Test("of some seconds: memory, descriptors and log stay constant, and both sides are equal (make soak: an hour)")
    func seconds() throws {
        let process = Process()
        process.executableURL = Executables.url("Soak")
        process.arguments = ["--rounds", String(Self.rounds)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains("\(Self.rounds) rounds, "), "\(text)")
        #expect(text.contains("all flat, both sides equal"), "\(text)")
        #expect(!text.contains(" 0 changes accepted"), "\(text)")
    }
}
