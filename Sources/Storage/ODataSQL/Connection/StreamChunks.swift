import Foundation
import GRDB
import ODataService

/// The bytes of streams in rows of a fixed size, so that a stream never needs to be in memory as a whole.
///
/// A store has a separate table of its streams. The rows of this table refer to a stream by its id.
///
/// ```swift
/// let chunks = StreamChunks { try await database.read($0) }
/// let photo = chunks.bytes(of: id, length: 1_000_000)
/// ```
package struct StreamChunks: Sendable {
    /// A function that runs a read in its own transaction.
    package typealias Reader = @Sendable (@escaping @Sendable (Database) throws -> Data?) async throws -> Data?

    /// The number of bytes in each row except a stream's last one.
    package static let size = 256 << 10
    /// The name of the table, with the columns `stream`, `position` and `bytes`.
    package static let table = "outpost_stream_chunk"

    private let read: Reader

    /// Creates a view of the chunks in a database.
    package init(reader: @escaping Reader) { read = reader }

    // MARK: Writing

    /// Cuts a stream into rows as its bytes arrive.
    ///
    /// - Parameters:
    ///   - length: the number of existing bytes, a multiple of ``size``.
    ///   - check: called with the total length before each chunk is written; its error ends the transfer.
    ///   - write: writes the bytes of a row at a position.
    /// - Returns: The total length.
    /// - Throws: Errors of the producer, of `check` and of `write`; rows that were already written remain.
    package static func cut(
        _ stream: ByteStream, after length: Int64 = 0, check: (Int64) throws -> Void = { _ in },
        write: (Data, Int64) async throws -> Void
    ) async throws -> Int64 {
        var position = length / Int64(size)
        var total = length
        var buffer: [UInt8] = []
        while let chunk = try await stream.next() {
            try Task.checkCancellation()
            total += Int64(chunk.count)
            try check(total)
            buffer += chunk
            while buffer.count >= size {
                try await write(Data(buffer.prefix(size)), position)
                buffer.removeFirst(size)
                position += 1
            }
        }
        if !buffer.isEmpty { try await write(Data(buffer), position) }
        return total
    }

    /// Writes a row, which replaces the row at the same position.
    package static func write(_ bytes: Data, at position: Int64, of stream: Int64, in database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO \(table) (stream, position, bytes) VALUES (?, ?, ?)"
        ).execute(arguments: [stream, position, bytes])
    }

    /// Writes all bytes of a stream that is in memory.
    package static func write(_ bytes: [UInt8], of stream: Int64, in database: Database) throws {
        for (position, start) in stride(from: 0, to: bytes.count, by: size).enumerated() {
            let chunk = Data(bytes[start..<min(start + size, bytes.count)])
            try write(chunk, at: Int64(position), of: stream, in: database)
        }
    }

    /// Removes the bytes of a stream.
    package static func remove(_ stream: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM \(table) WHERE stream = ?", arguments: [stream])
    }

    // MARK: Reading

    /// Reads all bytes of a stream at once.
    package static func whole(_ stream: Int64, in database: Database) throws -> [UInt8] {
        try Data.fetchAll(
            database.cachedStatement(sql: "SELECT bytes FROM \(table) WHERE stream = ? ORDER BY position"),
            arguments: [stream]
        ).flatMap { Array($0) }
    }

    /// Returns the bytes of a stream, which are read on demand from any position. No transaction stays open between
    /// two chunks.
    ///
    /// - Returns: The bytes; reading them throws `ODataError` 410 if the stream was removed in the meantime.
    package func bytes(of stream: Int64, length: Int64) -> ByteStream { bytes(of: stream, 0..<length) }

    private func bytes(of stream: Int64, _ range: Range<Int64>) -> ByteStream {
        let cursor = Cursor(stream: stream, range: range, read: read)
        return ByteStream(
            length: range.upperBound - range.lowerBound,
            part: { part in
                bytes(of: stream, range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
            }
        ) { try await cursor.next() }
    }

    private actor Cursor {
        private let stream: Int64
        private let end: Int64
        private let read: Reader
        private var offset: Int64

        init(stream: Int64, range: Range<Int64>, read: @escaping Reader) {
            self.stream = stream
            self.read = read
            end = range.upperBound
            offset = range.lowerBound
        }

        func next() async throws -> [UInt8]? {
            guard offset < end else { return nil }
            let size = Int64(StreamChunks.size)
            let (position, start, stream) = (offset / size, Int(offset % size), stream)
            let chunk = try await read { database in
                try Data.fetchOne(
                    database.cachedStatement(
                        sql: "SELECT bytes FROM \(StreamChunks.table) WHERE stream = ? AND position = ?"),
                    arguments: [stream, position])
            }
            guard let chunk, chunk.count > start else {
                throw ODataError(
                    status: 410, code: "StreamReplaced", message: "The stream was replaced while it was read.")
            }
            let count = min(Int64(chunk.count - start), end - offset)
            offset += count
            return Array(chunk.dropFirst(start).prefix(Int(count)))
        }
    }
}
