import Foundation

/// The executables of this package, which are built beside the tests.
enum Executables {
    /// Returns the URL of an executable.
    static func url(_ name: String) -> URL {
        let candidates = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for candidate in candidates {
            let tool = URL(fileURLWithPath: candidate).deletingLastPathComponent().appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return URL(fileURLWithPath: name)
    }
}
