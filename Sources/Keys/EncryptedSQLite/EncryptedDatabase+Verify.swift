import CSQLite
public import Secrets

extension EncryptedDatabase {
    /// A place in a database's files that is not what was written there.
    public struct Damage: Hashable, Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// Where the damaged part begins, in bytes from the beginning of the file.
        public let offset: Int64
        /// What should be there.
        public let expected: Expectation
        /// How many pages are missing, where a file ends too early; else 0.
        public let missingPages: Int

        init(path: String, offset: Int64, expected: Expectation, missingPages: Int = 0) {
            self.path = path
            self.offset = offset
            self.expected = expected
            self.missingPages = missingPages
        }

        /// The parts of the files.
        public enum Expectation: String, Hashable, Sendable {
            /// The header of the key block and a key slot, and zeros around them.
            case keyBlock = "key block"
            /// A sealed page of the database.
            case page
            /// The rest of a database that was cut, or copied in part.
            case rest
            /// The header of the write-ahead log.
            case logHeader = "header of the log"
            /// A frame of the write-ahead log. A write that a crash cut short looks like this too, at the end of the log.
            ///
            /// The first one is where SQLite ends the log when it recovers it: the transactions behind are lost to it.
            case logFrame = "frame of the log"
            /// The end of the write-ahead log: the index of it in shared memory says that more was committed.
            case newestCommits = "newest commits of the log"
            /// The header of a rollback journal.
            case journalHeader = "header of the journal"
            /// A record of a rollback journal. A write that a crash cut short looks like this too, at its end.
            case journalRecord = "record of the journal"
        }

        /// What is damaged, and where.
        public var description: String {
            let place = "\(path), byte \(offset)"
            if expected == .newestCommits { return "\(place): the \(expected.rawValue) are missing" }
            guard expected == .rest else { return "\(place): not a \(expected.rawValue) as it was written" }
            let missing = missingPages == 1 ? "1 page is missing" : "\(missingPages) pages are missing"
            return "\(place): the file ends here, and \(missing)"
        }
    }

    /// What reading a whole database has found.
    public struct Verification: Hashable, Sendable {
        /// Every damaged place, in the order of files and offsets; empty when all is well.
        public internal(set) var damages: [Damage] = []
        /// The byte of the log at which a transaction begins that has no end; nil without one.
        ///
        /// A transaction that is under way looks like this, and one that was rolled back or that a crash has ended. So does
        /// the newest transaction if a power failure took its end.
        public internal(set) var unfinishedTransaction: Int64?

        /// One sentence on the unfinished transaction.
        public var note: String? {
            unfinishedTransaction.map {
                "The log ends with a transaction that was not committed (byte \($0)). Opening the database removes it."
            }
        }
    }

    /// Reads every byte of an unlocked database, of its log and of its journal, and finds what is not as it was written,
    /// also where nothing reads it: in unused pages, in the empty key slot.
    ///
    /// Nothing is written. Whether the content makes sense is another question, which `PRAGMA integrity_check` answers.
    /// Connections may work meanwhile; what one writes just then can seem damaged.
    ///
    /// The loss of the newest transactions as a whole cannot be found after a power failure: the log then looks as if they had
    /// not been committed. As long as the index of the log is there (`-shm`), it is.
    ///
    /// - Parameter path: The database file.
    /// - Returns: Every damaged place, in the order of files and offsets; empty when all is well.
    /// - Throws: ``EncryptedDatabaseError``: `locked` when it was not unlocked; `notFound`, `plainDatabase`,
    ///   `notADatabase`, `unsupportedFormat`, `damagedKeyBlock`, `sqlite`.
    public static func verify(at path: String) throws(EncryptedDatabaseError) -> [Damage] {
        try register()
        let path = try canonical(path)
        guard let cipher = KeyRegistry.shared.cipher(forPath: path) else { throw .locked(path: path) }
        let file = try KeyBlockFile(path: path, flags: SQLITE_OPEN_READONLY)
        let block = try file.read()
        guard block.fileIdentity == cipher.fileIdentity else { throw .wrongKey(path: path) }
        return try verification(of: file, at: path, block, cipher).damages
    }

    /// The damaged places of a database that need not be unlocked, nor is so afterwards.
    ///
    /// With the key, also a key block is read that is damaged where its bytes follow from the format; that is then a damage
    /// like others.
    ///
    /// - Parameters:
    ///   - path: The database file.
    ///   - source: Its key or passphrase.
    /// - Returns: Every damaged place, in the order of files and offsets; empty when all is well.
    /// - Throws: ``EncryptedDatabaseError``: what ``unlock(at:with:upgradesFormat:)`` throws, `unsupportedFormat` and
    ///   `damagedKeyBlock` only where the key opens nothing.
    public static func verify(at path: String, with source: KeySource) throws(EncryptedDatabaseError) -> [Damage] {
        try verification(at: path, with: source).damages
    }

    /// The same as ``verify(at:with:)``, with what is no damage but worth a note.
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
        // The index before the log: what that says must be there by then.
        let index = LogIndex.state(in: OpenDatabases.shared.beginningOfIndex(of: path, count: 136) ?? [])
        let log = LogReader(path: path + "-wal", cipher: cipher, version: block.version)
        // A journal that is played back makes the file as long as it was.
        if FileContent.isEmpty(path + "-journal"), let missing = try missingPages(of: file, cipher, log) {
            damages.append(Damage(path: path, offset: size, expected: .rest, missingPages: missing))
        }
        damages += logDamages(path + "-wal", log, index: index)
        damages += journalDamages(path + "-journal", cipher, version: block.version)
        return Verification(damages: damages, unfinishedTransaction: log?.unfinishedTransaction.map(Int64.init))
    }

    /// How many pages at the end are neither in the file nor in the log; nil where none is, or the first page tells nothing.
    private static func missingPages(
        of file: KeyBlockFile, _ cipher: PageCipher, _ log: LogReader?
    ) throws(EncryptedDatabaseError) -> Int? {
        let content = CommittedContent(file: file, cipher: cipher, log: log)
        guard let count = try content.statedPageCount() else { return nil }
        let there = try content.filePageCount()
        guard count > there else { return nil }
        let missing = ((there + 1)...count).count { !content.isInLog($0) && $0 != FileFormat.lockPage }
        // Those that frames had which are damaged are named with the log.
        return missing > (log?.unusableCount ?? 0) ? missing : nil
    }

    private static func logDamages(
        _ path: String, _ reader: LogReader?, index: (salts: UInt64, frameCount: Int)?
    ) -> [Damage] {
        guard let reader else { return [] }
        guard reader.headerIsWhole else { return [Damage(path: path, offset: 0, expected: .logHeader)] }
        let frames = reader.damagedFrames.map { Damage(path: path, offset: Int64($0), expected: .logFrame) }
        // A frame that is named tells already where the log ends.
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
    /// Whether a sealed page opens at its place.
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
