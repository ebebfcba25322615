import Foundation
import Testing

@Suite("The codes of errors")
struct ErrorCodeTests {
    /// The types to which a file gives a code without declaring them.
    private static func strangers(in source: String) -> [String] {
        let lines = source.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        let text = lines.joined(separator: "\n")
        return text.matches(of: /extension (?:\w+\.)*(\w+): CodedError\b/).map { String($0.1) }.filter { name in
            !text.matches(of: /(?:enum|struct|class) (\w+)/).contains { $0.1 == name }
        }
    }

    @Test("stand in the files that declare the errors")
    func beside() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let source = try String(contentsOf: file, encoding: .utf8)
            if source.contains(": CodedError") { count += 1 }
            #expect(Self.strangers(in: source) == [], "\(file.lastPathComponent)")
        }
        #expect(count > 20, "codes were found at all")
    }

    @Test("a code that stands in another file than its error is found")
    func elsewhere() {
        #expect(Self.strangers(in: "extension FarmError: CodedError {}") == ["FarmError"])
        #expect(Self.strangers(in: "enum FarmError: Error {}\nextension FarmError: CodedError {}") == [])
        #expect(Self.strangers(in: "/// extension FarmError: CodedError {}") == [])
    }
}
