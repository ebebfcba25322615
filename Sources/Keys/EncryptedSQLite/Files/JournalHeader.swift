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

    /// What a record of a journal is bound to: the header that it stands behind.
    struct Segment: Equatable {
        /// The offset of the header.
        var offset: Int64
        /// Its bytes 12 to 19: a random number and the size of the database.
        var fields: UInt64
        /// The version in which the header was sealed, and the records behind it.
        var version: FormatVersion

        init(_ header: UnsafeRawBufferPointer, at offset: Int64, _ version: FormatVersion) {
            self.offset = offset
            self.version = version
            fields = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
        }

        /// The place of a page in a record.
        func place(at offset: Int64, page: UInt32) -> PageCipher.Place {
            PageCipher.Place(kind: .journal, offset: offset, version: version, page: page, context: fields)
        }
    }

    /// Puts the code into a header.
    static func seal(_ header: UnsafeMutableRawBufferPointer, at offset: Int64, with masks: ChecksumMasks) {
        let code = code(of: UnsafeRawBufferPointer(header), at: offset, masks)
        header.storeBytes(of: code.bigEndian, toByteOffset: codeOffset, as: UInt64.self)
    }

    /// The segment behind a header, if the code is that of the header's fields.
    ///
    /// A database of the second version may have a hot journal of the first: of a connection of release 0.1.0, which holds no
    /// lock between two transactions. Such records hold pages as they once were at their own place, and nothing worse.
    ///
    /// - Parameters:
    ///   - header: At least ``sealedSize`` bytes.
    ///   - masks: Those of the versions that can be, the present one first.
    static func segment(
        _ header: UnsafeRawBufferPointer, at offset: Int64, with masks: [ChecksumMasks]
    ) -> Segment? {
        let found = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: codeOffset, as: UInt64.self))
        return masks.first { found == code(of: header, at: offset, $0) }.map { Segment(header, at: offset, $0.version) }
    }

    /// Of the checksums' seed, the size of the database, the sector and the page, at their place.
    private static func code(of header: UnsafeRawBufferPointer, at offset: Int64, _ masks: ChecksumMasks) -> UInt64 {
        masks.journalHeader(
            at: offset,
            fields: (
                UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 12, as: UInt64.self)),
                UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 20, as: UInt64.self))
            ))
    }
}
