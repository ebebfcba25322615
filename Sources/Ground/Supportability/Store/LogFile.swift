import CZlib

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open file of a log. Its descriptor is closed with the last reference to the object.
final class LogFile: Sendable {
    let descriptor: Int32
    let path: String

    /// Opens a file; creates it with mode 0600 if `flags` contain `O_CREAT`.
    init(_ path: String, _ flags: Int32) throws(StoredLogError) {
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw .system(operation: "opening", path: path, code: errno) }
    }

    /// Opens a pipe or a device for writing, also through a link such as `/dev/stdout`.
    init(streamAt path: String) throws(StoredLogError) {
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        self.path = path
        guard descriptor >= 0 else { throw .system(operation: "opening", path: path, code: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the size in bytes.
    func size() throws(StoredLogError) -> Int { Int(try status().st_size) }

    /// Returns the size of a file in bytes without opening it; `nil` if the file is missing.
    static func size(of path: String) -> Int? {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Returns whether the file still has a name.
    func hasName() -> Bool { (try? status().st_nlink) ?? 0 > 0 }

    private func status() throws(StoredLogError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(operation: "looking at", path: path, code: errno)
        }
        return status
    }

    /// Returns the bytes in a range, which may extend beyond the end of the file.
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

    /// Writes all bytes at the current position, which is the end for a segment.
    func append(_ bytes: [UInt8]) throws(StoredLogError) {
        try Self.writeAll(bytes, path: path) { rest, _ in systemWrite(descriptor, rest.baseAddress, count: rest.count) }
    }

    /// Writes bytes at an offset.
    func write(_ bytes: [UInt8], at offset: Int) throws(StoredLogError) {
        try Self.writeAll(bytes, path: path) { rest, done in
            pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        }
    }

    /// Writes the rest again and again until nothing of it is left.
    ///
    /// - Parameter write: Writes some of the rest, and gets the number of bytes before it. It returns the number
    ///   that it has written, or a negative one and an `errno`.
    static func writeAll(
        _ bytes: [UInt8], path: String, _ write: (UnsafeRawBufferPointer, Int) -> Int
    ) throws(StoredLogError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[done...]), done) }
            guard count > 0 else {
                let code = count < 0 ? errno : EIO
                if code == EINTR { continue }
                throw .system(operation: "writing", path: path, code: code)
            }
            done += count
        }
    }

    /// Waits until the written bytes are on the disk.
    func sync() throws(StoredLogError) {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw .system(operation: "writing", path: path, code: errno)
        }
    }

    /// Tries to take the file's lock, which excludes every other open descriptor of the file.
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

    /// Removes a file. A missing file is not an error.
    static func remove(_ path: String) throws(StoredLogError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .system(operation: "removing", path: path, code: errno)
        }
    }

    /// Compresses bytes with gzip and writes them at the current position.
    func appendPacked(_ bytes: [UInt8]) throws(StoredLogError) {
        // zlib closes the descriptor that it receives.
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

    /// Writes a file completely or not at all, and replaces a file with the same name.
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
            // The caller does not know the temporary file, so the error names the target.
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
