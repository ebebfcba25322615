import CSQLite
import Foundation
import Secrets

/// The upgrade of a database from format 1 to format 2. No page is rewritten, but the log must be empty,
/// because frames of format 1 do not open in format 2.
///
/// A crash at any byte leaves a database that the key still opens. First the unused key slot is written for the
/// new header. Then the two bytes of the version are written, which determine the valid slot. Finally the old
/// slot is filled with zeros.
struct FormatUpgrade {
    /// The canonical path of the database.
    let path: String
    let source: KeySource

    /// Upgrades the file if no other connection has it open, or finishes an upgrade that a crash interrupted.
    ///
    /// - Parameter block: The key block, which the key opens.
    /// - Returns: The new block; nil where the file stays as it is.
    /// - Throws: `sqlite` if the disk failed, and the version of the file or the presence of a log or a journal is
    ///   unknown since.
    func run(_ block: KeyBlock, _ dataKey: EncryptionKey) throws(EncryptedDatabaseError) -> KeyBlock? {
        if block.version == .latest {
            finish(block)
            return nil
        }
        guard try isAlone else { return nil }
        if try !FileContent.isEmpty(path + "-wal") {
            let cipher = PageCipher(dataKey: dataKey, fileIdentity: block.fileIdentity, version: block.version)
            guard logIsWhole(cipher, block.version) else { return nil }
            moveLog()
        }
        // If the file is read-only or in use, its format stays.
        guard let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE),
            (try? file.lockOut(attempts: 1)) != nil
        else { return nil }
        defer { file.unlock() }
        guard try FileContent.isEmpty(path + "-wal"), try hasNoJournal, let present = try? file.read(),
            present.version == block.version, present.fileIdentity == block.fileIdentity,
            let (new, slot) = try? present.upgraded(to: .latest, with: source)
        else { return nil }
        return try write(new, slot, to: file) ? new : nil
    }

    /// - Returns: `false` if nothing has changed.
    private func write(_ new: KeyBlock, _ slot: Int, to file: KeyBlockFile) throws(EncryptedDatabaseError) -> Bool {
        let empty = [UInt8](repeating: 0, count: KeyBlock.slotSize)
        do throws(EncryptedDatabaseError) {
            try file.write(new.slotBytes(slot), at: KeyBlock.slotOffsets[slot])
        } catch {
            // A slot that was partly written is invalid under the current header.
            try? file.write(empty, at: KeyBlock.slotOffsets[slot])
            return false
        }
        do throws(EncryptedDatabaseError) {
            try file.write(KeyBlock.bytes(of: .latest), at: KeyBlock.versionOffset)
        } catch {
            // The bytes that are readable may differ from those on disk after a power failure.
            try file.write(KeyBlock.bytes(of: .one), at: KeyBlock.versionOffset)
            return false
        }
        // An old slot that cannot be erased is invalid; the next unlocking tries again.
        for _ in 0..<2 where (try? file.write(empty, at: KeyBlock.slotOffsets[1 - slot])) != nil { break }
        return true
    }

    /// Erases the invalid slot if a crash kept an upgrade or a re-keying from doing so. Before that, the
    /// version is written again to make it durable.
    private func finish(_ block: KeyBlock) {
        guard let reader = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY), hasRemains(block, in: reader),
            let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE)
        else { return }
        try? file.whileReserved { () throws(EncryptedDatabaseError) in
            let present = try file.read()
            guard present.version == .latest, let active = present.active, hasRemains(present, in: file) else { return }
            try file.write(KeyBlock.bytes(of: .latest), at: KeyBlock.versionOffset)
            try file.write(
                [UInt8](repeating: 0, count: KeyBlock.slotSize), at: KeyBlock.slotOffsets[1 - active])
        }
    }

    private func hasRemains(_ block: KeyBlock, in file: KeyBlockFile) -> Bool {
        guard let active = block.active,
            let slot = try? file.content(at: Int64(KeyBlock.slotOffsets[1 - active]), count: KeyBlock.slotSize)
        else { return false }
        return slot.contains { $0 != 0 }
    }

    /// Whether no connection has the database open, checked before further work is done.
    private var isAlone: Bool {
        get throws(EncryptedDatabaseError) {
            guard try hasNoJournal, let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE),
                (try? file.lockOut(attempts: 1)) != nil
            else { return false }
            file.unlock()
            return true
        }
    }

    /// Whether no journal has to be played back: it is missing, or begins with zeros.
    private var hasNoJournal: Bool {
        get throws(EncryptedDatabaseError) {
            guard try !FileContent.isEmpty(path + "-journal") else { return true }
            return FileContent.beginning(of: path + "-journal", count: 8)?.allSatisfy { $0 == 0 } ?? false
        }
    }

    /// Returns whether a checkpoint of the log loses no data and does not turn damaged data into valid pages.
    private func logIsWhole(_ cipher: PageCipher, _ version: FormatVersion) -> Bool {
        guard let log = LogReader(path: path + "-wal", cipher: cipher, version: version), log.headerIsWhole,
            log.damagedFrames.isEmpty, !log.hasLostCommit,
            let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY), let size = try? file.size()
        else { return false }
        let there = Int(max(0, size - Int64(FileFormat.keyBlockSize))) / FileFormat.pageSize
        guard let recovered = log.recovered, recovered.pageCount > there else { return true }
        return ((there + 1)...recovered.pageCount).allSatisfy {
            recovered.frames[$0] != nil || $0 == FileFormat.lockPage
        }
    }

    /// Makes SQLite checkpoint the log. If that fails, the log is unchanged.
    private func moveLog() {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        guard
            sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, EncryptedDatabase.vfsName) == SQLITE_OK
        else { return }
        sqlite3_exec(
            database, "PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1", nil, nil, nil)
        sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    }
}

extension EncryptedDatabase {
    /// Returns the format version of a database, for which no key is needed.
    ///
    /// - Throws: ``EncryptedDatabaseError``: `notFound`, `plainDatabase`, `notADatabase`, `unsupportedFormat`,
    ///   `damagedKeyBlock`, `sqlite`.
    package static func formatVersion(at path: String) throws(EncryptedDatabaseError) -> Int {
        try register()
        return try KeyBlockFile(path: try canonical(path), flags: SQLITE_OPEN_READONLY).read().version.rawValue
    }

    /// Returns the sorted paths of the kept logs of a database, which hold commits that recovery could not use.
    package static func lostLogs(besides path: String) -> [String] { LostLog.kept(besides: path) }
}
