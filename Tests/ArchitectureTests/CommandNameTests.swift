import Foundation
import Testing

@Suite("The commands of the tool")
struct CommandNameTests {
    /// The argument parser asks every command for its name at each start, and makes one that is missing of the
    /// name of the type: Swift then looks through all types of the program, which is half of the time of a short
    /// command.
    @Test("have names that equal their file names")
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

    @Test("stand in files of their own")
    func files() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Tools/outpost")
        let main = try String(contentsOf: folder.appendingPathComponent("Outpost.swift"), encoding: .utf8)
        let list = try #require(main.firstMatch(of: /subcommands: \[([^\]]+)\]/)).1
        let types = Set(list.matches(of: /(\w+)\.self/).map { String($0.1) })
        #expect(types.count > 30)
        var found: Set<String> = []
        let commands = folder.appendingPathComponent("Commands")
        for path in try FileManager.default.contentsOfDirectory(atPath: commands.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: commands.appendingPathComponent(path), encoding: .utf8)
            let here = text.matches(of: /\nstruct (\w+): [\s\S]*?commandName: "([a-z-]+)"/).filter {
                types.contains(String($0.1))
            }
            #expect(here.count == 1, "\(path) has \(here.count) commands")
            for match in here {
                found.insert(String(match.1))
                let name = match.2.filter { $0 != "-" }
                #expect(path.dropLast(6).lowercased() == name, "outpost \(match.2) is in \(path)")
            }
        }
        #expect(found == types)
    }
}
