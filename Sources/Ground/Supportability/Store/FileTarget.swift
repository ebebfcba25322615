import Foundation
import SafeFiles

/// What stands where somebody wants a file to be written, at the end of the links that lead to it. A link that another user has
/// put into a shared folder is not followed.
package enum FileTarget {
    /// A regular file, or none yet: it is replaced as a whole.
    case file(path: String)
    /// A pipe, a device or the like, which takes bytes as they come and stays what it is.
    case stream(path: String)

    /// As many links are followed one after the other, as the system does; then the last one is replaced.
    private static let maximumLinkCount = 40

    /// Looks at a path.
    package init(_ path: String) {
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            self = .stream(path: path)
            return
        }
        var path = path
        for _ in 0..<Self.maximumLinkCount {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                LinkCheck.mayFollow(path)
            else { break }
            path = next.hasPrefix("/") ? next : Self.folder(of: path) + "/" + next
        }
        self = .file(path: path)
    }

    /// The folder that a path names a file in.
    static func folder(of path: String) -> String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }
}
