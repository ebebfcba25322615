import DataVault
import Foundation
import OfflineOData

/// What a clone says of itself in the clear: where its key is, and nothing else.
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

    private static func path(in directory: String) -> String { directory + "/outpost.json" }

    /// What stands in a directory whose making was cut short; `nil` for any other directory.
    static func unfinished(in directory: String) -> CloneFile? {
        guard let data = FileManager.default.contents(atPath: path(in: directory)),
            let file = try? JSONDecoder().decode(CloneFile.self, from: data), file.isUnfinished == true
        else { return nil }
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
        guard let data = FileManager.default.contents(atPath: path(in: directory)) else {
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
        guard let file = try? JSONDecoder().decode(CloneFile.self, from: data) else {
            throw Failure(
                message: "\(path(in: directory)) is damaged: it must say where the store's key is.",
                advice: "If you have the key in a file, name it: --key-file FILE")
        }
        guard file.isUnfinished != true else {
            throw Failure(
                message: "The clone in \(directory) was interrupted before it held anything.",
                advice: "Make it again with: outpost clone URL \(directory.shellQuoted)")
        }
        return file
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

    /// Writes it, durably: a key that nobody says where it is opens nothing.
    func write(in directory: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let path = Self.path(in: directory)
        do {
            try encoder.encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw Failure(
                message: "\(path) cannot be written: \(error.systemReason).",
                advice: "Is the disk full, or the directory somebody else's?")
        }
        // What stood there before is on the disk otherwise, should the power fail.
        try? SystemFiles().syncDirectory(directory)
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

    /// Removes what a making that was cut short has left: the store, which holds nothing yet, its key and this file.
    ///
    /// - Throws: `OfflineError` where the store is being used, or cannot be removed.
    func removeUnfinished(in directory: String) throws {
        try OfflineODataProvider.remove(at: directory)
        if case .vault(let name) = key { KeyKeeper.remove(named: name) }
        Self.remove(in: directory)
    }

    /// Removes the file alone.
    static func remove(in directory: String) {
        try? FileManager.default.removeItem(atPath: path(in: directory))
    }
}
