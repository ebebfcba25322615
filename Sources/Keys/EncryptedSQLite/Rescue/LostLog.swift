import CSQLite
import Foundation

/// A log with commits that recovery cannot use, and the sealed copies that are kept of such logs.
///
/// A power failure may leave such a log if not every transaction is synced; a disk that drops a write may too.
struct LostLog {
    private static let mark = "-wal-lost-"
    private static let part = 1 << 20

    private let file: BaseFile
    private let path: String
    private let size: Int64
    private let cipher: PageCipher
    private let version: FormatVersion
    private let sealer: PageSealer

    /// - Parameters:
    ///   - file: The log, which nobody changes meanwhile.
    ///   - path: The path of the log, for errors.
    init(file: BaseFile, path: String, size: Int64, cipher: PageCipher, version: FormatVersion) {
        self.file = file
        self.path = path
        self.size = size
        self.cipher = cipher
        self.version = version
        sealer = cipher.sealer(for: .log, version)
    }

    /// Searches for a frame, from an offset on, that opens with the salts of this log and has a commit mark.
    /// Frames of a rolled-back transaction have no commit mark.
    ///
    /// - Parameter salts: The salts of the log; `nil` uses those of the first frame, if the header of the log
    ///   is damaged.
    /// - Returns: The salts, or `nil` if there is no such frame.
    func saltsOfCommit(from start: Int64, _ salts: UInt64?) -> UInt64? {
        let frame = Buffer(size: FileFormat.frameSize)
        let page = Buffer(size: FileFormat.contentSize)
        let header = UnsafeMutableRawBufferPointer(rebasing: frame.bytes[..<FileFormat.frameHeaderSize])
        var salts = salts
        for offset in stride(from: start, through: size - Int64(FileFormat.frameSize), by: FileFormat.frameSize) {
            guard file.read(header, at: offset) == SQLITE_OK else { return nil }
            let fields = UInt64(bigEndian: header.loadUnaligned(as: UInt64.self))
            let stated = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let expected = salts ?? stated
            salts = expected
            guard stated == expected, UInt32(truncatingIfNeeded: fields) != 0,
                file.read(frame.bytes, at: offset) == SQLITE_OK,
                let address = frame.bytes.baseAddress, let target = page.bytes.baseAddress
            else { continue }
            let place = PageCipher.Place.log(frame: offset, fields: fields, salts: expected, version)
            let isOpen = cipher.withAssociatedData(of: place) {
                sealer.open(address + FileFormat.frameHeaderSize, authenticating: $0, to: target)
            }
            fillWithZeros(page.bytes)
            if isOpen { return expected }
        }
        return nil
    }

    /// Copies the log to its own file beside the database, durably, unless an equal copy exists.
    ///
    /// - Parameters:
    ///   - database: The database file.
    ///   - salts: The salts of the log, which are part of the copy's name.
    func keep(besides database: String, salts: UInt64) throws(EncryptedDatabaseError) {
        let digits = String(salts, radix: 16)
        let base = database + Self.mark + String(repeating: "0", count: 16 - digits.count) + digits
        var (name, number) = (base, 1)
        while FileManager.default.fileExists(atPath: name) {
            if try isCopy(name) { return }
            number += 1
            name = base + "-\(number)"
        }
        let unfinished = name + ".part"
        try? FileManager.default.removeItem(atPath: unfinished)
        do throws(EncryptedDatabaseError) {
            let copy = try NewFile(path: unfinished)
            for offset in stride(from: Int64(0), to: size, by: Self.part) {
                try copy.write(try content(at: offset), at: offset)
            }
            try copy.sync()
            guard rename(unfinished, name) == 0 else {
                throw .sqlite(path: name, operation: "creating", code: SQLITE_CANTOPEN)
            }
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished)
            throw error
        }
        EncryptedDatabase.syncFolder(of: name)
    }

    private func content(at offset: Int64) throws(EncryptedDatabaseError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(min(Int64(Self.part), size - offset)))
        let code = bytes.withUnsafeMutableBytes { file.read($0, at: offset) }
        guard code == SQLITE_OK else { throw .sqlite(path: path, operation: "reading", code: code) }
        return bytes
    }

    private func isCopy(_ name: String) throws(EncryptedDatabaseError) -> Bool {
        guard let copy = FileContent.bytes(of: name), copy.count == Int(size) else { return false }
        for offset in stride(from: Int64(0), to: size, by: Self.part) {
            let bytes = try content(at: offset)
            guard copy[Int(offset)..<(Int(offset) + bytes.count)].elementsEqual(bytes) else { return false }
        }
        return true
    }

    /// Returns the sorted paths of the kept logs of a database.
    static func kept(besides database: String) -> [String] {
        let folder = (database as NSString).deletingLastPathComponent
        let prefix = (database as NSString).lastPathComponent + mark
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { $0.hasPrefix(prefix) && !$0.hasSuffix(".part") }.sorted().map {
            (folder as NSString).appendingPathComponent($0)
        }
    }
}
