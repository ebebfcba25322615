import CZlib

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open file of a log. Its descriptor is closed when nobody holds the object any more.
final class LogFile: Sendable {
    let descriptor: Int32
    let path: String

    /// Opens a file, and makes it with mode 0600 where `flags` say so.
    init(_ path: String, _ flags: Int32) throws(StoredLogError) {
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw .system(operation: "opening", path: path, code: errno) }
    }

    /// Opens a pipe or a device for writing, also through a link, as `/dev/stdout` is.
    init(streamAt path: String) throws(StoredLogError) {
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        self.path = path
        guard descriptor >= 0 else { throw .system(operation: "opening", path: path, code: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The size in bytes.
    func size() throws(StoredLogError) -> Int { Int(try status().st_size) }

    /// The size in bytes of a file that need not be opened for it; `nil` where there is none.
    static func size(of path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether the file still has a name.
    func hasName() -> Bool { (try? status().st_nlink) ?? 0 > 0 }

    private func status() throws(StoredLogError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(operation: "looking at", path: path, code: errno)
        }
        return status
    }

    /// The bytes from an offset to another, or to the end where that comes first.
    func read(from start: Int, to end: Int) throws(StoredLogError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, end - start))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(start + filled))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(operation: "reading", path: path, code: errno)
            }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// Writes all bytes where the file is, which for a segment is its end.
    func append(_ bytes: [UInt8]) throws(StoredLogError) {
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

    /// Writes at an offset.
    func write(_ bytes: [UInt8], at offset: Int) throws(StoredLogError) {
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard count == bytes.count else { throw .system(operation: "writing", path: path, code: errno) }
    }

    /// Waits until what was written is on the disk.
    func sync() throws(StoredLogError) {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .system(operation: "writing", path: path, code: errno)
        }
    }

    /// Tries to take the file's lock, which excludes every other opening of the file.
    func tryLock() throws(StoredLogError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            case let code: throw .system(operation: "locking", path: path, code: code)
            }
        }
        return true
    }

    func unlock() { flock(descriptor, LOCK_UN) }

    /// Removes a file; one that is not there is no error.
    static func remove(_ path: String) throws(StoredLogError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .system(operation: "removing", path: path, code: errno)
        }
    }

    /// Packs bytes with gzip and writes them where the file is.
    func appendPacked(_ bytes: [UInt8]) throws(StoredLogError) {
        // zlib closes the descriptor that it is given.
        let copy = dup(descriptor)
        guard copy >= 0 else { throw .system(operation: "writing", path: path, code: errno) }
        guard let packed = gzdopen(copy, "wb") else {
            close(copy)
            throw .system(operation: "packing", path: path, code: ENOMEM)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                gzwrite(packed, $0.baseAddress, UInt32(clamping: min($0.count, 1 << 20)))
            }
            guard count > 0 else {
                let code = errno
                gzclose(packed)
                throw .system(operation: "writing", path: path, code: code)
            }
            rest = rest.dropFirst(Int(count))
        }
        guard gzclose(packed) == Z_OK else { throw .system(operation: "writing", path: path, code: errno) }
    }

    /// Writes a file whole or not at all, in the place of one of the same name.
    static func replace(
        _ path: String, with bytes: [UInt8], in folder: String, isPacked: Bool = false
    ) throws(StoredLogError) {
        let temporary = folder + "/.new-\(UInt64.random(in: .min ... .max))"
        do throws(StoredLogError) {
            let file = try LogFile(temporary, O_WRONLY | O_CREAT | O_EXCL)
            if isPacked { try file.appendPacked(bytes) } else { try file.append(bytes) }
            try file.sync()
            guard rename(temporary, path) == 0 else {
                throw .system(operation: "writing", path: path, code: errno)
            }
        } catch {
            unlink(temporary)
            // Who asked for the file knows nothing of the one beside it.
            if case .system(_, temporary, let code) = error {
                throw .system(operation: "writing", path: path, code: code)
            }
            throw error
        }
        try syncFolder(folder)
    }

    /// Makes the names in a folder durable.
    static func syncFolder(_ folder: String) throws(StoredLogError) { try LogFile(folder, O_RDONLY).sync() }
}

private func systemWrite(_ descriptor: Int32, _ source: UnsafeRawPointer?, count: Int) -> Int {
    write(descriptor, source, count)
}
