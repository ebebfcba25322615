import Foundation

/// A file that a download goes to, with its checkpoint in a second file beside it (`name.checkpoint`).
///
/// The bytes stand in the file as they come: what must not be read by others belongs on an encrypted file system or
/// into a target of the app's own.
public actor DownloadFile: DownloadTarget {
    /// The path of the file.
    public nonisolated let path: String
    private var handle: FileHandle?

    /// Names a file; it is made with the first byte, readable by its owner alone.
    public init(_ path: String) { self.path = path }

    deinit { try? handle?.close() }

    private nonisolated var checkpointPath: String { path + ".checkpoint" }

    /// The checkpoint beside the file; one that cannot be read, or says more than the file has, counts as none.
    public func checkpoint() throws -> DownloadCheckpoint? {
        guard let data = FileManager.default.contents(atPath: checkpointPath),
            let checkpoint = try? JSONDecoder().decode(DownloadCheckpoint.self, from: data),
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber,
            size.int64Value >= checkpoint.received
        else { return nil }
        return checkpoint
    }

    /// Writes the bytes through to the device, then the checkpoint.
    public func keep(_ checkpoint: DownloadCheckpoint?) throws {
        guard let checkpoint else {
            try? FileManager.default.removeItem(atPath: checkpointPath)
            try handle?.synchronize()
            try handle?.close()
            handle = nil
            return
        }
        try handle?.synchronize()
        try JSONEncoder().encode(checkpoint).write(to: URL(fileURLWithPath: checkpointPath), options: .atomic)
    }

    /// Cuts the file.
    public func truncate(to count: Int64) throws {
        let file = try opened()
        try file.truncate(atOffset: UInt64(max(0, count)))
        _ = try file.seekToEnd()
    }

    /// Writes behind the end.
    public func append(_ bytes: [UInt8]) throws {
        try opened().write(contentsOf: bytes)
    }

    private func opened() throws -> FileHandle {
        if let handle { return handle }
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        _ = try file.seekToEnd()
        handle = file
        return file
    }
}
