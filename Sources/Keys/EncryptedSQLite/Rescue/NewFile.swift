import CSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that no connection has open, so that closing it drops no locks.
final class NewFile {
    private let path: String
    private let descriptor: Int32

    /// Creates a file that only its owner can read and write.
    init(path: String) throws(EncryptedDatabaseError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno != EEXIST else { throw .alreadyExists(path: path) }
            throw .sqlite(path: path, operation: "creating", code: Self.code(SQLITE_CANTOPEN))
        }
    }

    /// Opens a file that was just created.
    init(opening path: String) throws(EncryptedDatabaseError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .sqlite(path: path, operation: "opening", code: SQLITE_CANTOPEN) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(EncryptedDatabaseError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .sqlite(path: path, operation: "writing", code: Self.code(SQLITE_IOERR_WRITE))
            }
            done += count
        }
    }

    /// Extends the file to a size, with a hole behind the written part.
    func lengthen(to size: Int64) throws(EncryptedDatabaseError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else {
            throw .sqlite(path: path, operation: "writing", code: Self.code(SQLITE_IOERR_TRUNCATE))
        }
    }

    /// Makes the content of the file durable.
    func sync() throws(EncryptedDatabaseError) {
        #if canImport(Darwin)
            let isDone = fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
        #else
            let isDone = fsync(descriptor) == 0
        #endif
        guard isDone else {
            throw .sqlite(path: path, operation: "writing", code: Self.code(SQLITE_IOERR | 4 << 8))
        }
    }

    private static func code(_ other: Int32) -> Int32 { errno == ENOSPC ? SQLITE_FULL : other }
}
