import Foundation
import GRDB
import GRDBSQLite

/// The fingerprint of a database file, by which changes are detected without reading its pages. It consists of
/// the size, the modification time and the change counter in the header (bytes 24 to 27). For a write-ahead
/// log, the salts, the number of frames and the last checksum are added.
///
/// The fingerprint must be read inside a transaction, so that no other connection commits meanwhile. The file
/// is read through the handle of SQLite: closing another handle would release the locks of SQLite, because
/// POSIX advisory locks belong to the process.
enum FileFingerprint {
    /// Returns the fingerprint; `nil` if it cannot be read, in which case the file counts as changed.
    static func read(in database: Database, path: String) -> String? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date,
            let header = bytes(of: database, offset: 24, count: 4)
        else { return nil }
        let counter = header.reduce(0) { $0 << 8 | Int($1) }
        return "\(size) \(date.timeIntervalSinceReferenceDate.bitPattern) \(counter)\(log(path: path))"
    }

    /// Returns the salts, number of frames and last checksum of the log; an empty text if it is missing or
    /// empty.
    private static func log(path: String) -> String {
        // SQLite takes no locks on the log, so it can be opened.
        guard let file = FileHandle(forReadingAtPath: path + "-wal") else { return "" }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 32), header.count == 32 else { return "" }
        let salts = Array(header[16..<24])
        let pageSize = header[8..<12].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var frames: UInt64 = 0
        var checksum: [UInt8] = []
        while (try? file.seek(toOffset: 32 + frames * (24 + pageSize))) != nil,
            let frame = try? file.read(upToCount: 24), frame.count == 24, Array(frame[8..<16]) == salts
        {
            frames += 1
            checksum = Array(frame[16..<24])
        }
        return frames == 0 ? "" : " \(salts) \(frames) \(checksum)"
    }

    /// Returns bytes of the main file, read through the handle of SQLite.
    private static func bytes(of database: Database, offset: Int64, count: Int32) -> [UInt8]? {
        guard let connection = database.sqliteConnection else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = withUnsafeMutablePointer(to: &file) {
            sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, $0)
        }
        guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else { return nil }
        var buffer = [UInt8](repeating: 0, count: Int(count))
        return read(file, &buffer, count, offset) == SQLITE_OK ? buffer : nil
    }
}
