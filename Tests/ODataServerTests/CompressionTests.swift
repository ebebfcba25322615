import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization
import Testing

@testable import ODataServer

/// Compressed responses (RFC 9110, 8.4 and 12.5.3).
@Suite struct CompressionTests {
    @Test(arguments: [
        ("gzip", true), ("GZIP;q=0.5, br", true), ("gzip;q=0", false), ("*", true), ("*;q=0", false),
        ("identity", false), ("", false), ("br, *;q=0.1", true), ("gzip;q=0, *", false), ("x-gzip", true),
    ])
    func `gzip is sent to clients that accept it`(_ header: String, _ isAccepted: Bool) {
        #expect(Compression.accepts(header) == isAccepted)
    }

    private func apply(
        _ fields: HTTPFields, _ bytes: [UInt8], accept: String = "gzip", status: Int = 200, chunk: Int = 1000
    ) async throws -> (HTTPResponse, [UInt8]) {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
        request.headerFields[.acceptEncoding] = accept
        let position = Mutex(0)
        let stream = ByteStream {
            position.withLock { position in
                guard position < bytes.count else { return nil }
                defer { position += chunk }
                return Array(bytes[position..<min(position + chunk, bytes.count)])
            }
        }
        let (response, packed) = await Compression.apply(
            to: HTTPResponse(status: .init(code: status), headerFields: fields), stream, for: request)
        return (response, try await packed.collect(limit: 64 << 20))
    }

    @Test func `a compressed body is smaller, and whole again when unpacked`() async throws {
        let text = Array((0..<40_000).map { "{\"ID\":\($0),\"Text\":\"row\"}" }.joined(separator: ",").utf8)
        let (response, packed) = try await apply(
            [.contentType: "application/json;metadata=minimal", .eTag: "\"1\"", .vary: "Accept"], text)
        #expect(response.headerFields[.contentEncoding] == "gzip")
        #expect(response.headerFields[.contentLength] == nil)
        #expect(response.headerFields[.eTag] == "W/\"1\"")
        #expect(response.headerFields[.vary] == "Accept, Accept-Encoding")
        #expect(packed.count * 5 < text.count)
        #expect(try await Self.gunzip(packed) == text)
    }

    @Test func `bytes that do not pack are whole again too`() async throws {
        var numbers = SystemRandomNumberGenerator()
        let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &numbers) }
        for chunk in [1, 70_000, 200_000] where chunk > 1 || noise.count < 300_000 {
            let (_, packed) = try await apply([.contentType: "text/plain"], noise, chunk: chunk)
            #expect(try await Self.gunzip(packed) == noise)
        }
    }

    @Test func `media, parts, packed bodies and small ones are left alone`() async throws {
        let bytes = [UInt8](repeating: 65, count: 5000)
        #expect(try await apply([.contentType: "image/png"], bytes).1 == bytes)
        #expect(try await apply([.contentType: "text/plain"], bytes, status: 206).1 == bytes)
        #expect(try await apply([.contentType: "text/plain", .contentEncoding: "br"], bytes).1 == bytes)
        let (plain, same) = try await apply([.contentType: "text/plain"], bytes, accept: "identity")
        #expect(same == bytes && plain.headerFields[.vary] == "Accept-Encoding")
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "h", path: "/", headerFields: [.acceptEncoding: "gzip"])
        let (small, _) = await Compression.apply(
            to: HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"]), ByteStream([65]), for: request)
        #expect(small.headerFields[.contentEncoding] == nil)
    }

    /// Decompresses with the tool of the system, so that the encoder is not tested with the same library.
    private static func gunzip(_ bytes: [UInt8]) async throws -> [UInt8] {
        let path = NSTemporaryDirectory() + "outpost-gzip-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path + ".gz"))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-d", path + ".gz"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
