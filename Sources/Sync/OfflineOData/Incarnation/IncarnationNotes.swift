import Foundation
import SafeFiles
import Secrets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The notes by which a device distinguishes a store from its copies: one small file for each store, in a folder
/// outside of the store.
///
/// A note has the random number of the store (its incarnation), the number of uploads, and the identity of the
/// store's file. A copied or restored store comes without its note, so that the two differ afterwards. The notes
/// must stay in place as long as the stores exist: without them, the queues of all stores are held.
public struct IncarnationNotes: Sendable {
    private let folder: String?
    private let identify: @Sendable (_ path: String) -> StoreFileIdentity?

    /// Creates notes in a folder.
    ///
    /// - Parameters:
    ///   - folder: An absolute path outside of the folders of the stores, which backups should leave out; created
    ///     if missing. Several stores and processes may share it.
    ///   - identify: Returns the identity of the file at a path; by default, from the file system.
    public init(
        folder: String,
        identify: @escaping @Sendable (_ path: String) -> StoreFileIdentity? = { StoreFileIdentity(path: $0) }
    ) {
        self.folder = folder
        self.identify = identify
    }

    private init() {
        folder = DataFolder.path().map { $0 + "/incarnations" }
        identify = { StoreFileIdentity(path: $0) }
    }

    /// Notes beside the generated keys: in `$XDG_DATA_HOME/outpost/incarnations` or
    /// `~/.local/share/outpost/incarnations`; on Apple's platforms in Application Support, in a folder that
    /// backups leave out.
    public static let standard = IncarnationNotes()

    /// The note of a store.
    struct Note: Hashable, Sendable {
        var uploads: Int64
        var file: StoreFileIdentity

        private static let start = "outpost-incarnation 1 "
        /// The offset of the number of uploads, which has a fixed length.
        static let offset = off_t(start.utf8.count)

        static func digits(_ number: UInt64) -> String {
            let text = String(number)
            return String(repeating: "0", count: 20 - text.count) + text
        }

        var bytes: [UInt8] {
            Array(
                "\(Self.start)\(Self.digits(UInt64(max(uploads, 0)))) \(Self.digits(file.file)) \(file.volume)\n".utf8)
        }

        init(uploads: Int64, file: StoreFileIdentity) {
            self.uploads = uploads
            self.file = file
        }

        /// - Returns: `nil` for anything but a note.
        init?(_ bytes: [UInt8]) {
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.hasPrefix(Self.start), text.hasSuffix("\n") else { return nil }
            let parts = text.dropFirst(Self.start.count).dropLast()
                .split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let uploads = Int64(parts[0]), uploads >= 0, let file = UInt64(parts[1]) else {
                return nil
            }
            self.init(uploads: uploads, file: StoreFileIdentity(volume: String(parts[2]), file: file))
        }
    }

    /// The most bytes of a note.
    private static let maximumByteCount = 1024

    /// The identity of the file at a path.
    func identity(of path: String) -> StoreFileIdentity? { identify(path) }

    /// The note of a store; `nil` if there is none, or none that can be read.
    func note(of incarnation: String) -> Note? {
        guard let name = Self.name(incarnation), let folder = try? opened() else { return nil }
        return (try? folder.read(name, limit: Self.maximumByteCount)).flatMap { $0 }.flatMap { Note($0) }
    }

    /// The stores with notes for a file.
    func incarnations(in file: StoreFileIdentity) -> [String] {
        guard let folder else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { note(of: $0)?.file == file }
    }

    /// Writes the note of a store durably, and replaces the former one.
    ///
    /// - Throws: ``OfflineError/fileAccess(path:reason:)``.
    func write(_ note: Note, of incarnation: String) throws(OfflineError) {
        let folder = try made()
        guard let name = Self.name(incarnation) else { throw Self.failure(incarnation, "it is no name of a note") }
        do throws(SafeFileError) {
            try folder.replace(name, with: note.bytes)
        } catch {
            throw Self.failure(error.path, error.explanation)
        }
    }

    /// Writes the number of uploads in place, without syncing. After a power failure, the note has an older
    /// number, which still is a correct lower bound.
    ///
    /// - Throws: ``OfflineError/fileAccess(path:reason:)``.
    func setUploads(_ uploads: Int64, of incarnation: String) throws(OfflineError) {
        let folder = try made()
        guard let name = Self.name(incarnation) else { throw Self.failure(incarnation, "it is no name of a note") }
        let file: Int32
        do throws(SafeFileError) {
            file = try folder.open(name, O_WRONLY)
        } catch {
            throw Self.failure(error.path, error.explanation)
        }
        defer { close(file) }
        let digits = Array(Note.digits(UInt64(max(uploads, 0))).utf8)
        guard pwrite(file, digits, digits.count, Note.offset) == digits.count else {
            throw Self.failure(folder.path(of: name), String(cString: strerror(errno)))
        }
    }

    /// Moves the notes of the stores in one file to another file. After a failure, their queues are held.
    func move(_ file: StoreFileIdentity, to other: StoreFileIdentity) {
        for incarnation in incarnations(in: file) {
            guard var note = note(of: incarnation) else { continue }
            note.file = other
            try? write(note, of: incarnation)
        }
    }

    /// Removes the note of a removed store.
    func remove(_ incarnation: String) {
        guard let name = Self.name(incarnation) else { return }
        _ = try? opened().remove(name)
    }

    /// The file name of a note. An incarnation may come from a stranger's store, and must not name another file.
    private static func name(_ incarnation: String) -> String? {
        UUID(uuidString: incarnation) == nil ? nil : incarnation.lowercased()
    }

    private static func failure(_ path: String, _ reason: String) -> OfflineError {
        .fileAccess(path: path, reason: reason)
    }

    private func opened() throws(OfflineError) -> CheckedFolder {
        guard let folder else { throw Self.failure("~", "the user has no home folder") }
        do throws(SafeFileError) {
            return try CheckedFolder(folder, .ours)
        } catch {
            throw Self.failure(error.path, error.explanation)
        }
    }

    private func made() throws(OfflineError) -> CheckedFolder {
        if let folder, !FileManager.default.fileExists(atPath: folder) {
            _ = try StoreFiles.makeDirectory(folder)
            #if canImport(Darwin)
                var url = URL(fileURLWithPath: folder)
                var values = URLResourceValues()
                values.isExcludedFromBackup = true
                try? url.setResourceValues(values)
            #endif
        }
        return try opened()
    }
}
