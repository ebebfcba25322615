import EncryptedSQLite
import Foundation
import ODataSQL

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The files of a salvage: the damaged ones, which are never opened, the copy that is read, and the new ones.
///
/// While this value exists, nobody can open the store.
struct SalvageFiles {
    /// The damaged database.
    let path: String
    /// The copy that is read: SQLite changes the files that it opens.
    var copy: String { path + ".reading" }
    /// The new database.
    var target: String { path + ".saved" }

    /// The place of this device's notes of its stores.
    let notes: IncarnationNotes
    /// The file of the damaged database.
    let identity: StoreFileIdentity?

    private let protection: StoreProtection
    private let exclusive: ExclusiveDatabase
    /// The files beside a database that contain a part of it.
    private static let logs = ["-wal", "-journal"]

    /// - Throws: `StoreError`; `locked` while any process has the store open.
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

    /// Copies the damaged files for reading.
    ///
    /// - Returns: the number of log frames that had to be left out.
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

    /// Replaces the damaged files with the new one, and keeps the damaged files byte by byte.
    ///
    /// There is a database at every moment. An encrypted database accepts only its own log, so that the old log
    /// may exist beside it for a moment. A plain database does not check, so its old log is removed first.
    ///
    /// - Returns: the path of the kept database.
    /// - Throws: `StoreError`; ``OfflineError/fileAccess(path:reason:)``. Nothing has changed then.
    func replace() throws -> String {
        let files = FileManager.default
        let kept = freeName()
        let logs = Self.logs.filter { files.fileExists(atPath: path + $0) }
        // Another process that finds the new file under its name waits until the old log is removed.
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
        // The damaged file keeps its noted identity: it counts as a copy from now on.
        if let identity, let file = notes.identity(of: path) { notes.move(identity, to: file) }
        return kept
    }

    /// Removes the copy and the new files, if they exist.
    func removeRemains() {
        for name in [copy, target] {
            for suffix in ["", "-shm"] + Self.logs { try? FileManager.default.removeItem(atPath: name + suffix) }
            try? EncryptedDatabase.lock(at: name)
        }
    }

    /// An unused name for the damaged database.
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

    /// Makes the new names durable, so that later changes are not lost with them.
    private func syncFolder() {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

extension StoreError {
    /// Turns an error of the encryption into one of the store.
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
