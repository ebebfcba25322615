import CSQLite
import Foundation

/// Functions that read whole files beside a database.
enum FileContent {
    private static let part = 1 << 20

    /// Reads a file piece by piece into one array, so that a large file is not in memory twice.
    ///
    /// - Returns: `nil` if the file is missing or cannot be read.
    static func bytes(of path: String) -> [UInt8]? {
        guard let file = Foundation.FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        do {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Int(try file.seekToEnd()))
            try file.seek(toOffset: 0)
            while let more = try file.read(upToCount: part), !more.isEmpty { bytes += more }
            return bytes
        } catch {
            return nil
        }
    }

    /// Returns the first bytes of a file, or `nil` if the file cannot be read.
    static func beginning(of path: String, count: Int) -> [UInt8]? {
        guard let file = Foundation.FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: count)).map { [UInt8]($0) }
    }

    /// Whether a file is missing or empty.
    ///
    /// - Throws: `sqlite`, where the system does not tell.
    static func isEmpty(_ path: String) throws(EncryptedDatabaseError) -> Bool {
        var status = stat()
        guard lstat(path, &status) != 0 else { return status.st_size == 0 }
        guard errno == ENOENT else { throw .sqlite(path: path, operation: "looking at", code: SQLITE_IOERR) }
        return true
    }
}
