import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Synchronization
import Testing

@Suite("Limits of decompression")
struct UnpackingTests {
    /// Receives an answer of so many megabytes of zeros, which come packed.
    private func receive(megabytes: Int, ratio: Int) async throws -> Int {
        try await withServer { _, _ in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "text/plain"
            let left = Mutex(megabytes)
            return (
                response,
                ByteStream {
                    let isThere = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    return isThere ? [UInt8](repeating: UInt8(ascii: "0"), count: 1 << 20) : nil
                }
            )
        } _: { server in
            try await withTransport(.init(connectTimeout: .seconds(60), maxDecompressionRatio: ratio)) { transport in
                let request = HTTPRequest(
                    method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/")
                let (response, stream) = try await transport.send(request, body: nil)
                #expect(response.status == .ok)
                var count = 0
                while let chunk = try await stream.next() { count += chunk.count }
                return count
            }
        }
    }

    @Test("a small body has no compression limit")
    func small() async throws {
        #expect(try await receive(megabytes: 8, ratio: 2) == 8 << 20)
    }

    @Test("a larger body is refused if its compression ratio is too high, with the reason")
    func bomb() async throws {
        let error = try await #require(throws: TransportError.self) { try await receive(megabytes: 80, ratio: 200) }
        guard case .tooLarge = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.description.contains("unpacks to more than 200 times what came"), "\(error)")
    }

    @Test("a larger body with a normal compression ratio is received")
    func large() async throws {
        #expect(try await receive(megabytes: 80, ratio: 100_000) == 80 << 20)
    }
}
