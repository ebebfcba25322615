/// The central directory of a zip archive (APPNOTE 6.3.10, 4.3.12 and 4.3.16), read with limits.
///
/// Nothing is unpacked to a disk. An archive is refused as a whole if one entry has a name that leaves its folder, or
/// claims to grow more than a hundredfold.
///
/// ```swift
/// let end = try ZipDirectory.end(of: lastBytes, size: size)
/// let directory = try ZipDirectory(bytes(end.range), count: end.count, size: size)
/// ```
struct ZipDirectory: Hashable, Sendable {
    /// The maximum number of entries.
    static let maxEntries = 10_000
    /// The maximum number of bytes of the directory.
    static let maxSize = 4 << 20
    /// The maximum number of bytes of a name.
    static let maxName = 1024
    /// The maximum ratio of unpacked to packed bytes.
    static let maxRatio: Int64 = 100
    /// The number of bytes at the end of a file that hold the end record with the longest comment.
    static let endSize = 22 + 65_535

    /// The place of the directory.
    struct End: Hashable, Sendable {
        /// The bytes of the directory in the file.
        var range: Range<Int64>
        /// The number of entries.
        var count: Int
    }

    /// A file of an archive.
    struct Entry: Hashable, Sendable {
        /// The name with slashes; a folder ends with one.
        var name: String
        /// Whether the bytes are deflated; else they are stored.
        var isDeflated: Bool
        /// The number of bytes in the archive.
        var packedSize: Int64
        /// The number of bytes outside of it.
        var size: Int64
        /// The checksum of the unpacked bytes.
        var checksum: UInt32
        /// The offset of the local header.
        var offset: Int64
    }

    /// The entries in their order.
    var entries: [Entry] = []

    // MARK: The end

    /// Finds the directory.
    ///
    /// - Parameters:
    ///   - tail: The last bytes of the file, at most ``endSize``.
    ///   - size: The size of the file.
    /// - Throws: ``ZipError``.
    static func end(of tail: [UInt8], size: Int64) throws(ZipError) -> End {
        guard tail.count >= 22, Int64(tail.count) <= size else { throw .notAnArchive }
        var position = tail.count - 22
        while true {
            let reader = ZipReader(bytes: tail, position: position)
            if reader.uint32(0) == 0x0605_4B50, reader.uint16(20).map({ position + 22 + $0 == tail.count }) == true {
                return try end(reader, at: size - Int64(tail.count - position))
            }
            guard position > 0 else { throw .notAnArchive }
            position -= 1
        }
    }

    private static func end(_ reader: ZipReader, at offset: Int64) throws(ZipError) -> End {
        guard let disk = reader.uint16(4), let firstDisk = reader.uint16(6), let here = reader.uint16(8),
            let count = reader.uint16(10), let size = reader.uint32(12), let start = reader.uint32(16)
        else { throw .notAnArchive }
        guard disk == 0, firstDisk == 0, here == count, count != 0xFFFF, size != .max, start != .max else {
            throw .unsupported
        }
        guard count <= maxEntries else { throw .tooManyEntries(limit: maxEntries) }
        guard Int(size) <= maxSize else { throw .tooLarge }
        let range = Int64(start)..<Int64(start) + Int64(size)
        guard range.upperBound == offset else { throw .damaged }
        return End(range: range, count: count)
    }

    // MARK: Entries

    /// Reads the entries.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the directory.
    ///   - count: The number of entries that the end record names.
    ///   - size: The size of the file.
    /// - Throws: ``ZipError``.
    init(_ bytes: [UInt8], count: Int, size: Int64) throws(ZipError) {
        guard count <= Self.maxEntries else { throw .tooManyEntries(limit: Self.maxEntries) }
        guard bytes.count <= Self.maxSize else { throw .tooLarge }
        var (position, names, packed, unpacked): (Int, Set<String>, Int64, Int64) = (0, [], 0, 0)
        for _ in 0..<count {
            let reader = ZipReader(bytes: bytes, position: position)
            guard reader.uint32(0) == 0x0201_4B50, let flags = reader.uint16(8), let method = reader.uint16(10),
                let checksum = reader.uint32(16), let packedSize = reader.uint32(20), let fullSize = reader.uint32(24),
                let nameLength = reader.uint16(28), let extraLength = reader.uint16(30),
                let commentLength = reader.uint16(32), let offset = reader.uint32(42),
                let nameBytes = reader.bytes(46, count: nameLength)
            else { throw .damaged }
            guard flags & 1 == 0, method == 0 || method == 8, packedSize != .max, fullSize != .max, offset != .max
            else {
                throw .unsupported
            }
            guard nameLength <= Self.maxName, let name = String(validating: nameBytes, as: UTF8.self),
                Self.isHarmless(name)
            else { throw .badName }
            guard names.insert(name.lowercased()).inserted else { throw .badName }
            let entry = Entry(
                name: name, isDeflated: method == 8, packedSize: Int64(packedSize), size: Int64(fullSize),
                checksum: checksum, offset: Int64(offset))
            guard entry.offset + 30 + entry.packedSize <= size, method == 8 || packedSize == fullSize else {
                throw .damaged
            }
            guard entry.size <= max(entry.packedSize, 1) * Self.maxRatio else { throw .bomb }
            packed += entry.packedSize
            unpacked += entry.size
            entries.append(entry)
            position += 46 + nameLength + extraLength + commentLength
        }
        guard position == bytes.count else { throw .damaged }
        // Entries that share their bytes make a small archive large.
        guard packed <= size, unpacked <= max(size, 1) * Self.maxRatio else { throw .bomb }
    }

    /// Whether a name stays in its folder on every system.
    static func isHarmless(_ name: String) -> Bool {
        guard !name.isEmpty, !name.hasPrefix("/"), !name.contains("\\"), !name.contains(":") else { return false }
        guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else { return false }
        var parts = name.split(separator: "/", omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }

    // MARK: Data

    /// Returns the number of bytes between the beginning of an entry's local header and its data.
    ///
    /// - Parameter header: The first 30 bytes of the local header.
    /// - Throws: ``ZipError/damaged``.
    static func dataOffset(_ header: [UInt8]) throws(ZipError) -> Int64 {
        let reader = ZipReader(bytes: header, position: 0)
        guard reader.uint32(0) == 0x0403_4B50, let name = reader.uint16(26), let extra = reader.uint16(28) else {
            throw .damaged
        }
        return Int64(30 + name + extra)
    }
}

/// The reason why an archive is refused.
enum ZipError: Error, Hashable {
    case notAnArchive
    case unsupported
    case damaged
    case tooManyEntries(limit: Int)
    case tooLarge
    case badName
    case bomb
}

extension ZipError: CustomStringConvertible {
    var description: String {
        switch self {
        case .notAnArchive: "The file is no zip archive."
        case .unsupported: "The archive is encrypted, divided, larger than 4 GB, or packed in an unknown way."
        case .damaged: "The archive is damaged."
        case .tooManyEntries(let limit): "The archive has more than \(limit) entries."
        case .tooLarge: "The directory or the manifest of the archive is too large."
        case .badName: "The archive has an entry whose name is not allowed."
        case .bomb: "The archive grows more than \(ZipDirectory.maxRatio) times."
        }
    }
}

/// Reads numbers of little-endian order, and nothing beyond the bytes.
private struct ZipReader {
    var bytes: [UInt8]
    var position: Int

    func bytes(_ offset: Int, count: Int) -> ArraySlice<UInt8>? {
        let start = position + offset
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start else { return nil }
        return bytes[start..<start + count]
    }

    func uint16(_ offset: Int) -> Int? {
        bytes(offset, count: 2)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func uint32(_ offset: Int) -> UInt32? {
        bytes(offset, count: 4)?.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
