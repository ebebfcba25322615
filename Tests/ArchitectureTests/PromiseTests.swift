import Foundation
import Testing

@Suite("The page of promises")
struct PromiseTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func page() throws -> String {
        try String(
            contentsOf: root.appendingPathComponent(
                "Sources/OfflineOData/Documentation.docc/WhatOutpostPromises.md"), encoding: .utf8)
    }

    /// Every test of the package, as the page names them: suite, slash, function.
    private static func tests() throws -> Set<String> {
        var found: Set<String> = []
        let files = FileManager.default.enumerator(
            at: root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            var suite = ""
            var isTest = false
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                if let match = line.firstMatch(of: /^(?:@Suite )?(?:private )?(?:struct|extension|enum) (\w+Tests)\b/) {
                    suite = String(match.1)
                }
                if line.contains("@Test") { isTest = true }
                if isTest, let match = line.firstMatch(of: /\bfunc (\w+)\(/) {
                    found.insert("\(suite)/\(match.1)")
                    isTest = false
                }
            }
        }
        return found
    }

    @Test("Every test that the page names is there, and every line of a table names one")
    func named() throws {
        let page = try Self.page()
        let tests = try Self.tests()
        #expect(tests.count > 500, "tests were found at all")
        let named = page.matches(of: /`(\w+Tests\/\w+)`/).map { String($0.1) }
        #expect(named.count > 40)
        for name in named { #expect(tests.contains(name), "\(name) is no test") }
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            guard !line.hasPrefix("| promise"), !line.hasPrefix("| ---") else { continue }
            #expect(line.contains(/`(\w+Tests\/\w+|make \w+)/), "no test: \(line)")
        }
    }

    @Test("Every command that the page names is in the Makefile")
    func commands() throws {
        let rules = try String(contentsOf: Self.root.appendingPathComponent("Makefile"), encoding: .utf8)
            .split(separator: "\n").compactMap { $0.firstMatch(of: /^(\w+):/).map { String($0.1) } }
        let named = try Self.page().matches(of: /`make (\w+)/).map { String($0.1) }
        #expect(!named.isEmpty)
        for name in named { #expect(rules.contains(name), "make \(name) is no rule") }
    }
}
