import Foundation

/// Third-party documents outside the repository. Suites that read them are skipped if the documents are missing.
public enum Corpus {
    /// The folder of the documents: `OUTPOST_CORPUS`, or `shared/corpus` beside the repository.
    public static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["OUTPOST_CORPUS"] { return URL(fileURLWithPath: path) }
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return repository.appendingPathComponent("../shared/corpus").standardizedFileURL
    }()

    /// Whether the folder exists.
    public static let isPresent: Bool = {
        let isPresent = FileManager.default.fileExists(atPath: root.path)
        if !isPresent {
            print("Nothing at \(root.path): what reads it is skipped. OUTPOST_CORPUS may name another place.")
        }
        return isPresent
    }()

    /// Returns the sorted files below a folder, as paths relative to the corpus' root.
    public static func files(_ folder: String, where matches: (String) -> Bool = { _ in true }) -> [String] {
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        else { return [] }
        return names.filter(matches).sorted().map { "\(folder)/\($0)" }
    }

    /// Returns the bytes of a file at a path relative to the corpus' root.
    public static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appendingPathComponent(path)))
    }
}
