/// The numbers of the file format, version 1; `Format.md` has them byte by byte.
enum FileFormat {
    static let version = 1

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
}

/// What a sealed page belongs to; the number is part of its associated data.
enum PageKind: UInt8, CaseIterable {
    case main = 1
    case log = 2
    case journal = 3
}
