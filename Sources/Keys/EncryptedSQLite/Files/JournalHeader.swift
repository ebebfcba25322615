import CSQLite

/// A header of a rollback journal, with an authentication code behind SQLite's fields.
///
/// SQLite trusts a header: it resizes the database to the size in the header before it reads any record.
/// Without the code, anyone with write access could fill the disk. The code does not cover the number of
/// records, because SQLite writes that number later. An invalid record ends the playback anyway.
enum JournalHeader {
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// The size of a header that SQLite writes: one sector, of which SQLite uses 28 bytes.
    static let size = 512
    private static let codeOffset = 28
    /// The size of SQLite's fields and the code.
    static let sealedSize = codeOffset + 8

    /// Returns whether a header can begin at an offset.
    static func canStand(at offset: Int64) -> Bool { offset >= 0 && offset % Int64(size) == 0 }

    /// Returns whether SQLite is writing a header: only headers have the size of a sector. SQLite writes the
    /// magic number and the number of records later, after the records are durable.
    static func isHeader(_ source: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        source.count == size && canStand(at: offset)
    }

    /// The identity of a header, to which the records behind the header are bound.
    struct Segment: Equatable {
        /// The offset of the header.
        var offset: Int64
        /// Bytes 12 to 19 of the header: a random number and the size of the database.
        var fields: UInt64
        /// The format version in which the header and the records behind it were sealed.
        var version: FormatVersion

        init(_ header: UnsafeRawBufferPointer, at offset: Int64, _ version: FormatVersion) {
            self.offset = offset
            self.version = version
            fields = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
        }

        /// Returns the place of a page in a record.
        func place(at offset: Int64, page: UInt32) -> PageCipher.Place {
            PageCipher.Place(kind: .journal, offset: offset, version: version, page: page, context: fields)
        }
    }

    /// Writes the code into a header.
    static func seal(_ header: UnsafeMutableRawBufferPointer, at offset: Int64, with masks: ChecksumMasks) {
        let code = code(of: UnsafeRawBufferPointer(header), at: offset, masks)
        header.storeBytes(of: code.bigEndian, toByteOffset: codeOffset, as: UInt64.self)
    }

    /// Returns the segment of a header, or `nil` if the code does not match the fields.
    ///
    /// A database of format 2 may have a hot journal of format 1, written by a connection of release 0.1.0,
    /// which holds no lock between two transactions. Such records contain earlier states of pages at their own
    /// places, which is harmless.
    ///
    /// - Parameters:
    ///   - header: At least ``sealedSize`` bytes.
    ///   - masks: The masks of the possible versions, the current version first.
    static func segment(
        _ header: UnsafeRawBufferPointer, at offset: Int64, with masks: [ChecksumMasks]
    ) -> Segment? {
        let found = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: codeOffset, as: UInt64.self))
        return masks.first { found == code(of: header, at: offset, $0) }.map { Segment(header, at: offset, $0.version) }
    }

    /// Returns the authentication code of a header at an offset. The code covers the checksum seed and the sizes
    /// of the database, the sector and the page.
    private static func code(of header: UnsafeRawBufferPointer, at offset: Int64, _ masks: ChecksumMasks) -> UInt64 {
        masks.journalHeader(
            at: offset,
            fields: (
                UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 12, as: UInt64.self)),
                UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 20, as: UInt64.self))
            ))
    }
}
