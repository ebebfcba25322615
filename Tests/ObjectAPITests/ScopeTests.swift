import Foundation
import Testing

/// `Scope.csv` says for each requirement of the Object API which tests hold it, or why none does.
@Suite("The scope")
struct ScopeTests {
    /// The requirements of both tables, by prefix and number.
    private static let numbered: [(prefix: String, numbers: [ClosedRange<Int>], digits: Int)] = [
        ("R", [1...53], 1), ("S", [1...17], 1), ("CP-", [1...2], 1), ("SP-", [1...6], 1), ("AU-", [1...13], 1),
        ("PK-", [1...5], 1), ("SY-", [1...4], 1), ("SN-", [1...8], 1), ("MS-", [1...9], 1), ("PU-", [1...4], 1),
        ("LG-", [1...12], 1), ("LO-", [1...1], 1), ("LT-", [1...5], 1), ("CL-", [1...8], 1), ("EN-", [1...3], 1),
        ("DV-", [1...18], 1), ("CB-", [1...3], 1), ("AP-", [1...5], 1), ("QO-", [1...4], 1), ("QD-", [1...14], 1),
        ("QR-", [1...4], 1), ("RL-", [1...3], 1), ("OP-", [1...11], 1), ("DB-", [1...3], 1), ("LA-", [1...1], 1),
        ("MD-", [1...6], 1), ("EX-", [0...4], 1), ("G-", [1...34], 1),
        ("R-", [1...7, 10...15, 20...25, 30...46, 50...57, 60...71], 2), ("S-", [1...18], 2),
    ]

    private static var identifiers: Set<String> {
        var result: Set<String> = []
        for (prefix, ranges, digits) in numbered {
            for number in ranges.joined() {
                let text = String(number)
                result.insert(prefix + String(repeating: "0", count: max(0, digits - text.count)) + text)
            }
        }
        return result
    }

    private static func lines() throws -> [(id: String, text: String)] {
        let file = ObjectGoldenTests.folder.appendingPathComponent("Scope.csv")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
            let fields = line.split(separator: ";", maxSplits: 1).map(String.init)
            return (fields[0], fields.count == 2 ? fields[1] : "")
        }
    }

    @Test("has one line for each requirement")
    func complete() throws {
        let lines = try Self.lines()
        #expect(Set(lines.map(\.id)).symmetricDifference(Self.identifiers).sorted() == [])
        #expect(Set(lines.map(\.id)).count == lines.count)
        #expect(lines.allSatisfy { !$0.text.isEmpty })
    }

    @Test("names tests that exist")
    func tests() throws {
        let files = FileManager.default.enumerator(at: ObjectGoldenTests.folder, includingPropertiesForKeys: nil)
        var known: Set<String> = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let suite = file.deletingPathExtension().lastPathComponent
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: /func (\w+)\(/) { known.insert("\(suite).\(match.1)") }
        }
        for line in try Self.lines() where line.text.hasPrefix("test ") {
            for name in line.text.dropFirst(5).split(separator: " ") {
                #expect(known.contains(String(name)), "\(line.id) names \(name)")
            }
        }
    }
}
