import Foundation
import Testing

@Suite("The commands of the tool")
struct CommandNameTests {
    /// The argument parser asks every command for its name at each start, and makes one that is missing of the name of the type:
    /// Swift then looks through all types of the program, which is half of the time of a short command.
    @Test("say their names")
    func names() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Tools/outpost")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "CommandConfiguration(")
            for part in parts.dropFirst() {
                count += 1
                #expect(
                    part.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("commandName:"),
                    "\(file.lastPathComponent): \(part.prefix(60))")
            }
        }
        #expect(count > 40)
    }
}
