import Foundation
import Testing

@Suite("The page of promises")
struct PromiseTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func page() throws -> String {
        try String(
            contentsOf: root.appendingPathComponent(
                "Sources/Sync/OfflineOData/Documentation.docc/WhatOutpostPromises.md"), encoding: .utf8)
    }

    /// Every test of the package as `swift test` names it: target, dot, suite, slash, function.
    private static func tests() throws -> [String] {
        let folder = root.appendingPathComponent("Tests")
        var found: [String] = []
        for target in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let files = FileManager.default.enumerator(
                at: folder.appendingPathComponent(target), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                found += try tests(in: String(contentsOf: file, encoding: .utf8)).map { "\(target).\($0)" }
            }
        }
        return found
    }

    /// The tests of a file: suite, slash, function.
    private static func tests(in source: String) -> [String] {
        var found: [String] = []
        // A suite is a type at the beginning of a line; nested types are not.
        var suite = ""
        var isTest = false
        // Each line is looked at as bytes first: regular expressions on every one would take a minute.
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            if text.startIndex == line.startIndex, text.first != UInt8(ascii: "/"), text.first != UInt8(ascii: "}") {
                let type = /^(?:@Suite(?:\(.*\))? )?(?:\w+ )*(?:struct|extension|enum|class|actor) (\w+)/
                if let match = Substring(line).prefixMatch(of: type) { suite = String(match.1) }
            }
            if text.starts(with: "@Test".utf8) { isTest = true }
            if isTest, let match = Substring(line).firstMatch(of: /\bfunc (\w+|`[^`]+`)/) {
                found.append("\(suite)/\(match.1)")
                isTest = false
            }
        }
        return found
    }

    /// The names on a page: every suite with a function of it, and perhaps its target.
    private static func names(in page: String) -> [String] {
        page.matches(of: /`([\w.]+\/\w+)`/).map { String($0.1) }
    }

    /// The tests that a name stands for.
    private static func tests(named name: String, of tests: [String]) -> [String] {
        tests.filter { $0 == name || $0.hasSuffix(".\(name)") }
    }

    @Test("Every test on the page exists once, and every table row names a test")
    func named() throws {
        let page = try Self.page()
        let tests = try Self.tests()
        #expect(tests.count > 500, "tests were found at all")
        #expect(Set(tests).count == tests.count, "no two tests of a target have one name")
        let named = Self.names(in: page)
        #expect(named.count > 40)
        for name in named {
            let meant = Self.tests(named: name, of: tests)
            #expect(meant.count == 1, "\(name) is \(meant.isEmpty ? "no test" : meant.joined(separator: " and "))")
        }
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            guard !line.hasPrefix("| promise"), !line.hasPrefix("| ---") else { continue }
            #expect(line.contains(/`([\w.]+\/\w+|make \w+)/), "no test: \(line)")
        }
    }

    @Test("A test name is unique; if two targets have the same, the target stands in front")
    func exact() {
        let tests = ["A.FileTests/opens", "B.FileTests/opens", "B.OtherFileTests/opens", "B.FileTests/opensAgain"]
        #expect(Self.tests(named: "FileTests/opens", of: tests).count == 2)
        #expect(Self.tests(named: "B.FileTests/opens", of: tests) == ["B.FileTests/opens"])
        #expect(Self.tests(named: "OtherFileTests/opens", of: tests) == ["B.OtherFileTests/opens"])
        #expect(Self.tests(named: "FileTests/closes", of: tests) == [])
        #expect(Self.names(in: "`FileTests/opens`, `make fuzz` and `B.FileTests/opens`").count == 2)
    }

    @Test("The tests of a file are found in their suites, however these are written")
    func found() {
        // Else this would hold tests itself.
        let test = "@Test"
        let source = """
            @Suite("A request that acts once (rule 1)") struct OneTests {
                /// As \(test) has it.
                func first() {}
                \(test) func second() {}
                \(test)(
                    "A third", arguments: [1])
                func third(number: Int) {}
            }
            private final class Other {
                func none() {}
            }
            extension OneTests {
                \(test)("A fourth") func `in words`() {}
            }
            """
        #expect(Self.tests(in: source) == ["OneTests/second", "OneTests/third", "OneTests/`in words`"])
    }

    @Test("Every command on the page is in the Makefile, and every fuzz target is on the page")
    func commands() throws {
        let rules = try String(contentsOf: Self.root.appendingPathComponent("Makefile"), encoding: .utf8)
            .split(separator: "\n").compactMap { $0.firstMatch(of: /^(\w+):/).map { String($0.1) } }
        let page = try Self.page()
        let named = page.matches(of: /`make (\w+)/).map { String($0.1) }
        #expect(!named.isEmpty)
        for name in named { #expect(rules.contains(name), "make \(name) is no rule") }
        for target in page.matches(of: /`make fuzz TARGET=([\w-]+)`/).map({ String($0.1) }) {
            let file = Self.root.appendingPathComponent("Fuzz/Targets/\(target).swift")
            #expect(FileManager.default.fileExists(atPath: file.path), "there is no fuzzer \(target)")
        }
    }
}
