import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file layer of the operating system.
package struct SystemFiles: FileLayer {
    package init() {}

    package func makeDirectory(_ path: String) throws(DataVaultError) {
        do {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        } catch {
            throw .system(operation: "making the folder", path: path, code: EIO)
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .system(operation: "making the folder", path: path, code: errno)
        }
        guard try isDirectoryThere(path) else { throw .notAFile(path: path) }
    }

    package func isDirectoryThere(_ path: String) throws(DataVaultError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            throw .system(operation: "opening", path: path, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notAFile(path: path) }
        try OwnerOnlyFile.check(status, path: path)
        return true
    }

    package func read(_ path: String, limit: Int) throws(DataVaultError) -> [UInt8]? {
        try OwnerOnlyFile(reading: path)?.read(limit: limit)
    }

    package func create(_ path: String, _ bytes: [UInt8]) throws(DataVaultError) -> FileLock {
        while true {
            let file = try OwnerOnlyFile(creating: path)
            // Until it is locked, it looks like one that a crash has left, and may be removed.
            guard file.lock() else { continue }
            try file.write(bytes)
            return FileLock { withExtendedLifetime(file) {} }
        }
    }

    package func sync(_ path: String) throws(DataVaultError) {
        guard let file = try OwnerOnlyFile(reading: path) else {
            throw .system(operation: "writing", path: path, code: ENOENT)
        }
        try file.sync()
    }

    package func rename(_ source: String, to target: String) throws(DataVaultError) {
        guard systemRename(source, target) == 0 else {
            throw .system(operation: "keeping", path: target, code: errno)
        }
    }

    package func link(_ source: String, as target: String) throws(DataVaultError) {
        guard systemLink(source, target) == 0 else {
            throw .system(operation: "keeping", path: target, code: errno)
        }
    }

    package func remove(_ path: String) throws(DataVaultError) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT { return false }
        throw .system(operation: "removing", path: path, code: errno)
    }

    /// The age in seconds after which an unfinished file counts as left from a crash.
    private static let leftoverAge = 3600

    package func removeLeftovers(in directory: String) throws(DataVaultError) {
        for name in try names(in: directory) where name.hasPrefix(Self.newPrefix) {
            var status = stat()
            guard lstat(directory + "/" + name, &status) == 0 else { continue }
            #if canImport(Darwin)
                let changed = status.st_mtimespec.tv_sec
            #else
                let changed = status.st_mtim.tv_sec
            #endif
            if time(nil) - changed > Self.leftoverAge { unlink(directory + "/" + name) }
        }
    }

    package func removeUnfinished(_ name: String, in directory: String) throws(DataVaultError) -> Bool {
        var isRemoved = false
        for file in try names(in: directory) where Self.isUnfinished(file, of: name) {
            let path = directory + "/" + file
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            defer { if descriptor >= 0 { close(descriptor) } }
            if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { continue }
            if try remove(path) { isRemoved = true }
        }
        return isRemoved
    }

    package func syncDirectory(_ path: String) throws(DataVaultError) {
        try OwnerOnlyFile.syncDirectory(path)
    }

    package func names(in directory: String) throws(DataVaultError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .system(operation: "listing", path: directory, code: EIO)
        }
    }

    package func lock(_ path: String) throws(DataVaultError) -> FileLock? {
        // `flock` belongs to the open file and not to the process. Two vaults in one process therefore exclude
        // each other like two processes, and closing another descriptor of the file releases nothing.
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw .system(operation: "locking", path: path, code: errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(descriptor)
                guard code == EWOULDBLOCK || code == EINTR else {
                    throw .system(operation: "locking", path: path, code: code)
                }
                return nil
            }
            // Who had the lock may have removed the file meanwhile: whoever comes next would make another.
            if OwnerOnlyFile.isAt(path, descriptor) { return FileLock { close(descriptor) } }
            close(descriptor)
        }
    }
}

// Members with the same names hide the system's functions.
private func systemRename(_ source: String, _ target: String) -> Int32 { rename(source, target) }
private func systemLink(_ source: String, _ target: String) -> Int32 { link(source, target) }
