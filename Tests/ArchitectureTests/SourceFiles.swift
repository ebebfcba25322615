import Foundation

/// The Swift files below `Sources`.
enum SourceFiles {
    /// The lines of code of each file, by its path below `Sources`; comment lines are empty.
    static func code() throws -> [(path: String, lines: [Substring])] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
            .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
            .map { path in
                let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                return (path, lines.map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 })
            }
    }
}
