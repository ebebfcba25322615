#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The operating system's lock on a store's synchronisation: many processes read and edit, one at a time
/// syncs. Released when the process ends, however it ends.
final class SyncLock: Sendable {
    private let descriptor: Int32

    /// How often the lock is tried, and the pause between in microseconds: 0.2 seconds in all.
    private static let attempts = 10
    private static let pause: UInt32 = 20_000

    /// Takes the lock or says who has it.
    ///
    /// - Parameter path: the lock file, made when missing.
    /// - Throws: ``OfflineError/busy(processID:)``; ``OfflineError/fileAccess(path:reason:)``.
    init(path: String) throws(OfflineError) {
        var descriptor = try Self.locked(path)
        // A creation that failed has taken the file away while we waited for it: whoever comes next would make another.
        while !Self.isAt(path, descriptor) {
            close(descriptor)
            descriptor = try Self.locked(path)
        }
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = pwrite(descriptor, text, text.count, 0)
        self.descriptor = descriptor
    }

    /// Whether a file is still the one that its path leads to.
    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var (ours, theirs) = (stat(), stat())
        guard fstat(descriptor, &ours) == 0, stat(path, &theirs) == 0 else { return false }
        return ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev
    }

    /// The open file with the lock on it.
    private static func locked(_ path: String) throws(OfflineError) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .fileAccess(path: path, reason: String(cString: strerror(errno))) }
        var attempts = Self.attempts
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // A process that is being started holds copies of our descriptors for a moment, and with them a lock
            // that was given back already.
            attempts -= 1
            guard attempts <= 0 else {
                usleep(Self.pause)
                continue
            }
            var buffer = [UInt8](repeating: 0, count: 20)
            let count = pread(descriptor, &buffer, buffer.count, 0)
            close(descriptor)
            let text = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
            throw .busy(processID: text.split(separator: "\n").first.flatMap { Int32($0) })
        }
        return descriptor
    }

    deinit {
        // Closing releases the lock; the file stays.
        close(descriptor)
    }
}
