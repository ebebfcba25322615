import DataVault
import EncryptedSQLite
import Foundation
import Secrets

/// The places of the clones of each generated key, so that nobody removes the key of a forgotten clone.
///
/// The places are kept in a folder beside the keys, in one file for each key. A place is noted when a key is
/// generated for it and when a clone is opened with a generated key. Copies and moved clones are therefore
/// noted at their first use. The notes are only hints: the file itself shows whether a key opens it.
enum KeyUses {
    /// The state of the file at a place.
    enum State: String, Encodable {
        /// The key opens the file.
        case opens
        /// The file is missing or unreadable.
        case missing
        /// Another key opens the file.
        case otherKey = "other-key"
    }

    /// A file that a key was used for.
    struct Use: Encodable, Hashable {
        var path: String
        var state: State
    }

    /// The number of places that are noted for one key; the oldest are forgotten.
    static let maximumPlaces = 100

    private static func notes() throws -> FileSecretStore {
        let keys = try FileSecretStore().directory as NSString
        return try FileSecretStore(directory: keys.deletingLastPathComponent + "/key-uses")
    }

    /// Notes that a key was used for a clone. A note that cannot be written stops no command.
    static func note(_ key: String, _ directory: String) {
        let place = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
        guard let notes = try? notes(), let name = try? SecretName(key) else { return }
        guard !places(of: name, in: notes).contains(place) else { return }
        let lock = lock(notes)
        defer { withExtendedLifetime(lock) {} }
        let all = places(of: name, in: notes).filter { $0 != place } + [place]
        guard let bytes = try? JSONEncoder().encode(Array(all.suffix(maximumPlaces))) else { return }
        try? notes.set(Secret(Array(bytes)), named: name)
    }

    /// Two concurrent commands would lose the notes of each other.
    private static func lock(_ notes: FileSecretStore) -> FileLock? {
        var lock = try? SystemFiles().lock(notes.directory + "/.lock")
        for _ in 0..<100 where lock == nil && FileManager.default.fileExists(atPath: notes.directory) {
            usleep(5000)
            lock = try? SystemFiles().lock(notes.directory + "/.lock")
        }
        return lock
    }

    /// Notes a clone without a generated key, so that it can be listed.
    static func note(_ directory: String) {
        guard FileManager.default.fileExists(atPath: directory + "/store.db") else { return }
        note(noKey, directory)
    }

    /// The name under which the places of clones without a generated key are noted.
    private static let noKey = "no-generated-key"

    /// Forgets a removed clone with any kind of key.
    static func forgetPlace(_ directory: String) {
        let place = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
        guard let notes = try? notes(), let names = try? notes.names() else { return }
        let lock = lock(notes)
        defer { withExtendedLifetime(lock) {} }
        for name in names {
            let all = places(of: name, in: notes)
            let others = all.filter { $0 != place }
            guard others.count < all.count else { continue }
            if others.isEmpty {
                try? notes.remove(named: name)
            } else if let bytes = try? JSONEncoder().encode(others) {
                try? notes.set(Secret(Array(bytes)), named: name)
            }
        }
    }

    /// Forgets the places of a key that was removed.
    static func forget(_ key: SecretName) { try? notes().remove(named: key) }

    private static func places(of key: SecretName, in notes: FileSecretStore) -> [String] {
        guard let bytes = try? notes.secret(named: key)?.reveal() else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(bytes))) ?? []
    }

    /// The places of one key; `nil` if none was ever noted, as for keys of earlier versions.
    static func places(of key: SecretName) -> [String]? {
        guard let notes = try? notes() else { return nil }
        let found = places(of: key, in: notes)
        return found.isEmpty ? nil : found
    }

    /// All places that are noted for any key.
    static func allPlaces() -> [String] {
        guard let notes = try? notes(), let names = try? notes.names() else { return [] }
        return Set(names.flatMap { places(of: $0, in: notes) }).sorted()
    }

    /// The files that a key opens at the given places, damaged stores that a repair has kept among them, and the state
    /// of the places that were noted for it.
    ///
    /// - Parameters:
    ///   - key: nil for a key that cannot be read.
    ///   - own: the places that were noted for the key.
    ///   - all: the places that were noted for any key.
    static func uses(of key: EncryptionKey?, own: [String], all: [String]) -> [Use] {
        var uses: [Use] = []
        for place in Set(all).union(own).sorted() {
            let files = databases(in: place)
            let opened = files.filter { file in
                key.map { EncryptedDatabase.isOpened(at: file, by: .key($0)) } ?? false
            }
            uses += opened.map { Use(path: $0, state: .opens) }
            guard opened.isEmpty, own.contains(place) else { continue }
            uses.append(Use(path: place, state: files.isEmpty ? .missing : .otherKey))
        }
        return uses
    }

    /// Returns the databases in the directory of a clone: its own, and those that repairs have kept.
    private static func databases(in directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0 == "store.db" || $0.hasPrefix("store.db.damaged") && !$0.contains("-") }
            .sorted().map { directory + "/" + $0 }
    }
}
