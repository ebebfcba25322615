import Secrets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open file that only its owner can read or write.
package final class OwnerOnlyFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens a file for reading; returns `nil` if it is missing. The checks use the open file, not its name, so
    /// that the file cannot be exchanged in between.
    package init?(reading path: String) throws(DataVaultError) {
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw .notAFile(path: path)
            case let code: throw .system(operation: "opening", path: path, code: code)
            }
        }
        self.descriptor = descriptor
        self.path = path
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(operation: "opening", path: path, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        try Self.check(status, path: path)
    }

    /// Creates a file with mode 0600. The file must not exist.
    package init(creating path: String) throws(DataVaultError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw .system(operation: "making", path: path, code: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads the file, at most one byte more than `limit`.
    package func read(limit: Int) throws(DataVaultError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        defer { wipe(&chunk) }
        while bytes.count <= limit {
            let count = systemRead(descriptor, &chunk, count: chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(operation: "reading", path: path, code: errno)
            }
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return bytes
    }

    /// Reads the next `wanted` bytes; returns fewer only at the end of the file.
    package func read(next wanted: Int) throws(DataVaultError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: wanted)
        var filled = 0
        while filled < wanted {
            let count = bytes.withUnsafeMutableBytes { buffer in
                systemRead(descriptor, buffer.baseAddress.map { $0 + filled }, count: wanted - filled)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(operation: "reading", path: path, code: errno)
            }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(wanted - filled)
        return bytes
    }

    package func write(_ bytes: [UInt8]) throws(DataVaultError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, count: $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(operation: "writing", path: path, code: errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Locks the file for as long as it is open, as far as the file system can.
    ///
    /// - Returns: Whether its path still leads to it.
    func lock() -> Bool {
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return Self.isAt(path, descriptor)
    }

    /// Whether a file is still the one that its path leads to.
    static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var (ours, theirs) = (stat(), stat())
        guard fstat(descriptor, &ours) == 0, lstat(path, &theirs) == 0 else { return false }
        return ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev
    }

    /// Waits until what was written is on the disk.
    package func sync() throws(DataVaultError) {
        guard Self.sync(descriptor) == 0 else { throw .system(operation: "writing", path: path, code: errno) }
    }

    /// Throws if other users can access the file, or if another user owns it.
    static func check(_ status: stat, path: String) throws(DataVaultError) {
        let mode = UInt32(status.st_mode) & 0o7777
        guard mode & 0o077 == 0, status.st_uid == geteuid() else { throw .exposed(path: path, mode: mode) }
    }

    /// Makes the names in a folder durable.
    static func syncDirectory(_ path: String) throws(DataVaultError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation: "opening", path: path, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .system(operation: "writing", path: path, code: errno)
        }
    }

    private static func sync(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            // On Apple's platforms, fsync leaves data in the drive's cache. Some file systems do not support
            // F_FULLFSYNC.
            fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor)
        #else
            fsync(descriptor)
        #endif
    }
}

private func systemRead(_ descriptor: Int32, _ target: UnsafeMutableRawPointer?, count: Int) -> Int {
    read(descriptor, target, count)
}

private func systemWrite(_ descriptor: Int32, _ source: UnsafeRawPointer?, count: Int) -> Int {
    write(descriptor, source, count)
}
