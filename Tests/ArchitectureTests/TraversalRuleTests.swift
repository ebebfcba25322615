import Foundation
import Testing

@Suite("One traversal of queries")
struct TraversalRuleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The Swift files of all targets that hold a text, by their paths.
    private static func files(with part: String) throws -> [(path: String, text: String)] {
        let sources = FileManager.default.enumerator(
            at: root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
        var files: [(String, String)] = []
        while let file = sources?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains(part) { files.append((file.path, text)) }
        }
        return files
    }

    @Test("A new kind of node does not compile until it has a rule for its children")
    func exhaustive() throws {
        let files = try Self.files(with: "children").filter { $0.path.contains("/ODataQuery/Traversal/") }
        #expect(files.count > 5)
        for (path, text) in files { #expect(!text.contains("default:"), "\(path)") }
    }

    /// Only a full traversal of a tree has a reason to take its operators apart.
    @Test("Only printer, binder, evaluator, SQL compiler and child rules take operators apart")
    func alone() throws {
        let known = [
            "/ODataQuery/Traversal/", "/ODataQuery/Printing/QueryWriter", "/ODataQuery/Binding/",
            "/ODataQuery/Evaluation/",
            "/SQL/Expressions/", "/Explain/QueryOutline.swift",
            // Compares two trees step by step, for each query with a known statement.
            "/ODataQuery/BoundTree/BoundExpression+Form.swift",
        ]
        // Taking the type alone goes through nothing.
        let operators = try Regex(#"\.unary\((?!_, _,)[^()]*\blet\b"#)
        var seen: Set<String> = []
        for (path, text) in try Self.files(with: ".unary(") where text.contains(operators) {
            let owner = known.first { path.contains($0) }
            if let owner { seen.insert(owner) }
            #expect(owner != nil, "\(path) goes through the tree by itself: use children or mapChildren")
        }
        #expect(seen == Set(known), "no owner is listed that takes nothing apart")
    }
}
