import Foundation
import SafeFiles

/// A file that a download goes to, with its checkpoint in a second file beside it (`name.checkpoint`).
///
/// The bytes stand in the file as they come: what must not be read by others belongs on an encrypted file system or
/// into a target of the app's own. Both files are made in the folder that the path names, and never through a link.
public actor DownloadFile: DownloadTarget {
    /// The path of the file.
    public nonisolated let path: String
    private var handle: FileHandle?

    /// Names a file; it is made with the first byte, readable by its owner alone.
    public init(_ path: String) { self.path = path }

    deinit { try? handle?.close() }

    /// The folder, and the names of the file and of its checkpoint.
    private nonisolated var place: (folder: String, file: String, checkpoint: String) {
        let (folder, name) = CheckedFolder.place(of: path)
        return (folder, name, name + ".checkpoint")
    }

    /// The most bytes of a checkpoint: one address and one entity tag.
    private static let checkpointLimit = 1 << 20

    /// The checkpoint beside the file; one that cannot be read, or says more than the file has, counts as none.
    public func checkpoint() throws -> DownloadCheckpoint? {
        guard let folder = try? CheckedFolder(place.folder),
            let bytes = try? folder.read(place.checkpoint, limit: Self.checkpointLimit),
            let checkpoint = try? JSONDecoder().decode(DownloadCheckpoint.self, from: Data(bytes)),
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber,
            size.int64Value >= checkpoint.received
        else { return nil }
        return checkpoint
    }

    /// Writes the bytes through to the device, then the checkpoint.
    public func keep(_ checkpoint: DownloadCheckpoint?) throws {
        guard let checkpoint else {
            _ = try? CheckedFolder(place.folder).remove(place.checkpoint)
            try handle?.synchronize()
            try handle?.close()
            handle = nil
            return
        }
        try handle?.synchronize()
        try CheckedFolder(place.folder).replace(place.checkpoint, with: Array(JSONEncoder().encode(checkpoint)))
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
        let descriptor = try CheckedFolder(place.folder).open(place.file, O_RDWR | O_CREAT)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        _ = try file.seekToEnd()
        handle = file
        return file
    }
}
