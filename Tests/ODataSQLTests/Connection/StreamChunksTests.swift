import Foundation
import GRDB
import ODataService
import ODataSQL
import Testing

@Suite("The chunks of a stream")
struct StreamChunksTests {
    private func database() throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE outpost_stream_chunk (
                      id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL);
                    CREATE UNIQUE INDEX position ON outpost_stream_chunk (stream, position)
                    """)
        }
        return database
    }

    private func collect(_ stream: ByteStream) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await stream.next() { bytes += chunk }
        return bytes
    }

    @Test("are read back from any position, and continue after an interrupted upload")
    func roundTrip() async throws {
        let database = try database()
        let size = StreamChunks.size
        let bytes = (0..<2 * size + 100).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let cut = { (part: ArraySlice<UInt8>, length: Int) in
            try await StreamChunks.cut(ByteStream(Array(part)), after: Int64(length)) { chunk, position in
                try await database.write { try StreamChunks.write(chunk, at: position, of: 7, in: $0) }
            }
        }
        #expect(try await cut(bytes[..<(size + 10)], 0) == Int64(size + 10))
        #expect(try await cut(bytes[size...], size) == Int64(bytes.count))
        #expect(try await database.read { try StreamChunks.whole(7, in: $0) } == bytes)
        let chunks = StreamChunks { try await database.read($0) }
        let all = chunks.bytes(of: 7, length: Int64(bytes.count))
        #expect(try await collect(all) == bytes)
        let rows = try await database.read {
            try Int.fetchAll($0, sql: "SELECT length(bytes) FROM outpost_stream_chunk ORDER BY position")
        }
        #expect(rows == [size, size, 100])
    }

    @Test("A stream that is removed during reading ends with 410")
    func removed() async throws {
        let database = try database()
        try await database.write { try StreamChunks.write([UInt8](repeating: 1, count: 300_000), of: 1, in: $0) }
        let stream = StreamChunks { try await database.read($0) }.bytes(of: 1, length: 300_000)
        #expect(try await stream.next()?.count == StreamChunks.size)
        try await database.write { try StreamChunks.remove(1, in: $0) }
        let error = await #expect(throws: ODataError.self) { try await stream.next() }
        #expect(error?.status == 410)
    }
}
