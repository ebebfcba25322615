import CSQLite

/// A header of a rollback journal, with a code behind SQLite's fields that vouches for them.
///
/// SQLite believes a header: it makes the database as long as that says, before it looks at a single record. Who can
/// write files could have it fill the disk. The number of records is not covered, as SQLite writes it later; a record
/// that is none ends the playback anyway.
enum JournalHeader {
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// What SQLite writes: a sector, of which it uses 28 bytes.
    static let size = 512
    private static let codeOffset = 28
    /// SQLite's fields and the code.
    static let sealedSize = codeOffset + 8

    /// Whether a header can begin at an offset.
    static func canStand(at offset: Int64) -> Bool { offset >= 0 && offset % Int64(size) == 0 }

    /// Whether what SQLite writes is a header: nothing else is a sector long. The magic number comes later, with the
    /// number of records, once those are durable.
    static func isHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        source.count == size && canStand(at: offset)
    }

    /// Puts the code into a header.
    static func seal(_ header: UnsafeMutableRawBufferPointer, at offset: Int64, with cipher: PageCipher) {
        let code = code(of: UnsafeRawBufferPointer(header), at: offset, cipher)
        header.storeBytes(of: code.bigEndian, toByteOffset: codeOffset, as: UInt64.self)
    }

    /// Whether the code is that of the header's fields.
    ///
    /// - Parameter header: At least ``sealedSize`` bytes.
    static func isSealed(_ header: UnsafeRawBufferPointer, at offset: Int64, with cipher: PageCipher) -> Bool {
        let found = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: codeOffset, as: UInt64.self))
        return found == code(of: header, at: offset, cipher)
    }

    /// Of the checksums' seed, the size of the database, the sector and the page, at their place.
    private static func code(of header: UnsafeRawBufferPointer, at offset: Int64, _ cipher: PageCipher) -> UInt64 {
        cipher.journalHeaderCode(
            offset: offset,
            fields: (
                UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 12, as: UInt64.self)),
                UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 20, as: UInt64.self))
            ))
    }
}
