import Foundation
import ODataService
import ToolLanguage

/// Files from which streams are read, and into which they are written, piece by piece.
enum StreamFile {
    private static let pieceSize = 65_536

    /// The bytes of a file; `-` is the input.
    ///
    /// - Throws: ``Failure`` for a file that cannot be read.
    static func stream(of path: String) throws -> ByteStream {
        if path == "-" { return stream(of: .standardInput, name: translated("The input"), length: nil) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw unreadable(path, EISDIR) }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        return stream(of: file, name: path, length: isRegular ? Int64(status.st_size) : nil)
    }

    private static func stream(of file: FileHandle, name: String, length: Int64?) -> ByteStream {
        ByteStream(length: length) {
            do {
                guard let bytes = try file.read(upToCount: pieceSize), !bytes.isEmpty else { return nil }
                return [UInt8](bytes)
            } catch {
                throw Failure(message: "\(name) cannot be read: \(error.systemReason).")
            }
        }
    }

    private static func unreadable(_ path: String, _ code: Int32) -> Failure {
        Failure(message: "\(path) cannot be read: \(Outpost.systemReason(code)).", status: .misused)
    }

    /// Writes a file as a whole: until the last byte is there, its name belongs to the file before.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: ``Failure`` for a file that cannot be written.
    static func write(_ stream: ByteStream, to path: String) async throws -> Int64 {
        let partial = path + ".partial"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable(partial, errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var count: Int64 = 0
        do {
            while let bytes = try await stream.next() {
                do {
                    try file.write(contentsOf: Data(bytes))
                } catch {
                    throw Failure(message: "\(path) cannot be written: \(error.systemReason).")
                }
                count += Int64(bytes.count)
            }
            guard rename(partial, path) == 0 else { throw unwritable(path, errno) }
        } catch {
            unlink(partial)
            throw error
        }
        return count
    }

    private static func unwritable(_ path: String, _ code: Int32) -> Failure {
        Failure(
            message: "\(path) cannot be written: \(Outpost.systemReason(code)).",
            advice: code == EEXIST ? "Another command may be writing it. If not, remove that file." : nil)
    }

    /// The media type of a file by the end of its name.
    static func mediaType(of path: String) -> String {
        let types = [
            "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
            "svg": "image/svg+xml", "heic": "image/heic", "pdf": "application/pdf", "txt": "text/plain",
            "csv": "text/csv", "html": "text/html", "json": "application/json", "xml": "application/xml",
            "zip": "application/zip", "mp3": "audio/mpeg", "mp4": "video/mp4", "mov": "video/quicktime",
        ]
        return types[(path as NSString).pathExtension.lowercased()] ?? "application/octet-stream"
    }
}
