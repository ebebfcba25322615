import Foundation

/// Documents that nobody here wrote. They stand outside the repository; suites that read them are skipped
/// where they are absent.
enum Corpus {
    static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["OUTPOST_CORPUS"] { return URL(fileURLWithPath: path) }
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return repository.appendingPathComponent("../shared/corpus").standardizedFileURL
    }()

    static let isPresent = FileManager.default.fileExists(atPath: root.path)

    /// The files below a folder, as paths from the corpus' root, in order.
    static func files(_ folder: String, where matches: (String) -> Bool) -> [String] {
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        else { return [] }
        return names.filter(matches).sorted().map { "\(folder)/\($0)" }
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appendingPathComponent(path)))
    }
}
