import Foundation
import ODataSQL
import OfflineOData
import SafeFiles
import ToolLanguage

/// The file of a clone that names the place of its key in the clear, and nothing else.
///
/// The file is foreign input: a clone may be unpacked from an archive, or lie in a shared folder. It is read
/// up to a limit and never through a link. The only keys that it can name are those of ``KeyKeeper`` for
/// clones. Only the store finds out whether a key opens it.
struct CloneFile: Codable {
    /// The place of the key.
    enum Key: Codable, Equatable {
        /// A generated key with this name.
        case vault(name: String)
        /// A passphrase.
        case passphrase
        /// A file that is named on each command.
        case file
    }

    var key: Key
    /// Whether the store may be half made; set until it is complete.
    var isUnfinished: Bool?

    /// The name of the file.
    static let name = "outpost.json"
    /// The maximum size of the file in bytes; Outpost writes about 100.
    static let maximumByteCount = 16_384

    private static func path(in directory: String) -> String { directory + "/" + name }

    /// The reason why a file does not name the place of the key.
    private enum Refusal: Error {
        case damaged
        case foreignKey
        case file(SafeFileError)
    }

    /// Returns the content of the file; `nil` if there is no file.
    private static func content(in directory: String) throws(Refusal) -> CloneFile? {
        let bytes: [UInt8]?
        do throws(SafeFileError) {
            bytes = try CheckedFolder(directory).read(name, limit: maximumByteCount)
        } catch {
            switch error.reason {
            case .system(ENOENT), .system(ENOTDIR), .system(EACCES): return nil
            default: throw .file(error)
            }
        }
        guard let bytes else { return nil }
        guard let file = try? JSONDecoder().decode(CloneFile.self, from: Data(bytes)) else { throw .damaged }
        if case .vault(let name) = file.key, !KeyKeeper.isKeyName(name) { throw .foreignKey }
        return file
    }

    /// Returns the content of the file of an interrupted clone; `nil` for any other directory.
    static func unfinished(in directory: String) -> CloneFile? {
        guard let file = try? content(in: directory), file.isUnfinished == true else { return nil }
        return file
    }

    /// Checks that a path is a directory.
    static func requireDirectory(_ path: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
            return
        }
        throw Failure(
            message: "\(path) is a file, and no directory of a clone.",
            advice: "Name the directory of a clone. A database is served with: outpost serve \(path.shellQuoted)")
    }

    static func read(in directory: String) throws -> CloneFile {
        let found: CloneFile?
        do throws(Refusal) {
            found = try content(in: directory)
        } catch {
            throw failure(error, in: directory)
        }
        guard let file = found else {
            let isThere = FileManager.default.fileExists(atPath: directory)
            guard !isThere || FileManager.default.isExecutableFile(atPath: directory) else {
                throw Failure(
                    message: "\(directory) may not be entered.", advice: "It belongs to the user who made the clone.")
            }
            try requireFile(in: directory)
            throw Failure(
                message: "\(directory) is not a clone.",
                advice: "Make one with: outpost clone URL \(directory.shellQuoted)")
        }
        guard file.isUnfinished != true else {
            throw Failure(
                message: "The clone in \(directory) was interrupted before it held anything.",
                advice: "Make it again with: outpost clone URL \(directory.shellQuoted)")
        }
        return file
    }

    private static func failure(_ refusal: Refusal, in directory: String) -> Failure {
        let path = path(in: directory)
        let message: TerminalText =
            switch refusal {
            case .damaged: "\(path) is damaged: it must say where the store's key is."
            case .foreignKey:
                "\(path) does not name a key of a clone. A key of a clone is named clone- and a UUID in small letters."
            case .file(let error): "\(path) cannot be read: \(error.explanation)."
            }
        return Failure(message: message, advice: "If you have the key in a file, name it: --key-file FILE")
    }

    /// Checks that a directory holds no clone, except an interrupted one.
    static func requireNone(in directory: String) throws {
        guard unfinished(in: directory) == nil else { return }
        try requireFile(in: directory)
        guard !FileManager.default.fileExists(atPath: directory + "/store.db") else {
            throw Failure(
                message: "\(directory) is a clone already.", advice: "Bring it up to date with: outpost pull DIR")
        }
    }

    /// Checks that an existing store has its file.
    static func requireFile(in directory: String) throws {
        guard FileManager.default.fileExists(atPath: directory + "/store.db"),
            !FileManager.default.fileExists(atPath: path(in: directory))
        else { return }
        throw Failure(
            message: "\(directory) holds a store, but outpost.json beside it is missing, which says where the key is.",
            advice: "Put it back from a copy. If you have the key in a file, name it: --key-file FILE")
    }

    /// Writes the file durably, readable by its owner only. A key without a known place opens nothing.
    func write(in directory: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let bytes = Array(try encoder.encode(self))
        do throws(SafeFileError) {
            try CheckedFolder(directory).replace(Self.name, with: bytes)
        } catch {
            throw Failure(
                message: "\(Self.path(in: directory)) cannot be written: \(error.explanation).",
                advice: "Is the disk full, or the directory somebody else's?")
        }
    }

    /// Creates the directory of a clone, which only its owner can enter.
    ///
    /// - Returns: whether the directory is new.
    static func makeDirectory(_ directory: String) throws -> Bool {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory) {
            guard isDirectory.boolValue else {
                throw Failure(message: "\(directory) is not a directory.", advice: "Name another one after the URL.")
            }
            return false
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                message: "The directory \(directory) cannot be made: \(error.systemReason).",
                advice: "Name another one after the URL.")
        }
        return true
    }

    /// Removes the store of an interrupted clone, and this file. A key is never removed.
    ///
    /// Only the file says that the clone was interrupted. Therefore the store is removed only if it can be
    /// opened and nothing was ever downloaded into it or changed in it.
    ///
    /// - Parameter protection: the key for the new store, perhaps also of the old one.
    /// - Throws: ``Failure`` for a store that may hold data; `OfflineError` if the store is in use.
    func removeUnfinished(in directory: String, _ protection: StoreProtection?) async throws {
        var candidates: [StoreProtection] = []
        if case .vault(let name) = key, let kept = try? KeyKeeper.key(named: name) {
            candidates.append(.encrypted(.key(kept)))
        }
        if let protection { candidates.append(protection) }
        if FileManager.default.fileExists(atPath: directory + "/store.db") {
            var isEmpty = false
            for candidate in candidates where !isEmpty {
                isEmpty = await OfflineStore.isUntouched(at: directory, protection: candidate)
            }
            guard isEmpty else {
                throw Failure(
                    message:
                        """
                        \(directory) holds a store that may not be empty, although its outpost.json says that its \
                        making was interrupted.
                        """,
                    advice: "Nothing was removed. Name another directory after the URL, or remove this one yourself.")
            }
        }
        try OfflineStore.remove(at: directory)
        Self.remove(in: directory)
    }

    /// Removes only the file.
    static func remove(in directory: String) { _ = try? CheckedFolder(directory).remove(name) }
}
