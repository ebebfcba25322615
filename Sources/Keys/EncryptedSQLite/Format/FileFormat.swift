/// A version of the file format, stored in bytes 16 and 17 of the key block.
enum FormatVersion: Int, Comparable, CaseIterable, Sendable {
    /// The format of release 0.1.0. A frame of the log is bound to its offset alone.
    case one = 1
    /// The current format. Frames and journal records are bound to their log or journal, and to their page.
    case two = 2

    /// The version of new databases.
    static let latest = FormatVersion.two

    static func < (first: FormatVersion, second: FormatVersion) -> Bool { first.rawValue < second.rawValue }
}

/// The constants of the file format, equal in both versions; `Format.md` describes the format byte by byte.
enum FileFormat {
    /// The only page size. A single size makes every file's structure known without trusting its header.
    static let pageSize = 4096
    static let nonceSize = 12
    static let tagSize = 16
    /// The number of bytes that SQLite leaves unused at the end of each page, for the nonce and the tag.
    static let reservedSize = nonceSize + tagSize
    static let contentSize = pageSize - reservedSize

    /// The size of the key block before page 1, by which every offset of the main file is shifted.
    static let keyBlockSize = 4096

    /// The number of the page that contains SQLite's lock bytes. SQLite never writes this page.
    static let lockPage = 0x4000_0000 / pageSize + 1

    static let logHeaderSize = 32
    static let frameHeaderSize = 24
    static let frameSize = frameHeaderSize + pageSize

    /// Returns the offset of a frame in the log.
    ///
    /// - Parameter number: SQLite's number of the frame, from 1.
    static func frameOffset(_ number: Int) -> Int64 { Int64(logHeaderSize) + Int64(number - 1) * Int64(frameSize) }

    /// Returns SQLite's number of the frame at an offset of the log, from 1.
    static func frameNumber(at offset: Int64) -> Int { Int((offset - Int64(logHeaderSize)) / Int64(frameSize)) + 1 }
}

/// The kind of file that a sealed page belongs to; the raw value is part of its associated data.
enum PageKind: UInt8, CaseIterable {
    case main = 1
    case log = 2
    case journal = 3
}
