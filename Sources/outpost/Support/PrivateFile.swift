import Foundation

/// A file that only its owner can read.
enum PrivateFile {
    /// Writes a file in place of the one before, whole or not at all. What stands at the path, a link as well, is replaced
    /// and not followed.
    ///
    /// - Returns: the error number of the system; 0 when all is well.
    static func replace(_ path: String, by text: String) -> Int32 {
        let temporary = "\(path).\(UUID().uuidString)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        let bytes = Array(text.utf8)
        let count = write(descriptor, bytes, bytes.count)
        var code = count == bytes.count ? 0 : count < 0 ? errno : ENOSPC
        if code == 0, fsync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, rename(temporary, path) != 0 { code = errno }
        if code != 0 { unlink(temporary) }
        return code
    }
}
