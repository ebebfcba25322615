import CSQLite
import Foundation

extension EncryptedDatabase {
    /// A place in a database's files that is not what was written there.
    public struct Damage: Hashable, Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// Where the damaged part begins, in bytes from the beginning of the file.
        public let offset: Int64
        /// What should be there.
        public let expected: Expectation

        /// The parts of the files.
        public enum Expectation: String, Hashable, Sendable {
            /// The header of the key block and a key slot, and zeros around them.
            case keyBlock = "key block"
            /// A sealed page of the database.
            case page
            /// The header of the write-ahead log.
            case logHeader = "header of the log"
            /// A frame of the write-ahead log. A write that a crash cut short looks like this too, at the end of the log.
            case logFrame = "frame of the log"
            /// The header of a rollback journal.
            case journalHeader = "header of the journal"
            /// A record of a rollback journal. A write that a crash cut short looks like this too, at its end.
            case journalRecord = "record of the journal"
        }

        /// What is damaged, and where.
        public var description: String { "\(path), byte \(offset): not a \(expected.rawValue) as it was written" }
    }

    /// Reads every byte of an unlocked database, of its log and of its journal, and finds what is not as it was written,
    /// also where nothing reads it: in unused pages, in the empty key slot.
    ///
    /// Nothing is written. Whether the content makes sense is another question, which `PRAGMA integrity_check` answers.
    /// Connections may work meanwhile; what one writes just then can seem damaged.
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
        var damages: [Damage] = []
        let block = try file.read()
        if try block.bytes != file.content(at: 0, count: FileFormat.keyBlockSize) {
            damages.append(Damage(path: path, offset: 0, expected: .keyBlock))
        }
        guard block.fileIdentity == cipher.fileIdentity else { throw .wrongKey(path: path) }
        let sealer = cipher.sealer(for: .main)
        let size = try file.size()
        for offset in stride(from: Int64(FileFormat.keyBlockSize), to: size, by: FileFormat.pageSize) {
            let place = PageCipher.Place(kind: .main, offset: offset - Int64(FileFormat.keyBlockSize))
            guard size - offset >= Int64(FileFormat.pageSize),
                sealer.opens(try file.content(at: offset, count: FileFormat.pageSize)[...], at: place, of: cipher)
            else {
                damages.append(Damage(path: path, offset: offset, expected: .page))
                continue
            }
        }
        return damages + logDamages(path + "-wal", cipher) + journalDamages(path + "-journal", cipher)
    }

    /// The log and the journal are read as a whole: neither is kept long, and no lock stands on them.
    private static func logDamages(_ path: String, _ cipher: PageCipher) -> [Damage] {
        guard let content = FileManager.default.contents(atPath: path).map({ [UInt8]($0) }), !content.isEmpty else {
            return []
        }
        let reader = LogReader(content: content, cipher: cipher)
        guard reader.headerIsWhole else { return [Damage(path: path, offset: 0, expected: .logHeader)] }
        return reader.damagedFrames.map { Damage(path: path, offset: Int64($0), expected: .logFrame) }
    }

    private static func journalDamages(_ path: String, _ cipher: PageCipher) -> [Damage] {
        guard let content = FileManager.default.contents(atPath: path).map({ [UInt8]($0) }) else { return [] }
        let reader = JournalReader(content: content, cipher: cipher)
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
