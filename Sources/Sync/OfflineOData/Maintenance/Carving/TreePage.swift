import EncryptedSQLite
import Foundation
import GRDB

/// A page of a table or an index in SQLite's file format (1.6).
struct TreePage {
    /// The kind of page, by its first byte.
    enum Kind: UInt8 {
        case innerIndex = 2
        case innerTable = 5
        case leafIndex = 10
        case leafTable = 13

        var isInner: Bool { self == .innerIndex || self == .innerTable }
        /// Whether it belongs to a table with row ids.
        var isOfRowIDs: Bool { self == .innerTable || self == .leafTable }
    }

    let number: Int
    let kind: Kind
    private let bytes: [UInt8]
    private let start: Int
    /// The offsets of the cells.
    private let cells: [Int]

    /// - Returns: `nil` for any other page.
    init?(_ number: Int, in pages: DatabasePages) {
        // The header of the file comes before the header of the first page.
        let start = number == 1 ? 100 : 0
        guard let bytes = pages.page(number), bytes.count >= start + 12, let kind = Kind(rawValue: bytes[start]) else {
            return nil
        }
        self.number = number
        self.kind = kind
        self.bytes = bytes
        self.start = start
        let first = start + (kind.isInner ? 12 : 8)
        let count = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        guard first + 2 * count <= pages.usableSize else { return nil }
        cells = (0..<count).compactMap { index in
            let place = Int(bytes[first + 2 * index]) << 8 | Int(bytes[first + 2 * index + 1])
            return place >= first + 2 * count && place < pages.usableSize ? place : nil
        }
        // A page of another kind may begin with the same byte.
        guard cells.count == count else { return nil }
    }

    /// The child pages.
    var children: [Int] {
        guard kind.isInner else { return [] }
        return (cells + [start + 8]).map { Self.pageNumber(in: bytes, at: $0) }
    }

    /// A page number within another page; 0 behind its end.
    static func pageNumber(in bytes: [UInt8], at place: Int) -> Int {
        guard place >= 0, place + 4 <= bytes.count else { return 0 }
        return bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The rows of the page; `nil` for each row that cannot be read as a whole.
    func rows(in pages: DatabasePages) -> [CarvedRow?] {
        kind == .innerTable ? [] : cells.map { row(at: $0, in: pages) }
    }

    private func row(at place: Int, in pages: DatabasePages) -> CarvedRow? {
        var reader = RecordReader(bytes, at: place + (kind == .innerIndex ? 4 : 0), end: pages.usableSize)
        guard let length = reader.variable(), length >= 0 else { return nil }
        var rowID: Int64?
        if kind == .leafTable {
            guard let id = reader.variable() else { return nil }
            rowID = id
        }
        guard let payload = payload(length, at: reader.place, in: pages),
            let values = RecordReader.values(of: payload)
        else { return nil }
        return CarvedRow(rowID: rowID, values: values)
    }

    /// The bytes of a row, including its overflow pages (1.6: cell payload overflow).
    private func payload(_ length: Int64, at place: Int, in pages: DatabasePages) -> [UInt8]? {
        let usable = pages.usableSize
        guard length <= Int64(usable) * Int64(pages.count) else { return nil }
        let total = Int(length)
        let greatest = kind.isOfRowIDs ? usable - 35 : (usable - 12) * 64 / 255 - 23
        let least = (usable - 12) * 32 / 255 - 23
        let kept = least + (total - least) % (usable - 4)
        let local = total <= greatest ? total : kept <= greatest ? kept : least
        guard local >= 0, place + local + (total > local ? 4 : 0) <= usable else { return nil }
        var payload = Array(bytes[place..<(place + local)])
        var (page, from) = (bytes, place + local)
        while payload.count < total {
            guard let following = pages.page(Self.pageNumber(in: page, at: from)), following.count >= usable else {
                return nil
            }
            payload += following[4..<min(usable, 4 + total - payload.count)]
            (page, from) = (following, 0)
        }
        return payload
    }
}

/// A row as stored in a page.
struct CarvedRow {
    /// Its row id; `nil` in a table without row ids.
    let rowID: Int64?
    let values: [DatabaseValue]
}

/// Reads numbers and records of SQLite's file format (2.1).
struct RecordReader {
    private let bytes: [UInt8]
    private(set) var place: Int
    private let end: Int

    init(_ bytes: [UInt8], at place: Int, end: Int) {
        self.bytes = bytes
        self.place = place
        self.end = min(end, bytes.count)
    }

    /// Reads a number of one to nine bytes.
    mutating func variable() -> Int64? {
        var result: UInt64 = 0
        for index in 0..<9 {
            guard place < end else { return nil }
            let byte = bytes[place]
            place += 1
            if index == 8 { return Int64(bitPattern: result << 8 | UInt64(byte)) }
            result = result << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return Int64(bitPattern: result) }
        }
        return nil
    }

    private mutating func integer(_ count: Int) -> Int64? {
        guard place + count <= end else { return nil }
        defer { place += count }
        let negative = bytes[place] & 0x80 != 0
        return bytes[place..<(place + count)].reduce(negative ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    private mutating func data(_ count: Int) -> Data? {
        guard count >= 0, count <= end - place else { return nil }
        defer { place += count }
        return Data(bytes[place..<(place + count)])
    }

    /// The values of a record; `nil` for bytes that are no record.
    static func values(of record: [UInt8]) -> [DatabaseValue]? {
        var header = RecordReader(record, at: 0, end: record.count)
        guard let length = header.variable(), length >= Int64(header.place), length <= Int64(record.count) else {
            return nil
        }
        var types = RecordReader(record, at: header.place, end: Int(length))
        var body = RecordReader(record, at: Int(length), end: record.count)
        var values: [DatabaseValue] = []
        while types.place < Int(length) {
            guard let type = types.variable(), let value = body.value(of: type) else { return nil }
            values.append(value)
        }
        return values
    }

    private mutating func value(of type: Int64) -> DatabaseValue? {
        switch type {
        case 0: return .null
        case 1...4: return integer(Int(type))?.databaseValue
        case 5: return integer(6)?.databaseValue
        case 6: return integer(8)?.databaseValue
        case 7: return integer(8).map { Double(bitPattern: UInt64(bitPattern: $0)).databaseValue }
        case 8: return Int64(0).databaseValue
        case 9: return Int64(1).databaseValue
        case 12...:
            guard type <= Int64(Int32.max), let data = data(Int(type - 12) / 2) else { return nil }
            return type % 2 == 0 ? data.databaseValue : String(data: data, encoding: .utf8)?.databaseValue
        default: return nil
        }
    }
}
