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
/// | it belongs to the administrator, is read by another user, and a group may read it | no |
/// | it lies on a file system that is mounted for reading alone | no: mounted secrets have any mode |
/// | it is a pipe or a device | no |
/// | the system does not tell | yes |
///
/// The file may be reached through links. All folders up to the root are looked at, those of each link, too:
/// others could exchange a folder with the file in it. Access control lists are not looked at.
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
        /// The system did not tell who can replace this file or folder; `code` is its `errno`.
        case unchecked(path: String, code: Int32)
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
        guard fstat(file, &status) == 0 else { return .unchecked(path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, !isReadOnly(file) else { return nil }
        guard FolderCheck.isTrusted(status.st_uid) else { return .foreign(owner: status.st_uid) }
        let mode = UInt32(status.st_mode) & 0o7777
        guard mode & 0o022 == 0 else { return .writable(mode: mode) }
        // An administrator provides a secret in this way to a service that runs as another user.
        let isLent = status.st_uid == 0 && geteuid() != 0 && mode & 0o037 == 0
        guard mode & 0o077 == 0 || isLent else { return .readable(mode: mode) }
        return problem(onTheWayTo: path, isNameless: status.st_nlink == 0)
    }

    /// Follows the path as the system does, and looks at each folder on the way from the root.
    ///
    /// - Parameter isNameless: Whether the open file has no name left that somebody could replace.
    private static func problem(onTheWayTo path: String, isNameless: Bool) -> Problem? {
        var rest = steps(of: Array(path.utf8))
        if path.utf8.first != UInt8(ascii: "/") {
            guard let folder = workingFolder() else { return .unchecked(path: ".", code: errno) }
            rest = steps(of: folder) + rest
        }
        rest.reverse()
        var folder = Place()
        if let problem = folder.problem() { return problem }
        var linkCount = 0
        while let step = rest.popLast() {
            guard let place = folder.next(step) else { continue }
            var status = stat()
            guard lstat(place.path, &status) == 0 else {
                let code = errno
                if isNameless, code == ENOENT, rest.isEmpty { return nil }
                return .unchecked(path: place.text, code: code)
            }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                if status.st_mode & S_IFMT == S_IFDIR, let problem = place.problem(status) { return problem }
                folder = place
                continue
            }
            // In a folder with the sticky bit, a link of another user is one that this user can exchange.
            guard FolderCheck.isTrusted(status.st_uid) else { return .foreign(owner: status.st_uid) }
            linkCount += 1
            guard linkCount <= maximumLinkCount else { return .unchecked(path: place.text, code: ELOOP) }
            guard let target = place.target() else { return .unchecked(path: place.text, code: errno) }
            if target.first == UInt8(ascii: "/") { folder = Place() }
            rest += steps(of: target).reversed()
        }
        return nil
    }

    /// The names in a path. They are bytes: a link may lead to a name that is no text.
    private static func steps(of path: [UInt8]) -> [[UInt8]] {
        path.split(separator: UInt8(ascii: "/")).map { Array($0) }
    }

    private static func workingFolder() -> [UInt8]? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard getcwd(&buffer, buffer.count) != nil else { return nil }
        return buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    }

    /// A place that is reached without links.
    private struct Place {
        /// The names from the root on.
        private var names: [[UInt8]] = []

        /// The path, as the system takes it.
        var path: [CChar] {
            let bytes = names.isEmpty ? [UInt8(ascii: "/")] : names.flatMap { [UInt8(ascii: "/")] + $0 }
            return bytes.map { CChar(bitPattern: $0) } + [0]
        }

        /// The path, for messages.
        var text: String { names.isEmpty ? "/" : names.map { "/" + String(decoding: $0, as: UTF8.self) }.joined() }

        /// The place of a name in this folder; for `..` this becomes the folder above.
        mutating func next(_ name: [UInt8]) -> Place? {
            switch name {
            case [UInt8(ascii: ".")]: return nil
            case [UInt8(ascii: "."), UInt8(ascii: ".")]:
                _ = names.popLast()
                return nil
            default:
                var place = self
                place.names.append(name)
                return place
            }
        }

        /// The problem of the folder here.
        func problem() -> Problem? {
            var status = stat()
            guard lstat(path, &status) == 0 else { return .unchecked(path: text, code: errno) }
            return problem(status)
        }

        func problem(_ status: stat) -> Problem? {
            switch FolderCheck.problem(status) {
            case .openFolder(let mode)? where !isReadOnly: .openFolder(path: text, mode: mode)
            case .foreignFolder(let owner)? where !isReadOnly: .foreignFolder(path: text, owner: owner)
            default: nil
            }
        }

        private var isReadOnly: Bool {
            var system = statvfs()
            return statvfs(path, &system) == 0 && UInt(system.f_flag) & UInt(ST_RDONLY) != 0
        }

        /// The path to which the link here leads.
        func target() -> [UInt8]? {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &buffer, buffer.count)
            return count > 0 ? buffer[..<count].map { UInt8(bitPattern: $0) } : nil
        }
    }

    private static func isReadOnly(_ file: Int32) -> Bool {
        var system = statvfs()
        return fstatvfs(file, &system) == 0 && UInt(system.f_flag) & UInt(ST_RDONLY) != 0
    }
}
