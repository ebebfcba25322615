import Foundation

/// Documents that nobody here wrote. They stand outside the repository; suites that read them are skipped
/// where they are absent.
public enum Corpus {
    /// Where the documents are: `OUTPOST_CORPUS`, or `shared/corpus` beside the repository.
    public static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["OUTPOST_CORPUS"] { return URL(fileURLWithPath: path) }
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return repository.appendingPathComponent("../shared/corpus").standardizedFileURL
    }()

    /// Whether they are there.
    public static let isPresent: Bool = {
        let isPresent = FileManager.default.fileExists(atPath: root.path)
        if !isPresent {
            print("Nothing at \(root.path): what reads it is skipped. OUTPOST_CORPUS may name another place.")
        }
        return isPresent
    }()

    /// The files below a folder, as paths from the corpus' root, in order.
    public static func files(_ folder: String, where matches: (String) -> Bool = { _ in true }) -> [String] {
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        else { return [] }
        return names.filter(matches).sorted().map { "\(folder)/\($0)" }
    }

    /// The bytes of a file, whose path starts at the corpus' root.
    public static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appendingPathComponent(path)))
    }
}
