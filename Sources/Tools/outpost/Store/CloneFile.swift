import Foundation
import ODataSQL
import OfflineOData
import SafeFiles

/// What a clone says of itself in the clear: where its key is, and nothing else.
///
/// The file is input from a stranger: a clone may be unpacked from an archive, or lie in a shared folder. It is read up to a
/// limit and never through a link, and it can name no other key than one that ``KeyKeeper`` makes for clones. What it says
/// is a hint where to look: whether a key opens the store is found out by the store alone.
struct CloneFile: Codable {
    /// Where the key is.
    enum Key: Codable, Equatable {
        /// Among the generated keys, under this name.
        case vault(name: String)
        /// In a person's head.
        case passphrase
        /// In a file that is named on each command.
        case file
    }

    var key: Key
    /// Whether the store beside it may be half made: set until its making is complete.
    var isUnfinished: Bool?

    /// The name of the file.
    static let name = "outpost.json"
    /// The most bytes that the file may have; what Outpost writes has about 100.
    static let maximumByteCount = 16_384

    private static func path(in directory: String) -> String { directory + "/" + name }

    /// Why a file does not say where the key is.
    private enum Refusal: Error {
        case damaged
        case foreignKey
        case file(SafeFileError)
    }

    /// The content of the file; `nil` where there is none.
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

    /// What stands in a directory whose making was cut short; `nil` for any other directory.
    static func unfinished(in directory: String) -> CloneFile? {
        guard let file = try? content(in: directory), file.isUnfinished == true else { return nil }
        return file
    }

    /// Makes sure that a directory is meant where a clone is wanted.
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
        let message =
            switch refusal {
            case .damaged: "\(path) is damaged: it must say where the store's key is."
            case .foreignKey:
                "\(path) does not name a key of a clone. A key of a clone is named clone- and a UUID in small letters."
            case .file(let error): "\(path) cannot be read: \(error.explanation)."
            }
        return Failure(message: message, advice: "If you have the key in a file, name it: --key-file FILE")
    }

    /// Makes sure that a directory holds no clone, but for one whose making was cut short.
    static func requireNone(in directory: String) throws {
        guard unfinished(in: directory) == nil else { return }
        try requireFile(in: directory)
        guard !FileManager.default.fileExists(atPath: directory + "/store.db") else {
            throw Failure(
                message: "\(directory) is a clone already.", advice: "Bring it up to date with: outpost pull DIR")
        }
    }

    /// Makes sure that a store that is there has its file beside it.
    static func requireFile(in directory: String) throws {
        guard FileManager.default.fileExists(atPath: directory + "/store.db"),
            !FileManager.default.fileExists(atPath: path(in: directory))
        else { return }
        throw Failure(
            message: "\(directory) holds a store, but outpost.json beside it is missing, which says where the key is.",
            advice: "Put it back from a copy. If you have the key in a file, name it: --key-file FILE")
    }

    /// Writes it, durably and readable by its owner alone: a key that nobody says where it is opens nothing.
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

    /// Makes the directory of a clone, which only its owner can enter.
    ///
    /// - Returns: whether it is new.
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

    /// Removes the store that an interrupted making has left, and this file; a key is never removed.
    ///
    /// That a making was interrupted is only what a file says. So the store goes only if it can be opened and nothing was ever
    /// downloaded into it or changed in it.
    ///
    /// - Parameter protection: The key that a person gave for the new store, and perhaps for the old one.
    /// - Throws: ``Failure`` for a store that may hold something; `OfflineError` if it is being used.
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
                        "\(directory) holds a store that may not be empty, although its outpost.json says that its "
                        + "making was interrupted.",
                    advice: "Nothing was removed. Name another directory after the URL, or remove this one yourself.")
            }
        }
        try OfflineStore.remove(at: directory)
        Self.remove(in: directory)
    }

    /// Removes the file alone.
    static func remove(in directory: String) { _ = try? CheckedFolder(directory).remove(name) }
}
