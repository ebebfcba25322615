import Testing

@testable import ODataTransportNIO

@Suite("Content codings (RFC 9110, 8.4.1)")
struct ContentCodingTests {
    /// "hello " and "world", each as a member of gzip.
    private static let hello: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 0, 0, 246, 249, 129, 237, 6, 0, 0, 0,
    ]
    private static let world: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 43, 207, 47, 202, 73, 1, 0, 67, 17, 119, 58, 5, 0, 0, 0,
    ]
    /// "hello world" with the wrapper of zlib, and without.
    private static let wrapped: [UInt8] = [
        120, 156, 203, 72, 205, 201, 201, 87, 40, 207, 47, 202, 73, 1, 0, 26, 11, 4, 93,
    ]
    private static let bare: [UInt8] = [203, 72, 205, 201, 201, 87, 40, 207, 47, 202, 73, 1, 0]

    private func unpack(_ bytes: [UInt8], _ packing: Unpacker.Packing, by count: Int) throws -> (String, Bool) {
        let unpacker = Unpacker(packing)
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: count) {
            unpacker.append(Array(bytes[start..<min(start + count, bytes.count)]))
            while let chunk = try unpacker.next() { result += chunk }
        }
        return (String(decoding: result, as: UTF8.self), unpacker.isAtEnd)
    }

    @Test("Several gzip members are one body in any chunks", arguments: [1, 3, 7, 1000])
    func members(_ count: Int) throws {
        let (text, isAtEnd) = try unpack(Self.hello + Self.world, .gzip, by: count)
        #expect(text == "hello world")
        #expect(isAtEnd)
        // Zeros may pad them.
        #expect(try unpack(Self.hello + [0, 0, 0], .gzip, by: count).0 == "hello ")
    }

    @Test("Deflate works with and without a wrapper", arguments: [1, 3, 1000])
    func deflate(_ count: Int) throws {
        for bytes in [Self.wrapped, Self.bare] {
            let (text, isAtEnd) = try unpack(bytes, .deflate, by: count)
            #expect(text == "hello world")
            #expect(isAtEnd)
        }
    }

    @Test("A truncated or invalid compressed body is an error")
    func damaged() throws {
        #expect(try !unpack(Array(Self.hello.dropLast(3)), .gzip, by: 1000).1)
        #expect(throws: Unpacker.Failure.self) { try unpack(Array("plain".utf8), .gzip, by: 1000) }
        #expect(throws: Unpacker.Failure.self) { try unpack(Self.hello + Array("rest".utf8), .gzip, by: 1000) }
    }
}
