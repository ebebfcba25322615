import SafeFiles

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The operating system's lock for synchronisation: many processes read and edit a store, and one at a time
/// synchronises. The system releases the lock when the process ends, in any way.
///
/// A store may come from a stranger. So the lock file is never opened through a link, and it is written only if
/// it contains a process number, as this type writes it.
final class SyncLock: Sendable {
    private let descriptor: Int32

    /// The number of attempts, and the pause between them in microseconds: 0.2 seconds in all.
    private static let attempts = 10
    private static let pause: UInt32 = 20_000
    /// The most bytes of a lock file: a process number and a line end.
    private static let maximumByteCount = 12

    /// Takes the lock.
    ///
    /// - Parameter path: the lock file, created if missing; its folder must exist.
    /// - Throws: ``OfflineError/busy(processID:)`` with the holder; ``OfflineError/fileAccess(path:reason:)``,
    ///   also for a link and for a file with other content.
    init(path: String) throws(OfflineError) {
        let (parent, name) = CheckedFolder.place(of: path)
        let folder: CheckedFolder
        do throws(SafeFileError) {
            folder = try CheckedFolder(parent)
        } catch {
            throw .fileAccess(path: path, reason: error.explanation)
        }
        var descriptor = try Self.locked(name, in: folder)
        // A failed creation has removed the file during the wait: the next process would create another one.
        while !folder.isAt(name, descriptor) {
            close(descriptor)
            descriptor = try Self.locked(name, in: folder)
        }
        guard Self.isLockFile(descriptor) else {
            close(descriptor)
            throw .fileAccess(path: path, reason: "it is not a lock file of Outpost. Move it to another place")
        }
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = pwrite(descriptor, text, text.count, 0)
        self.descriptor = descriptor
    }

    /// The open file with the lock on it.
    private static func locked(_ name: String, in folder: CheckedFolder) throws(OfflineError) -> Int32 {
        let descriptor: Int32
        do throws(SafeFileError) {
            descriptor = try folder.open(name, O_RDWR | O_CREAT)
        } catch {
            throw .fileAccess(path: error.path, reason: error.explanation)
        }
        var attempts = Self.attempts
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // A starting child process holds copies of the descriptors for a moment, and with them a lock that
            // was released already.
            attempts -= 1
            guard attempts <= 0 else {
                usleep(Self.pause)
                continue
            }
            let text = String(decoding: content(descriptor), as: UTF8.self)
            close(descriptor)
            throw .busy(processID: text.split(separator: "\n").first.flatMap { Int32($0) })
        }
        return descriptor
    }

    /// Whether a file is empty or holds a number and a line end.
    private static func isLockFile(_ descriptor: Int32) -> Bool {
        let bytes = content(descriptor)
        guard bytes.count <= maximumByteCount else { return false }
        let digits = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The first bytes of a file, one more than a lock file may have.
    private static func content(_ descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: maximumByteCount + 1)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(count, 0)))
    }

    deinit {
        // Closing releases the lock; the file stays.
        close(descriptor)
    }
}
