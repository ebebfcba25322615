/// SQLite's index of the log in shared memory, read from the memory that `xShmMap` returned ("WAL-Index Format"
/// in SQLite's documentation of the file format).
///
/// SQLite finds a frame by this index, so the index determines the page that a frame must hold. Other processes
/// change the memory concurrently, but never the parts that this class reads: entries of frames that a reader
/// may read, and the salts while the reader holds its lock.
final class LogIndex {
    private var regions: [UnsafeRawPointer?] = []
    /// The region that contains the header.
    private var first: UnsafeRawPointer?

    /// The bytes before the first entry: two copies of the header, 48 bytes each, and the checkpoint
    /// information.
    private static let headerSize = 136
    private static let regionEntries = 4096
    private static let firstEntries = regionEntries - headerSize / 4
    private static let frameCountOffset = 16
    private static let saltsOffset = 32
    /// The size of a region as SQLite maps it, in bytes.
    static let regionSize = 8192 * 2 + 4096 * 4

    /// Whether the index is in shared memory; otherwise SQLite keeps it in private memory for this connection
    /// alone.
    var isShared: Bool { first != nil }

    func map(_ region: Int32, to address: UnsafeMutableRawPointer?) {
        let region = Int(region)
        guard region >= 0, let address else { return }
        while regions.count <= region { regions.append(nil) }
        regions[region] = UnsafeRawPointer(address)
        if region == 0 { first = UnsafeRawPointer(address) }
    }

    func unmap() {
        regions = []
        first = nil
    }

    /// Returns the page of a frame; `nil` without shared memory, and for a frame that the index does not
    /// contain.
    func page(inFrame number: Int) -> UInt32? {
        guard isShared, number > 0 else { return nil }
        let (region, offset): (Int, Int)
        if number <= Self.firstEntries {
            (region, offset) = (0, Self.headerSize + 4 * (number - 1))
        } else {
            let rest = number - 1 - Self.firstEntries
            (region, offset) = (1 + rest / Self.regionEntries, 4 * (rest % Self.regionEntries))
        }
        guard region < regions.count, let address = regions[region] else { return nil }
        let page = address.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return page == 0 ? nil : page
    }

    /// The salts of the log; `nil` without shared memory.
    var salts: UInt64? {
        guard let address = first else { return nil }
        return UInt64(bigEndian: address.loadUnaligned(fromByteOffset: Self.saltsOffset, as: UInt64.self))
    }

    /// The number of valid frames in the log; `nil` without shared memory.
    var frameCount: Int? {
        guard let address = first else { return nil }
        return Int(address.loadUnaligned(fromByteOffset: Self.frameCountOffset, as: UInt32.self))
    }

    /// Returns the salts and the frame count in a copy of the index.
    ///
    /// - Returns: `nil` if the copy is inconsistent, as it is during a change.
    static func state(in bytes: [UInt8]) -> (salts: UInt64, frameCount: Int)? {
        let size = 48
        guard bytes.count >= headerSize, bytes[..<size] == bytes[size..<(2 * size)], bytes[12] != 0 else { return nil }
        return bytes.withUnsafeBytes { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: saltsOffset, as: UInt64.self)),
                Int(bytes.loadUnaligned(fromByteOffset: frameCountOffset, as: UInt32.self))
            )
        }
    }
}
