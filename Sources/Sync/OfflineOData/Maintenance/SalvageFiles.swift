import EncryptedSQLite
import Foundation
import ODataSQL

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The files of a salvage: the damaged ones, which nobody opens, the copy of them that is read, and the new ones.
///
/// As long as this is there, nobody can open the store.
struct SalvageFiles {
    /// The damaged database.
    let path: String
    /// What is read in its place: SQLite changes the files that it opens.
    var copy: String { path + ".reading" }
    /// The new database.
    var target: String { path + ".saved" }

    /// Where this device notes its stores.
    let notes: IncarnationNotes
    /// The file of the damaged database.
    let identity: StoreFileIdentity?

    private let protection: StoreProtection
    private let exclusive: ExclusiveDatabase
    /// What stands beside a database and holds a part of it.
    private static let logs = ["-wal", "-journal"]

    /// - Throws: `StoreError`; `locked` while anybody has the store open.
    init(path: String, _ protection: StoreProtection, _ notes: IncarnationNotes) throws(StoreError) {
        self.path = path
        self.notes = notes
        identity = notes.identity(of: path)
        self.protection = try protection.resolved(exists: true)
        exclusive = try StoreError.translating(path) { () throws(EncryptedDatabaseError) in
            try ExclusiveDatabase(path: path)
        }
        removeRemains()
    }

    /// Copies what is there for being read.
    ///
    /// - Returns: how many frames of the log had to be left out.
    /// - Throws: `StoreError`.
    func makeCopy() throws(StoreError) -> Int {
        try StoreError.translating(path) { () throws(EncryptedDatabaseError) in
            guard case .encrypted(let source) = protection else {
                try exclusive.copyPlain(to: copy)
                return 0
            }
            return try exclusive.copyContent(to: copy, openedWith: source)
        }
    }

    /// The pages of the damaged database with its log.
    func pages() throws(StoreError) -> DatabasePages {
        try StoreError.translating(path) { () throws(EncryptedDatabaseError) in
            guard case .encrypted(let source) = protection else { return try exclusive.pages(openedWith: nil) }
            return try exclusive.pages(openedWith: source)
        }
    }

    /// Puts the new file in the place of the damaged ones, which are kept as they are, byte by byte.
    ///
    /// There is a database at every moment. An encrypted one takes no log but its own for its own, so that the old log may stand
    /// beside it for a moment; a plain one does not tell, and the log goes before it.
    ///
    /// - Returns: where the damaged database is kept.
    /// - Throws: `StoreError`; ``OfflineError/fileAccess(path:reason:)``. Everything is as it was then.
    func replace() throws -> String {
        let files = FileManager.default
        let kept = freeName()
        let logs = Self.logs.filter { files.fileExists(atPath: path + $0) }
        // Who finds the new file under its name waits until the old log is gone.
        let fresh = try StoreError.translating(path) { () throws(EncryptedDatabaseError) in
            try ExclusiveDatabase(path: target)
        }
        defer { withExtendedLifetime(fresh) {} }
        var isPlain = false
        if case .unencrypted = protection { isPlain = true }
        do {
            do {
                try files.linkItem(atPath: path, toPath: kept)
            } catch {
                // Some file systems have no links.
                try exclusive.copyFile(to: kept)
            }
            for log in logs {
                if isPlain {
                    try files.moveItem(atPath: path + log, toPath: kept + log)
                } else {
                    try files.copyItem(atPath: path + log, toPath: kept + log)
                }
            }
            guard rename(target, path) == 0 else {
                throw OfflineError.fileAccess(path: path, reason: String(cString: strerror(errno)))
            }
        } catch {
            for log in logs {
                if isPlain, !files.fileExists(atPath: path + log) {
                    try? files.moveItem(atPath: kept + log, toPath: path + log)
                }
                try? files.removeItem(atPath: kept + log)
            }
            try? files.removeItem(atPath: kept)
            if error is OfflineError { throw error }
            if let error = error as? EncryptedDatabaseError { throw StoreError(error, path: path) }
            throw OfflineError.fileAccess(path: path, reason: error.localizedDescription)
        }
        for suffix in logs + ["-shm"] { try? files.removeItem(atPath: path + suffix) }
        syncFolder()
        // The damaged file keeps the identity that is noted: it is a copy from now on.
        if let identity, let file = notes.identity(of: path) { notes.move(identity, to: file) }
        return kept
    }

    /// Removes the copy and the new files, as far as they are there.
    func removeRemains() {
        for name in [copy, target] {
            for suffix in ["", "-shm"] + Self.logs { try? FileManager.default.removeItem(atPath: name + suffix) }
            try? EncryptedDatabase.lock(at: name)
        }
    }

    /// A name for the damaged database under which there is nothing.
    private func freeName() -> String {
        func isTaken(_ name: String) -> Bool {
            ([""] + Self.logs).contains { FileManager.default.fileExists(atPath: name + $0) }
        }
        var (name, number) = (path + ".damaged", 1)
        while isTaken(name) {
            number += 1
            name = path + ".damaged\(number)"
        }
        return name
    }

    /// Makes the new names durable: what is changed from now on must not be lost with them.
    private func syncFolder() {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

extension StoreError {
    /// Turns a refusal by the encryption into one of the store.
    fileprivate static func translating<Result>(
        _ path: String, _ body: () throws(EncryptedDatabaseError) -> Result
    ) throws(StoreError) -> Result {
        do {
            return try body()
        } catch {
            throw StoreError(error, path: path)
        }
    }
}
