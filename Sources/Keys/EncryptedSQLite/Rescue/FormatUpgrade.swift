import CSQLite
import Foundation
import Secrets

/// Brings a database of format 1 to format 2: no page is rewritten, but the log must be empty, as no frame of the first format
/// opens in the second.
///
/// A crash at any byte leaves a database that one key opens: first the key slot that does not count is written for the new
/// header, then the two bytes of the version, which decide which slot counts, then the old slot is filled with zeros.
struct FormatUpgrade {
    /// A canonical path.
    let path: String
    let source: KeySource

    /// Upgrades the file if nobody else has it open, or ends an upgrade that a crash has cut short.
    ///
    /// - Parameter block: The key block, which the key opens.
    /// - Returns: The new block; nil where the file stays as it is.
    /// - Throws: `sqlite`, where the disk failed such that nobody can tell which version the file has.
    func run(_ block: KeyBlock, _ dataKey: EncryptionKey) throws(EncryptedDatabaseError) -> KeyBlock? {
        if block.version == .latest {
            finish(block)
            return nil
        }
        guard isAlone else { return nil }
        if !FileContent.isEmpty(path + "-wal") {
            let cipher = PageCipher(dataKey: dataKey, fileIdentity: block.fileIdentity, version: block.version)
            guard logIsWhole(cipher, block.version) else { return nil }
            moveLog()
        }
        // Who cannot write the file, or finds it in use, goes on with the first format.
        guard let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE),
            (try? file.lockOut(attempts: 1)) != nil
        else { return nil }
        defer { file.unlock() }
        guard FileContent.isEmpty(path + "-wal"), hasNoJournal, let present = try? file.read(),
            present.version == block.version, present.fileIdentity == block.fileIdentity,
            let (new, slot) = try? present.upgraded(to: .latest, with: source)
        else { return nil }
        return try write(new, slot, to: file) ? new : nil
    }

    /// - Returns: False where nothing has changed.
    private func write(_ new: KeyBlock, _ slot: Int, to file: KeyBlockFile) throws(EncryptedDatabaseError) -> Bool {
        let empty = [UInt8](repeating: 0, count: KeyBlock.slotSize)
        do throws(EncryptedDatabaseError) {
            try file.write(new.slotBytes(slot), at: KeyBlock.slotOffsets[slot])
        } catch {
            // Whatever of it is there, it does not count under the present header.
            try? file.write(empty, at: KeyBlock.slotOffsets[slot])
            return false
        }
        do throws(EncryptedDatabaseError) {
            try file.write(KeyBlock.bytes(of: .latest), at: KeyBlock.versionOffset)
        } catch {
            // What a program reads now may not be what is there after a power failure.
            try file.write(KeyBlock.bytes(of: .one), at: KeyBlock.versionOffset)
            return false
        }
        // An old slot that cannot be wiped counts no more, and the next unlocking tries again.
        for _ in 0..<2 where (try? file.write(empty, at: KeyBlock.slotOffsets[1 - slot])) != nil { break }
        return true
    }

    /// Fills the slot that does not count with zeros, where a crash has kept an upgrade or a re-keying from doing so; before
    /// that, the version is made durable for certain.
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

    /// Whether no connection has the database open now, which is a look before more is done for it.
    private var isAlone: Bool {
        guard hasNoJournal, let file = try? KeyBlockFile(path: path, flags: SQLITE_OPEN_READWRITE),
            (try? file.lockOut(attempts: 1)) != nil
        else { return false }
        file.unlock()
        return true
    }

    /// Whether no journal waits to be played back: there is none, or one that begins with zeros.
    private var hasNoJournal: Bool {
        guard !FileContent.isEmpty(path + "-journal") else { return true }
        return FileContent.beginning(of: path + "-journal", count: 8)?.allSatisfy { $0 == 0 } ?? false
    }

    /// Whether moving the log into the database loses nothing and makes nothing genuine that is damaged.
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

    /// Has SQLite move the log into the database. Where that fails, the log is still there.
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
    /// The version of the format that a database has, which needs no key.
    ///
    /// - Throws: ``EncryptedDatabaseError``: `notFound`, `plainDatabase`, `notADatabase`, `unsupportedFormat`,
    ///   `damagedKeyBlock`, `sqlite`.
    package static func formatVersion(at path: String) throws(EncryptedDatabaseError) -> Int {
        try register()
        return try KeyBlockFile(path: try canonical(path), flags: SQLITE_OPEN_READONLY).read().version.rawValue
    }

    /// The copies of logs of a database that hold commits which recovery could not use, by name.
    package static func lostLogs(besides path: String) -> [String] { LostLog.kept(besides: path) }
}
