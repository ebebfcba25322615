import Foundation

/// The Swift files of all targets.
enum SourceFiles {
    /// The lines of code of each file, by its path from the folder of the target on; comment lines are empty.
    static func code() throws -> [(path: String, lines: [Substring])] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
            .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
            .map { path in
                let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                // A target's folder is below a group's.
                let place = path.split(separator: "/").dropFirst().joined(separator: "/")
                return (place, lines.map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 })
            }
    }
}
