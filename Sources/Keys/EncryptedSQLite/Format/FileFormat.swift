/// A version of the file format, as it stands in bytes 16 and 17 of the key block.
enum FormatVersion: Int, Comparable, CaseIterable, Sendable {
    /// The format of release 0.1.0. A frame of the log is bound to its offset alone.
    case one = 1
    /// The present format. Frames and journal records are bound to their log or journal, and to their page.
    case two = 2

    /// The version of new databases.
    static let latest = FormatVersion.two

    static func < (first: FormatVersion, second: FormatVersion) -> Bool { first.rawValue < second.rawValue }
}

/// The numbers of the file format, the same in both versions; `Format.md` has them byte by byte.
enum FileFormat {
    /// The only page size. One size keeps every file's structure known without trusting its header.
    static let pageSize = 4096
    static let nonceSize = 12
    static let tagSize = 16
    /// What SQLite leaves unused at the end of each page, so that a sealed page is as long as a page.
    static let reservedSize = nonceSize + tagSize
    static let contentSize = pageSize - reservedSize

    /// The key block stands before page 1: every offset of the main file is shifted by it.
    static let keyBlockSize = 4096

    /// The number of the page in whose bytes SQLite keeps its locks, and which it never writes.
    static let lockPage = 0x4000_0000 / pageSize + 1

    static let logHeaderSize = 32
    static let frameHeaderSize = 24
    static let frameSize = frameHeaderSize + pageSize

    /// The offset of a frame in the log.
    ///
    /// - Parameter number: SQLite's number of the frame, from 1.
    static func frameOffset(_ number: Int) -> Int64 { Int64(logHeaderSize) + Int64(number - 1) * Int64(frameSize) }

    /// SQLite's number of the frame at an offset of the log, from 1.
    static func frameNumber(at offset: Int64) -> Int { Int((offset - Int64(logHeaderSize)) / Int64(frameSize)) + 1 }
}

/// What a sealed page belongs to; the number is part of its associated data.
enum PageKind: UInt8, CaseIterable {
    case main = 1
    case log = 2
    case journal = 3
}
