import Foundation
import Testing

@Suite("The table of clauses in the documentation")
struct TableTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("has a row for each conformance test and no other rows")
    func rows() throws {
        let page = Self.root.appendingPathComponent("Sources/Protocol/ODataServer/Documentation.docc/Conformance.md")
        let documented = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| clause") && !$0.hasPrefix("| ---") }
            .map { row in
                row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
                    .joined(separator: " ")
            }
        #expect(Set(documented).count == documented.count)
        #expect(Set(documented) == (try Self.testNames()))
    }

    /// Returns the names of the tests in this target, except those of this file.
    private static func testNames() throws -> Set<String> {
        let folder = root.appendingPathComponent("Tests/ConformanceTests")
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasSuffix("Tests.swift") && file != "TableTests.swift" {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            for match in text.matches(of: /@Test\(\s*"([^"]+)"/) { names.insert(String(match.1)) }
        }
        return names
    }
}
