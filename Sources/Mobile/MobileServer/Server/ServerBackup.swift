import Crypto
import Foundation
import ServerState

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A backup of a server in one file: configuration, wrapped keys and a consistent copy of the state. The master key
/// is not in it (`mobile-server.md` 0.7).
///
/// ```
/// outpost server backup 1\n
/// for each file: name, size\n content
/// SHA-256 over all bytes before it
/// ```
///
/// ```swift
/// try await ServerBackup.write(folder, state: state, to: "shop.backup")
/// try ServerBackup.restore("shop.backup", to: ServerFolder(path: "new"))
/// ```
public enum ServerBackup {
    private static let header = Array("outpost server backup 1\n".utf8)
    private static let names = [
        ServerFolder.configurationName, ServerKeyFile.name, SQLiteServerState.feedsFileName,
        SQLiteServerState.intakeFileName, SQLiteServerState.stateFileName,
    ]
    private static let chunk = 1 << 20
    private static let digestLength = 32

    /// Writes a backup to a new file that only its owner can read.
    ///
    /// - Returns: The size of the file in bytes.
    /// - Throws: ``ServerFolderError``, `ServerStateError`.
    @discardableResult
    public static func write(
        _ folder: ServerFolder, state: any ServerState, to path: String
    ) async throws -> Int64 {
        let staging = folder.file(".backup-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            atPath: staging, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: staging) }
        try await state.copy(to: staging)
        let target = try newFile(path)
        defer { try? target.close() }
        var digest = SHA256()
        var size: Int64 = 0
        func put(_ bytes: some DataProtocol) throws {
            digest.update(data: Data(bytes))
            try target.write(contentsOf: Data(bytes))
            size += Int64(bytes.count)
        }
        do {
            try put(header)
            for name in names {
                let staged = staging + "/" + name
                let source = FileManager.default.fileExists(atPath: staged) ? staged : folder.file(name)
                guard let file = FileHandle(forReadingAtPath: source) else { continue }
                defer { try? file.close() }
                let length = try file.seekToEnd()
                try file.seek(toOffset: 0)
                try put(Array("\(name) \(length)\n".utf8))
                while let bytes = try file.read(upToCount: chunk), !bytes.isEmpty { try put(bytes) }
            }
            try put(Array("end 0\n".utf8))
            try target.write(contentsOf: Data(digest.finalize()))
            try target.synchronize()
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw ServerFolderError.unusable(path: path, reason: error.localizedDescription)
        }
        return size + Int64(digestLength)
    }

    /// Makes a file. One that is there, or a link in its place, is never written.
    private static func newFile(_ path: String) throws(ServerFolderError) -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unusable(path: path, reason: String(cString: strerror(errno)))
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes the files of a backup into an empty folder. The server begins a new incarnation at its next start,
    /// because the nonce is missing.
    ///
    /// - Throws: ``ServerFolderError``. Nothing is written if the backup is not whole.
    public static func restore(_ path: String, to folder: ServerFolder) throws(ServerFolderError) {
        guard folder.isEmpty else { throw .notEmpty(path: folder.path) }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw .unusable(path: path, reason: "the file cannot be read")
        }
        defer { try? file.close() }
        do {
            try check(file, path)
            try FileManager.default.createDirectory(
                atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try file.seek(toOffset: UInt64(header.count))
            while let (name, length) = try entry(file, path) {
                try copy(file, length, to: folder.file(name), backup: path)
                CrashPoint.pass("restore-copied")
            }
        } catch let error as ServerFolderError {
            throw error
        } catch {
            throw .unusable(path: path, reason: error.localizedDescription)
        }
    }

    /// Checks the digest of the whole file.
    private static func check(_ file: FileHandle, _ path: String) throws {
        let size = try file.seekToEnd()
        guard size > UInt64(header.count + digestLength) else {
            throw ServerFolderError.badBackup(path: path, reason: "it is too short")
        }
        try file.seek(toOffset: 0)
        guard try file.read(upToCount: header.count).map({ Array($0) }) == header else {
            throw ServerFolderError.badBackup(path: path, reason: "it is no backup of an Outpost server")
        }
        try file.seek(toOffset: 0)
        var (digest, rest) = (SHA256(), size - UInt64(digestLength))
        while rest > 0 {
            guard let bytes = try file.read(upToCount: Int(min(rest, UInt64(chunk)))), !bytes.isEmpty else { break }
            digest.update(data: bytes)
            rest -= UInt64(bytes.count)
        }
        guard try file.read(upToCount: digestLength).map({ Array($0) }) == Array(digest.finalize()) else {
            throw ServerFolderError.badBackup(path: path, reason: "it is incomplete or was changed")
        }
    }

    /// Reads the name and the length of the next file; `nil` at the end.
    private static func entry(_ file: FileHandle, _ path: String) throws -> (String, UInt64)? {
        var line: [UInt8] = []
        while line.count < 128, let byte = try file.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let length = UInt64(words[1]) else {
            throw ServerFolderError.badBackup(path: path, reason: "an entry cannot be read")
        }
        if words[0] == "end" { return nil }
        guard names.contains(String(words[0])) else {
            throw ServerFolderError.badBackup(path: path, reason: "it has an unknown file")
        }
        return (String(words[0]), length)
    }

    private static func copy(_ file: FileHandle, _ length: UInt64, to target: String, backup path: String) throws {
        guard FileManager.default.createFile(atPath: target, contents: nil, attributes: [.posixPermissions: 0o600]),
            let output = FileHandle(forWritingAtPath: target)
        else { throw ServerFolderError.unusable(path: target, reason: "the file cannot be made") }
        defer { try? output.close() }
        var rest = length
        while rest > 0 {
            guard let bytes = try file.read(upToCount: Int(min(rest, UInt64(chunk)))), !bytes.isEmpty else {
                throw ServerFolderError.badBackup(path: path, reason: "it is incomplete")
            }
            try output.write(contentsOf: bytes)
            rest -= UInt64(bytes.count)
        }
        try output.synchronize()
    }
}
