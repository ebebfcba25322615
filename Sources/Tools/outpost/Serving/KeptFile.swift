import Foundation
import ToolLanguage

/// A file that must stay the same while it is served, although open connections would not notice.
struct KeptFile: Sendable {
    private let path: String
    private let identity: [UInt64]?

    init(path: String) {
        self.path = path
        identity = Self.identity(of: path)
    }

    /// Throws ``Failure`` if the file is gone, or another one has taken its place.
    func check() throws {
        guard let current = Self.identity(of: path) else { throw Failure(message: "\(path) is not there any more.") }
        guard current == identity else { throw Failure(message: "\(path) is another file than at the start.") }
    }

    private static func identity(of path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
    }
}
