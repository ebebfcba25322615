import Foundation
import Testing

@Suite("The names of public types")
struct TypeNameTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The start of a line that declares a public type, and its name.
    nonisolated(unsafe) private static let declaration =
        #/
        ^(?:@\w+(?:\([^)]*\))?\ +)*(?:public|open)\ +(?:(?:final|indirect|nonisolated)\ +)*
        (?:struct|class|enum|actor|protocol|typealias|macro)\ +`?(\w+)
        /#

    /// The public types that stand in no other type, those of `#if` blocks included.
    static func types(in source: String) -> [String] {
        var depth = 0
        return source.split(separator: "\n").compactMap { line in
            let text = line.drop { $0 == " " }
            let indentation = line.count - text.count
            if text.hasPrefix("#if"), indentation == 4 * depth { depth += 1 }
            if text.hasPrefix("#endif"), indentation == 4 * (depth - 1) { depth -= 1 }
            guard indentation == 4 * depth, let found = text.firstMatch(of: declaration) else { return nil }
            return String(found.1)
        }
    }

    /// The Swift files of each target.
    private static func files() throws -> [String: [URL]] {
        let sources = root.appendingPathComponent("Sources")
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var found: [String: [URL]] = [:]
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", !file.path.contains(".docc/") else { continue }
            // A target's folder is below Sources, or below a group's folder there.
            let folders = file.path.dropFirst(sources.path.count + 1).split(separator: "/").dropLast().map(String.init)
            guard let target = folders.prefix(2).last(where: { manifest.contains("\"\($0)\"") }) else { continue }
            found[target, default: []].append(file)
        }
        return found
    }

    /// The targets that declare a public type of each name.
    private static func owners(of targets: some Sequence<(key: String, value: [URL])>) throws -> [String: [String]] {
        var owners: [String: [String]] = [:]
        for (target, files) in targets {
            for file in files {
                for name in types(in: try String(contentsOf: file, encoding: .utf8)) {
                    owners[name, default: []].append(target)
                }
            }
        }
        return owners
    }

    /// The targets that these ones import, directly or not.
    private static func reachable(from starts: [String], in files: [String: [URL]]) throws -> Set<String> {
        var (reached, waiting) = (Set<String>(), starts)
        while let target = waiting.popLast() {
            guard let own = files[target], reached.insert(target).inserted else { continue }
            for file in own {
                let text = try String(contentsOf: file, encoding: .utf8)
                waiting += text.matches(of: #/(?m)^ *(?:@\w+ |public |package |internal )*import +(\w+)/#).map {
                    String($0.1)
                }
            }
        }
        return reached
    }

    @Test("Public types are found in a source")
    func found() {
        let source = """
            public struct One {
                public struct Inner {}
            }
            #if canImport(Darwin)
                @frozen public enum Two {}
                extension One {
                    public enum Deep {}
                }
            #endif
            struct Three {}
            public typealias Four = [String]
            public typealias Five = Other.Five
            public final class Six<Value> {}
            """
        #expect(Self.types(in: source) == ["One", "Two", "Four", "Five", "Six"])
    }

    @Test("Each public type name is unique in the package")
    func unique() throws {
        let owners = try Self.owners(of: Self.files())
        #expect(owners.count > 300)
        let doubled = owners.filter { $0.value.count > 1 }
        #expect(doubled.isEmpty, "these names stand for several types")
    }

    @Test("No type that an app can reach has the name of an Apple type")
    func apple() throws {
        let list = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("AppleNames.txt")
        var modules: [String: String] = [:]
        for line in try String(contentsOf: list, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 2, "AppleNames.txt has a module and a name on each line: \(line)")
            modules[words[1], default: ""] += " " + words[0]
        }
        #expect(modules.count > 1000)
        let files = try Self.files()
        let targets = try Self.reachable(
            from: ["OutpostKit", "OutpostUI", "MobileClient", "ObjectAPI", "SecureStorage"], in: files)
        #expect(targets.isSuperset(of: ["ODataModel", "ODataClient", "OfflineOData"]))
        for (name, owners) in try Self.owners(of: files.filter { targets.contains($0.key) }) {
            guard let module = modules[name] else { continue }
            Issue.record("\(name) of \(owners.sorted().joined(separator: ", ")) is a name of\(module), too")
        }
    }
}
