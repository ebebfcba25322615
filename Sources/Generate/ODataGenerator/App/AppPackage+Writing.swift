import Foundation

extension AppPackage {
    /// Returns the paths of the package's files that a folder already has.
    ///
    /// - Parameter folder: The folder, which may be missing.
    public func existingFiles(in folder: URL) -> [String] {
        files.map(\.path).filter { path in
            // A link that leads nowhere exists, too.
            (try? FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(path).path)) != nil
        }
    }

    /// Writes all files into a folder, which is created if necessary.
    ///
    /// Files with the same paths are replaced; see ``existingFiles(in:)``. Symbolic links below the folder are not
    /// followed.
    /// - Throws: Errors of the file system.
    public func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in files { try file.write(below: folder) }
    }
}
