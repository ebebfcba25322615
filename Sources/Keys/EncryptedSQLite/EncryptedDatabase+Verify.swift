import CSQLite
public import Secrets

extension EncryptedDatabase {
    /// A damaged place in the files of a database.
    public struct Damage: Hashable, Sendable, CustomStringConvertible {
        /// The path of the damaged file.
        public let path: String
        /// The start of the damaged part, in bytes from the beginning of the file.
        public let offset: Int64
        /// The part of the format that belongs at this place.
        public let expected: Expectation
        /// The number of missing pages if a file ends too early; otherwise 0.
        public let missingPages: Int

        init(path: String, offset: Int64, expected: Expectation, missingPages: Int = 0) {
            self.path = path
            self.offset = offset
            self.expected = expected
            self.missingPages = missingPages
        }

        /// The parts of the format in which damage can occur.
        public enum Expectation: String, Hashable, Sendable {
            /// The header of the key block, a key slot, or the zeros around them.
            case keyBlock = "key block"
            /// A sealed page of the database.
            case page
            /// The rest of a database that was truncated or partly copied.
            case rest
            /// The header of the write-ahead log.
            case logHeader = "header of the log"
            /// A frame of the write-ahead log. A write that a crash interrupted at the end of the log looks the
            /// same.
            ///
            /// SQLite ends the log at the first damaged frame when it recovers; the transactions behind that
            /// frame are lost.
            case logFrame = "frame of the log"
            /// The end of the write-ahead log: its index in shared memory records more commits than the log
            /// contains.
            case newestCommits = "newest commits of the log"
            /// The header of a rollback journal.
            case journalHeader = "header of the journal"
            /// A record of a rollback journal. A write that a crash interrupted at the end of the journal looks
            /// the same.
            case journalRecord = "record of the journal"
        }

        /// A description of the damage and its place.
        public var description: String {
            let place = "\(path), byte \(offset)"
            if expected == .newestCommits { return "\(place): the \(expected.rawValue) are missing" }
            guard expected == .rest else { return "\(place): not a \(expected.rawValue) as it was written" }
            let missing = missingPages == 1 ? "1 page is missing" : "\(missingPages) pages are missing"
            return "\(place): the file ends here, and \(missing)"
        }
    }

    /// The result of reading a whole database.
    public struct Verification: Hashable, Sendable {
        /// Every damaged place, in the order of files and offsets; empty if there is no damage.
        public internal(set) var damages: [Damage] = []
        /// The byte offset in the log of a transaction without a commit, or `nil`.
        ///
        /// The transaction may be in progress, rolled back, or interrupted by a crash. A power failure that
        /// destroyed the end of the newest transaction looks the same.
        public internal(set) var unfinishedTransaction: Int64?

        /// A sentence about the unfinished transaction, or `nil` without one.
        public var note: String? {
            unfinishedTransaction.map {
                "The log ends with a transaction that was not committed (byte \($0)). Opening the database removes it."
            }
        }
    }

    /// Reads every byte of an unlocked database, its log and its journal, and reports all damage.
    ///
    /// Unused pages and the empty key slot are checked too. Nothing is written. `PRAGMA integrity_check` checks
    /// the content, which this function does not. Connections may work meanwhile; a page that is being written
    /// can appear damaged.
    ///
    /// The loss of the newest complete transactions after a power failure cannot be detected: the log looks as
    /// if they had never been committed. The loss is detected as long as the index of the log (`-shm`) exists.
    ///
    /// - Parameter path: The database file.
    /// - Returns: Every damaged place, in the order of files and offsets; empty if there is no damage.
    /// - Throws: ``EncryptedDatabaseError``: `locked` if the database was not unlocked; `notFound`,
    ///   `plainDatabase`, `notADatabase`, `unsupportedFormat`, `damagedKeyBlock`, `wrongKey`, `sqlite`.
    public static func verify(at path: String) throws(EncryptedDatabaseError) -> [Damage] {
        try register()
        let path = try canonical(path)
        guard let cipher = KeyRegistry.shared.cipher(forPath: path) else { throw .locked(path: path) }
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        let block = try file.read()
        guard block.fileIdentity == cipher.fileIdentity else { throw .wrongKey(path: path) }
        return try verification(of: file, at: path, block, cipher).damages
    }

    /// Returns the damaged places of a database without unlocking the database.
    ///
    /// The key also opens a key block with damaged bytes if those bytes follow from the format. Such damage is
    /// reported like any other.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: Its key or passphrase.
    /// - Returns: Every damaged place, in the order of files and offsets; empty if there is no damage.
    /// - Throws: ``EncryptedDatabaseError``: the errors of ``unlock(at:with:upgradesFormat:)``;
    ///   `unsupportedFormat` and `damagedKeyBlock` only if the key opens no key slot.
    public static func verify(at path: String, with source: KeySource) throws(EncryptedDatabaseError) -> [Damage] {
        try verification(at: path, with: source).damages
    }

    /// Reads the same files as ``verify(at:with:)``, and also reports an unfinished transaction.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: Its key or passphrase.
    /// - Throws: ``EncryptedDatabaseError``: as ``verify(at:with:)``.
    public static func verification(
        at path: String, with source: KeySource
    ) throws(EncryptedDatabaseError) -> Verification {
        try register()
        let path = try canonical(path)
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        let (block, dataKey) = try file.opened(with: source)
        let cipher = PageCipher(dataKey: dataKey, fileIdentity: block.fileIdentity, version: block.version)
        return try verification(of: file, at: path, block, cipher)
    }

    private static func verification(
        of file: KeyBlockFile, at path: String, _ block: KeyBlock, _ cipher: PageCipher
    ) throws(EncryptedDatabaseError) -> Verification {
        var damages: [Damage] = []
        if try !block.isWritten(as: file.content(at: 0, count: FileFormat.keyBlockSize)) {
            damages.append(Damage(path: path, offset: 0, expected: .keyBlock))
        }
        let sealer = cipher.sealer(for: .main)
        let size = try file.size()
        for offset in stride(from: Int64(FileFormat.keyBlockSize), to: size, by: FileFormat.pageSize) {
            let place = PageCipher.Place.main(offset - Int64(FileFormat.keyBlockSize))
            guard size - offset >= Int64(FileFormat.pageSize),
                sealer.opens(try file.content(at: offset, count: FileFormat.pageSize)[...], at: place, of: cipher)
            else {
                damages.append(Damage(path: path, offset: offset, expected: .page))
                continue
            }
        }
        // Read the index before the log: the log then contains at least the commits that the index records.
        let index = LogIndex.state(in: OpenDatabases.shared.beginningOfIndex(of: path, count: 136) ?? [])
        let log = LogReader(path: path + "-wal", cipher: cipher, version: block.version)
        // A journal that is played back makes the file as long as it was.
        if try FileContent.isEmpty(path + "-journal"), let missing = try missingPages(of: file, cipher, log) {
            damages.append(Damage(path: path, offset: size, expected: .rest, missingPages: missing))
        }
        damages += logDamages(path + "-wal", log, index: index)
        damages += journalDamages(path + "-journal", cipher, version: block.version)
        return Verification(damages: damages, unfinishedTransaction: log?.unfinishedTransaction.map(Int64.init))
    }

    /// Returns the number of pages at the end that are neither in the file nor in the log. Returns `nil` if no
    /// page is missing or the first page states no count.
    private static func missingPages(
        of file: KeyBlockFile, _ cipher: PageCipher, _ log: LogReader?
    ) throws(EncryptedDatabaseError) -> Int? {
        let content = CommittedContent(file: file, cipher: cipher, log: log)
        guard let count = try content.statedPageCount() else { return nil }
        let there = try content.filePageCount()
        guard count > there else { return nil }
        let missing = ((there + 1)...count).count { !content.isInLog($0) && $0 != FileFormat.lockPage }
        // Damaged frames of missing pages are reported with the log.
        return missing > (log?.unusableCount ?? 0) ? missing : nil
    }

    private static func logDamages(
        _ path: String, _ reader: LogReader?, index: (salts: UInt64, frameCount: Int)?
    ) -> [Damage] {
        guard let reader else { return [] }
        guard reader.headerIsWhole else { return [Damage(path: path, offset: 0, expected: .logHeader)] }
        let frames = reader.damagedFrames.map { Damage(path: path, offset: Int64($0), expected: .logFrame) }
        // A damaged frame already shows the end of the log.
        guard frames.isEmpty, let index, index.salts == reader.salts, index.frameCount > reader.recoveredCount else {
            return frames
        }
        let end = FileFormat.frameOffset(reader.recoveredCount + 1)
        return [Damage(path: path, offset: end, expected: .newestCommits)]
    }

    private static func journalDamages(
        _ path: String, _ cipher: PageCipher, version: FormatVersion
    ) -> [Damage] {
        guard let content = FileContent.bytes(of: path) else { return [] }
        let reader = JournalReader(content: content, cipher: cipher, version: version)
        return reader.firstDamage.map { [Damage(path: path, offset: Int64($0.offset), expected: $0.expected)] } ?? []
    }
}

extension PageSealer {
    /// Returns whether a sealed page opens at its place.
    func opens(_ sealed: ArraySlice<UInt8>, at place: PageCipher.Place, of cipher: PageCipher) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: FileFormat.contentSize, alignment: 16) { content in
            sealed.withUnsafeBytes { sealed in
                guard let source = sealed.baseAddress, sealed.count == FileFormat.pageSize,
                    let target = content.baseAddress
                else { return false }
                let isOpen = cipher.withAssociatedData(of: place) { open(source, authenticating: $0, to: target) }
                content.initializeMemory(as: UInt8.self, repeating: 0)
                return isOpen
            }
        }
    }
}
