import Foundation
import GRDB
import GRDBSQLite

/// What tells without reading its pages that a database file is as it was: size, time of change, the change
/// counter in its header (bytes 24 to 27), and of a write-ahead log its salts, the number of its frames and the
/// checksum of the last one.
///
/// It must be read inside a transaction, so that nobody commits meanwhile. The file itself is read through
/// SQLite's own handle: opening and closing it here would drop the locks that SQLite holds (POSIX advisory
/// locks belong to the process).
enum FileFingerprint {
    /// The fingerprint as text; `nil` when it cannot be had, which counts as changed.
    static func read(in database: Database, path: String) -> String? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date,
            let header = bytes(of: database, offset: 24, count: 4)
        else { return nil }
        let counter = header.reduce(0) { $0 << 8 | Int($1) }
        return "\(size) \(date.timeIntervalSinceReferenceDate.bitPattern) \(counter)\(log(path: path))"
    }

    /// Salts, number of frames and last checksum of the log; nothing when it is missing or empty.
    private static func log(path: String) -> String {
        // No lock is ever taken on the log, so that it may be opened.
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

    /// Bytes of the main file, read through SQLite's handle.
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
