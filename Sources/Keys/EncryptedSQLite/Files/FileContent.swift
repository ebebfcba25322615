import Foundation

/// The content of a file beside a database, as a whole.
enum FileContent {
    private static let part = 1 << 20

    /// Reads a file piece by piece into one array, so that a large one is not in memory twice.
    ///
    /// - Returns: nil where there is none, or it cannot be read.
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

    /// The first bytes of a file; nil where it cannot be read.
    static func beginning(of path: String, count: Int) -> [UInt8]? {
        guard let file = Foundation.FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: count)).map { [UInt8]($0) }
    }

    /// Whether a file is missing or empty.
    static func isEmpty(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0 == 0
    }
}
