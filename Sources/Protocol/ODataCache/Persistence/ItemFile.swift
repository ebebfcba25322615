import Crypto
import DataVault
import Foundation
import Secrets

/// The kind and name of an item: the first chunk of its file.
struct ItemHeader: Codable, Equatable {
    enum Kind: String, Codable {
        case value
        case bytes
        case stream
        case snapshot
    }

    var kind: Kind
    var name: String

    /// The namespace of the name: a snapshot may have the same name as a value.
    var space: String { kind == .snapshot ? "snapshot" : "item" }
}

/// Writes the file of an item in chunks.
///
/// ```
/// offset  bytes
///      0      4  "OPIT"
///      4      1  version, 1
///      5      1  0 plain, 1 sealed
///      6      2  0
///      8     16  the file's identity, random
///     24         chunks: 4 bytes of length, big-endian, whose highest bit marks the last one; then the chunk
/// ```
///
/// A sealed chunk is a record of ``RecordCipher``; a plain one is followed by 16 bytes of SHA-256. Each chunk
/// is authenticated together with bytes 0 to 23, its index and the mark of the last chunk. Chunks therefore
/// cannot be exchanged, removed or added. The first chunk is the ``ItemHeader``.
final class ItemWriter {
    static let chunkByteCount = 65_536
    static let magic = Array("OPIT".utf8)
    static let prefixByteCount = 24
    static let checksumByteCount = 16
    static let lastBit: UInt32 = 1 << 31

    private let file: OwnerOnlyFile
    private let cipher: RecordCipher?
    private let prefix: [UInt8]
    private var index: UInt64 = 0
    private var pending: [UInt8] = []

    init(_ path: String, _ header: ItemHeader, cipher: RecordCipher?) throws(PersistenceError) {
        self.cipher = cipher
        prefix = Self.magic + [1, cipher == nil ? 0 : 1, 0, 0] + randomBytes(16)
        guard let encoded = try? JSONEncoder().encode(header) else { throw .unencodable(name: header.name) }
        do throws(DataVaultError) {
            file = try OwnerOnlyFile(creating: path)
            try file.write(prefix)
        } catch {
            throw PersistenceError(error)
        }
        try put(Array(encoded), isLast: false)
    }

    func write(_ bytes: [UInt8]) throws(PersistenceError) {
        pending += bytes
        guard pending.count > Self.chunkByteCount else { return }
        var start = 0
        // At least one byte is retained, so that the last chunk can be marked when it is written.
        while pending.count - start > Self.chunkByteCount {
            try put(Array(pending[start..<(start + Self.chunkByteCount)]), isLast: false)
            start += Self.chunkByteCount
        }
        pending.removeFirst(start)
    }

    /// Writes the last chunk and flushes the file to the disk.
    func finish() throws(PersistenceError) {
        try put(pending, isLast: true)
        do throws(DataVaultError) { try file.sync() } catch { throw PersistenceError(error) }
    }

    private func put(_ chunk: [UInt8], isLast: Bool) throws(PersistenceError) {
        let context = Self.context(prefix, index, isLast: isLast)
        let stored: [UInt8]
        do {
            stored = try cipher?.seal(chunk, context: context) ?? (chunk + Self.checksum(chunk, context))
        } catch {
            throw .system(operation: "encrypting", path: "an item", code: ENOMEM)
        }
        let length = UInt32(stored.count) | (isLast ? Self.lastBit : 0)
        do throws(DataVaultError) {
            try file.write((0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - $0 * 8)) } + stored)
        } catch {
            throw PersistenceError(error)
        }
        index += 1
    }

    static func context(_ prefix: [UInt8], _ index: UInt64, isLast: Bool) -> [UInt8] {
        prefix + (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - $0 * 8)) } + [isLast ? 1 : 0]
    }

    static func checksum(_ chunk: [UInt8], _ context: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: context)
        hash.update(data: chunk)
        return Array(hash.finalize().prefix(checksumByteCount))
    }
}

/// Reads the file of an item in chunks. Only authentic bytes are returned.
final class ItemReader {
    let isSealed: Bool
    let header: ItemHeader

    private let file: OwnerOnlyFile
    private let name: String
    private let cipher: RecordCipher?
    private let prefix: [UInt8]
    private var index: UInt64 = 0
    private var hasEnded = false

    /// Opens a file; returns `nil` if it does not exist.
    ///
    /// - Parameters:
    ///   - name: The name of the item for error messages.
    ///   - cipher: The cipher for sealed files.
    init?(_ path: String, name: String, cipher: RecordCipher?) throws(PersistenceError) {
        self.name = name
        let prefix: [UInt8]
        do throws(DataVaultError) {
            guard let file = try OwnerOnlyFile(reading: path) else { return nil }
            self.file = file
            prefix = try file.read(next: ItemWriter.prefixByteCount)
        } catch {
            throw PersistenceError(error)
        }
        guard prefix.count == ItemWriter.prefixByteCount, prefix.starts(with: ItemWriter.magic), prefix[4] == 1,
            prefix[5] < 2, prefix[5] == 0 || cipher != nil
        else { throw .damaged(name: name) }
        self.prefix = prefix
        isSealed = prefix[5] == 1
        self.cipher = prefix[5] == 1 ? cipher : nil
        let (chunk, isLast) = try Self.chunk(file, prefix, index: 0, cipher: self.cipher, name: name)
        guard !isLast, let header = try? JSONDecoder().decode(ItemHeader.self, from: Data(chunk)) else {
            throw .damaged(name: name)
        }
        self.header = header
        index = 1
    }

    /// Returns the next bytes, or `nil` at the end.
    func next() throws(PersistenceError) -> [UInt8]? {
        guard !hasEnded else { return nil }
        let (chunk, isLast) = try Self.chunk(file, prefix, index: index, cipher: cipher, name: name)
        index += 1
        hasEnded = isLast
        return chunk.isEmpty ? nil : chunk
    }

    func all(limit: Int) throws(PersistenceError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try next() {
            bytes += chunk
            guard bytes.count <= limit else { throw .tooLarge(name: name, bytes: bytes.count, limit: limit) }
        }
        return bytes
    }

    private static func chunk(
        _ file: OwnerOnlyFile, _ prefix: [UInt8], index: UInt64, cipher: RecordCipher?, name: String
    ) throws(PersistenceError) -> (bytes: [UInt8], isLast: Bool) {
        let overhead = cipher == nil ? ItemWriter.checksumByteCount : RecordCipher.overhead
        let stored: [UInt8]
        let isLast: Bool
        do throws(DataVaultError) {
            let field = try file.read(next: 4)
            guard field.count == 4 else { throw DataVaultError.damaged(path: name, offset: 0, expected: "a chunk") }
            let length = field.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            isLast = length & ItemWriter.lastBit != 0
            let count = Int(length & ~ItemWriter.lastBit)
            guard count >= overhead, count <= ItemWriter.chunkByteCount + overhead else {
                throw DataVaultError.damaged(path: name, offset: 0, expected: "a length")
            }
            stored = try file.read(next: count)
            guard stored.count == count else {
                throw DataVaultError.damaged(path: name, offset: 0, expected: "\(count) bytes")
            }
        } catch {
            if case .damaged = error { throw .damaged(name: name) }
            throw PersistenceError(error)
        }
        let context = ItemWriter.context(prefix, index, isLast: isLast)
        if let cipher {
            guard let plain = try? cipher.open(stored, context: context) else { throw .damaged(name: name) }
            return (plain, isLast)
        }
        let plain = Array(stored.dropLast(overhead))
        guard ItemWriter.checksum(plain, context) == Array(stored.suffix(overhead)) else { throw .damaged(name: name) }
        return (plain, isLast)
    }
}

extension PersistenceError {
    init(_ error: DataVaultError) {
        switch error {
        case .exposed(let path, _): self = .exposed(path: path)
        case .system(let operation, let path, let code): self = .system(operation: operation, path: path, code: code)
        case .notAFile(let path): self = .system(operation: "opening", path: path, code: ENOTDIR)
        case .cancelled: self = .cancelled
        default: self = .keyStore(reason: error.description)
        }
    }
}
