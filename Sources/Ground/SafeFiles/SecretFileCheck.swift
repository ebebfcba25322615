#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A check of whether other users can read or replace a file with a secret that a person has named.
///
/// | file | refused |
/// | --- | --- |
/// | others can write the file, or replace it or a link to it | yes |
/// | others can read the file | yes |
/// | the file belongs to the administrator, another user reads it, and it is group-readable | no |
/// | the file is on a read-only file system | no: mounted secrets can have any mode |
/// | the file is a pipe or a device | no |
///
/// The file may be reached through links; the folder of each link is checked too. Access control lists are
/// ignored.
package enum SecretFileCheck {
    /// A problem with the permissions of a file.
    package enum Problem: Equatable, Sendable {
        /// Other users can read the file.
        case readable(mode: UInt32)
        /// Other users can write the file.
        case writable(mode: UInt32)
        /// The file, or a link to it, belongs to another user.
        case foreign(owner: UInt32)
        /// Other users can replace files in this folder.
        case openFolder(path: String, mode: UInt32)
        /// This folder belongs to another user.
        case foreignFolder(path: String, owner: UInt32)
    }

    /// The maximum number of successive links, as in the system.
    private static let maximumLinkCount = 40

    /// Returns the first problem of a file, or `nil` if it has none.
    ///
    /// - Parameters:
    ///   - path: The path by which the file was opened.
    ///   - file: The open file.
    package static func problem(of path: String, _ file: Int32) -> Problem? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, !isReadOnly(file) else { return nil }
        guard FolderCheck.isTrusted(status.st_uid) else { return .foreign(owner: status.st_uid) }
        let mode = UInt32(status.st_mode) & 0o7777
        guard mode & 0o022 == 0 else { return .writable(mode: mode) }
        // An administrator provides a secret in this way to a service that runs as another user.
        let isLent = status.st_uid == 0 && geteuid() != 0 && mode & 0o037 == 0
        guard mode & 0o077 == 0 || isLent else { return .readable(mode: mode) }
        return problem(onTheWayTo: path)
    }

    private static func problem(onTheWayTo path: String) -> Problem? {
        var path = path
        for _ in 0...maximumLinkCount {
            let folder = folder(of: path)
            if let problem = problem(ofFolder: folder) { return problem }
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
            // In a folder with the sticky bit, the owner of a link can still exchange the link.
            guard FolderCheck.isTrusted(status.st_uid) else { return .foreign(owner: status.st_uid) }
            guard let target = target(of: path) else { return nil }
            path = target.utf8.first == UInt8(ascii: "/") ? target : folder + "/" + target
        }
        return nil
    }

    private static func problem(ofFolder path: String) -> Problem? {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        var status = stat()
        guard folder >= 0 else {
            // The folder may be entered but not listed.
            return stat(path, &status) == 0 ? problem(status, path) : nil
        }
        defer { close(folder) }
        guard fstat(folder, &status) == 0, !isReadOnly(folder) else { return nil }
        return problem(status, path)
    }

    private static func problem(_ status: stat, _ path: String) -> Problem? {
        switch FolderCheck.problem(status) {
        case .openFolder(let mode)?: .openFolder(path: path, mode: mode)
        case .foreignFolder(let owner)?: .foreignFolder(path: path, owner: owner)
        default: nil
        }
    }

    private static func isReadOnly(_ file: Int32) -> Bool {
        var system = statvfs()
        return fstatvfs(file, &system) == 0 && UInt(system.f_flag) & UInt(ST_RDONLY) != 0
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
