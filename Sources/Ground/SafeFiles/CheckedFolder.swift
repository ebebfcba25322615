#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open folder, in which files are opened by name only and never through a link.
///
/// The folder itself may be reached through links, since a person names it. In the folder, a name that refers
/// to a link, a folder, a pipe or a device is refused. A file with several names (hard links) is refused for
/// writing. All checks use the open file, so it cannot be exchanged in between.
///
/// ```swift
/// let folder = try CheckedFolder("/home/ada/shop")
/// try folder.replace("outpost.json", with: bytes)
/// ```
package final class CheckedFolder: Sendable {
    /// A requirement for a folder.
    package enum Requirement: Sendable {
        /// Any folder. This is enough for files whose content is checked or sealed.
        case anyFolder
        /// A folder in which only this user and the administrator can replace files. In a folder with the
        /// sticky bit, such as `/tmp`, other users can create files but cannot replace ours.
        case ours
    }

    /// The path of the folder, as given.
    package let path: String
    private let descriptor: Int32

    /// Opens and checks a folder.
    ///
    /// - Parameters:
    ///   - path: The folder; an empty path is the working directory.
    ///   - requirement: The requirement to check.
    package init(_ path: String, _ requirement: Requirement = .anyFolder) throws(SafeFileError) {
        self.path = path.isEmpty ? "." : path
        descriptor = systemOpen(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SafeFileError(path: path, reason: .system(code: errno)) }
        if requirement == .ours { try check() }
    }

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    private func check() throws(SafeFileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SafeFileError(path: path, reason: .system(code: errno)) }
        if let reason = FolderCheck.problem(status) { throw SafeFileError(path: path, reason: reason) }
    }

    /// Splits the path of a file or folder into its folder and its name.
    package static func place(of path: String) -> (folder: String, name: String) {
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return place(ofTrimmed: String(path))
    }

    private static func place(ofTrimmed path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        return (String(path[...slash]), String(path[path.utf8.index(after: slash)...]))
    }

    /// Returns the path of a file in the folder, for messages.
    package func path(of name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    // MARK: Opening files

    /// Opens a regular file.
    ///
    /// - Parameters:
    ///   - name: A name without a slash.
    ///   - flags: The flags of `open(2)`, without `O_TRUNC`, because a file may be truncated only after it is
    ///     checked.
    ///   - mode: The permissions of a new file.
    /// - Returns: A descriptor that the caller must close. It is also closed when a program is started.
    package func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) throws(SafeFileError) -> Int32 {
        func failure(_ reason: SafeFileError.Reason) -> SafeFileError {
            SafeFileError(path: path(of: name), reason: reason)
        }
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), flags & O_TRUNC == 0 else {
            throw failure(.system(code: EINVAL))
        }
        // Without O_NONBLOCK, opening a pipe would wait for another process.
        let opened = openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode)
        guard opened >= 0 else {
            switch errno {
            case ELOOP, EMLINK: throw failure(.link)
            case EISDIR, ENXIO: throw failure(.notRegular)
            case let code: throw failure(.system(code: code))
            }
        }
        var status = stat()
        var reason: SafeFileError.Reason?
        if fstat(opened, &status) != 0 {
            reason = .system(code: errno)
        } else if status.st_mode & S_IFMT != S_IFREG {
            reason = .notRegular
        } else if flags & O_ACCMODE != O_RDONLY, status.st_nlink > 1 {
            reason = .severalNames
        }
        if let reason {
            close(opened)
            throw failure(reason)
        }
        return opened
    }

    /// Returns whether a name still refers to an open file.
    package func isAt(_ name: String, _ file: Int32) -> Bool {
        var (ours, theirs) = (stat(), stat())
        guard fstat(file, &ours) == 0, fstatat(descriptor, name, &theirs, AT_SYMLINK_NOFOLLOW) == 0 else {
            return false
        }
        return ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev
    }

    // MARK: Whole files

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: A name without a slash.
    ///   - limit: The maximum size of the file in bytes.
    /// - Returns: `nil` if no file has this name.
    package func read(_ name: String, limit: Int) throws(SafeFileError) -> [UInt8]? {
        let file: Int32
        do throws(SafeFileError) {
            file = try open(name, O_RDONLY)
        } catch {
            if error.reason == .system(code: ENOENT) { return nil }
            throw error
        }
        defer { close(file) }
        return try SafeFiles.read(file, path: path(of: name), limit: limit)
    }

    /// Writes a file completely or not at all, durably, and replaces a file with the same name. A link with
    /// this name is replaced, not followed.
    package func replace(_ name: String, with bytes: [UInt8], mode: mode_t = 0o600) throws(SafeFileError) {
        let temporary = ".new-" + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(SafeFileError) {
            try create(temporary, bytes, mode: mode)
            guard renameat(descriptor, temporary, descriptor, name) == 0 else {
                throw SafeFileError(path: path(of: name), reason: .system(code: errno))
            }
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw SafeFileError(path: path(of: name), reason: error.reason)
        }
        sync()
    }

    /// Creates a file durably. The file must not exist; after a failure nothing of it remains.
    package func create(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws(SafeFileError) {
        let file = try open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        defer { close(file) }
        do throws(SafeFileError) {
            try SafeFiles.write(bytes, to: file, path: path(of: name))
            guard fsync(file) == 0 || errno == EINVAL else {
                throw SafeFileError(path: path(of: name), reason: .system(code: errno))
            }
        } catch {
            unlinkat(descriptor, name, 0)
            throw error
        }
    }

    /// Removes a file or a link, but never a folder.
    ///
    /// - Returns: Whether the file or link existed.
    @discardableResult
    package func remove(_ name: String) throws(SafeFileError) -> Bool {
        if unlinkat(descriptor, name, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw SafeFileError(path: path(of: name), reason: .system(code: errno))
    }

    /// Opens a subfolder, and creates it if it is missing. A link with this name is refused.
    package func folder(_ name: String, mode: mode_t = 0o700) throws(SafeFileError) -> CheckedFolder {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else {
            throw SafeFileError(path: path(of: name), reason: .system(code: EINVAL))
        }
        guard mkdirat(descriptor, name, mode) == 0 || errno == EEXIST else {
            throw SafeFileError(path: path(of: name), reason: .system(code: errno))
        }
        let below = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard below >= 0 else {
            let isLink = errno == ELOOP || errno == ENOTDIR
            throw SafeFileError(path: path(of: name), reason: isLink ? .link : .system(code: errno))
        }
        return CheckedFolder(descriptor: below, path: path(of: name))
    }

    /// Makes the names in the folder durable, as far as the file system supports it.
    package func sync() { fsync(descriptor) }
}

/// Reads an open file to its end.
///
/// - Parameter limit: The maximum size of the file in bytes.
package func read(_ file: Int32, path: String, limit: Int) throws(SafeFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = chunk.withUnsafeMutableBytes { systemRead(file, $0.baseAddress, count: $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            throw SafeFileError(path: path, reason: .system(code: errno))
        }
        if count == 0 { return bytes }
        bytes.append(contentsOf: chunk[..<count])
        guard bytes.count <= limit else { throw SafeFileError(path: path, reason: .tooLong(limit: limit)) }
    }
}

/// Writes all bytes to an open file.
package func write(_ bytes: [UInt8], to file: Int32, path: String) throws(SafeFileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, count: $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            throw SafeFileError(path: path, reason: .system(code: errno))
        }
        rest = rest.dropFirst(count)
    }
}

// The functions above hide the system functions of the same names.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

private func systemRead(_ file: Int32, _ target: UnsafeMutableRawPointer?, count: Int) -> Int {
    #if canImport(Darwin)
        Darwin.read(file, target, count)
    #elseif canImport(Musl)
        Musl.read(file, target, count)
    #else
        Glibc.read(file, target, count)
    #endif
}

private func systemWrite(_ file: Int32, _ source: UnsafeRawPointer?, count: Int) -> Int {
    #if canImport(Darwin)
        Darwin.write(file, source, count)
    #elseif canImport(Musl)
        Musl.write(file, source, count)
    #else
        Glibc.write(file, source, count)
    #endif
}
