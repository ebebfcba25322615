import Foundation
import SafeFiles

/// The target of a path for writing a file, after following links. A link that another user created in a shared
/// folder is not followed.
package enum FileTarget {
    /// A regular or missing file, which is replaced as a whole.
    case file(path: String)
    /// A pipe, a device or a similar file, to which bytes are written in sequence.
    case stream(path: String)

    /// The maximum number of successive links, as in the system; the link behind them is replaced.
    private static let maximumLinkCount = 40

    /// Determines the target of a path.
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

    /// Returns the folder of a path.
    static func folder(of path: String) -> String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }
}
