import Foundation
import SafeFiles

/// A file as the target of a download, with the checkpoint in a second file beside it (`name.checkpoint`).
///
/// The bytes are stored unencrypted: sensitive data belongs on an encrypted file system or into another target.
/// Both files are created in the directory of the path, and symbolic links are not followed.
///
/// ```swift
/// let download = ResumableDownload(request, to: DownloadFile(path), over: session)
/// try await download.run()
/// ```
public actor DownloadFile: DownloadTarget {
    /// The path of the file.
    public nonisolated let path: String
    private var handle: FileHandle?

    /// Creates a target. The file is created with the first byte, readable only by its owner.
    public init(_ path: String) { self.path = path }

    deinit { try? handle?.close() }

    /// The directory, and the names of the file and of its checkpoint.
    private nonisolated var place: (folder: String, file: String, checkpoint: String) {
        let (folder, name) = CheckedFolder.place(of: path)
        return (folder, name, name + ".checkpoint")
    }

    /// The maximum number of bytes of a checkpoint, which contains one URL and one ETag.
    private static let checkpointLimit = 1 << 20

    /// Returns the saved checkpoint, or `nil` if it is unreadable or the file is shorter than it states.
    public func checkpoint() throws -> DownloadCheckpoint? {
        guard let folder = try? CheckedFolder(place.folder),
            let bytes = try? folder.read(place.checkpoint, limit: Self.checkpointLimit),
            let checkpoint = try? JSONDecoder().decode(DownloadCheckpoint.self, from: Data(bytes)),
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber,
            size.int64Value >= checkpoint.received
        else { return nil }
        return checkpoint
    }

    /// Flushes the bytes to the device and then writes the checkpoint.
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

    /// Truncates the file to the given number of bytes.
    public func truncate(to count: Int64) throws {
        let file = try opened()
        try file.truncate(atOffset: UInt64(max(0, count)))
        _ = try file.seekToEnd()
    }

    /// Appends bytes at the end of the file.
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
