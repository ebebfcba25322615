import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import Synchronization
import Testing

/// Malicious and faulty clients: the server keeps running and serves other clients.
@Suite struct AbuseTests {
    private static let collect: ODataServer.IdentifiedHandler = { request, body, _ in
        do {
            let bytes = try await body.collect(limit: 100_000)
            return (HTTPResponse(status: .ok), ByteStream(Array("\(bytes.count)".utf8)))
        } catch {
            let status = (error as? ODataError)?.status ?? 500
            return (HTTPResponse(status: .init(code: status)), ByteStream(Array("refused".utf8)))
        }
    }

    private func isAlive(_ server: RunningServer) async throws -> Bool {
        try await server.send("/").response.status == .ok
    }

    @Test func `requests cut at every byte leave the server as it was`() async throws {
        let request = Array(
            "POST /Orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"ID\":1}"
                .utf8)
        try await withServer(handler: Self.collect) { server in
            for length in 0..<request.count {
                let connection = try RawConnection(port: server.port)
                connection.send(request[..<length])
                connection.close()
            }
            #expect(try await isAlive(server))
        }
    }

    @Test(arguments: [
        "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}", "GET / HTTP/1.1\r\nHost h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ])
    func `bytes that are no request end only their own connection`(_ text: String) async throws {
        try await withServer(.init(idleTimeout: .seconds(8)), handler: Self.collect) { server in
            let connection = try RawConnection(port: server.port)
            connection.send(text.utf8)
            let answer = await connection.readToEnd()
            #expect(!answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            connection.close()
            #expect(try await isAlive(server))
        }
    }

    @Test func `silent connections hold nobody up, and are closed in time`() async throws {
        try await withServer(.init(idleTimeout: .seconds(4)), handler: Self.collect) { server in
            let silent = try (0..<300).map { _ in try RawConnection(port: server.port) }
            let half = try RawConnection(port: server.port)
            half.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".utf8)
            #expect(try await isAlive(server))
            let start = ContinuousClock.now
            #expect(await half.readToEnd().hasPrefix("HTTP/1.1 200") == false)
            #expect(await silent[0].readToEnd() == "")
            #expect(ContinuousClock.now - start < .seconds(20))
            for connection in silent + [half] { connection.close() }
        }
    }

    @Test func `floods of header fields are refused`() async throws {
        try await withServer(handler: Self.collect) { server in
            for (count, size) in [(300, 10), (3, 30_000)] {
                let connection = try RawConnection(port: server.port)
                let value = String(repeating: "x", count: size)
                let fields = (0..<count).map { "X-\($0): \(value)\r\n" }.joined()
                connection.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\r\n".utf8)
                let answer = await connection.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 431"), "\(answer.prefix(100))")
                connection.close()
            }
            // Far beyond the limit, the end of the request cannot be found.
            let flood = try RawConnection(port: server.port)
            flood.send("GET / HTTP/1.1\r\nHost: localhost\r\n".utf8)
            for number in 0..<20_000 where !flood.send("X-\(number): \(String(repeating: "y", count: 100))\r\n".utf8) {
                break
            }
            let answer = await flood.readToEnd()
            #expect(!answer.hasPrefix("HTTP/1.1 200"))
            flood.close()
            let long = try await server.send("/" + String(repeating: "a", count: 66_000))
            #expect(long.response.status.code == 414)
            #expect(try await isAlive(server))
        }
    }

    @Test func `a body of 10 GB is refused at the limit, and not read to its end`() async throws {
        try await withServer(.init(maxBodySize: 1 << 40), handler: Self.collect) { server in
            let connection = try RawConnection(port: server.port)
            connection.send("POST /Orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10737418240\r\n\r\n".utf8)
            let chunk = [UInt8](repeating: 65, count: 65_536)
            var sent: Int64 = 0
            while sent < 1 << 28, await connection.sendMuch(chunk) { sent += Int64(chunk.count) }
            // The server discards a limited number of bytes, and the two sockets buffer some more.
            #expect(sent < 1 << 27, "\(sent) bytes were taken")
            connection.close()
            #expect(try await isAlive(server))
        }
        try await withServer(.init(maxBodySize: 1 << 20), handler: Self.collect) { server in
            let connection = try RawConnection(port: server.port)
            connection.send("POST /Orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10737418240\r\n\r\n".utf8)
            let answer = await connection.readToEnd(untilHead: true)
            #expect(answer.hasPrefix("HTTP/1.1 413"), "\(answer.prefix(100))")
            connection.close()
        }
    }

    @Test func `slow readers hold nobody up`() async throws {
        let endless: ODataServer.IdentifiedHandler = { request, _, _ in
            guard request.path == "/endless" else { return (HTTPResponse(status: .ok), ByteStream([65])) }
            return (HTTPResponse(status: .ok), ByteStream { [UInt8](repeating: 65, count: 65_536) })
        }
        try await withServer(handler: endless) { server in
            let readers = try (0..<50).map { _ in try RawConnection(port: server.port) }
            for reader in readers { reader.send("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) }
            for _ in 0..<20 { #expect(try await isAlive(server)) }
            for reader in readers { reader.close() }
        }
    }

    @Test func `a client that never reads its answer is cut off, one that reads slowly is not`() async throws {
        // The size exceeds the buffers of the system, but is small enough for the slow client to finish soon.
        let size = 32 << 20
        let handler: ODataServer.IdentifiedHandler = { _, _, _ in
            let left = Mutex(size)
            return (
                HTTPResponse(status: .ok),
                ByteStream(length: Int64(size)) {
                    left.withLock { left in
                        guard left > 0 else { return nil }
                        left -= 1 << 16
                        return [UInt8](repeating: 65, count: 1 << 16)
                    }
                }
            )
        }
        var configuration = ODataServer.Configuration(compresses: false)
        #expect(configuration.minimumTransfer == MinimumTransfer(bytes: 1024, period: .seconds(30)))
        configuration.minimumTransfer.period = .seconds(4)
        try await withServer(configuration, handler: handler) { server in
            let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8
            let deaf = try RawConnection(port: server.port, receiveBuffer: 8192)
            deaf.send(request)
            let slow = try RawConnection(port: server.port, receiveBuffer: 8192)
            slow.send(request)
            // The client reads a few kilobytes at a time, for three times the period in which it may receive
            // nothing.
            var received = await slow.readSlowly(times: 48, pause: 0.25)
            #expect(received < size / 2, "The client was not slow.")
            received += await slow.readToEnd().utf8.count
            #expect(received > size, "The slow client got \(received) of \(size) bytes.")
            // Only the bytes that the system had buffered arrive.
            #expect(await deaf.readToEnd().utf8.count < size)
            deaf.close()
            slow.close()
        }
    }

    @Test func `a handshake that does not come to an end is given up`() async throws {
        let certificate = try await SelfSignedCertificate()
        var configuration = ODataServer.Configuration(tls: certificate.tls)
        configuration.handshakeTimeout = .seconds(1)
        try await withServer(configuration, handler: Self.collect) { server in
            let start = ContinuousClock.now
            let silent = try RawConnection(port: server.port)
            let slow = try RawConnection(port: server.port)
            // The first bytes of a TLS greeting.
            slow.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
            #expect(await silent.readToEnd() == "")
            #expect(await slow.readToEnd() == "")
            #expect(ContinuousClock.now - start < .seconds(100))
            silent.close()
            slow.close()
        }
    }

    @Test func `paths that lead upwards, or hold slashes and zeros, are text for the handler`() async throws {
        try await withServer(handler: Self.collect) { server in
            for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/Orders%2F1", "/a%00b", "//"] {
                let connection = try RawConnection(port: server.port)
                connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
                // The handler of this server answers every path, and paths are not normalized.
                #expect(await connection.readToEnd().hasPrefix("HTTP/1.1 200"))
                connection.close()
            }
            #expect(try await isAlive(server))
        }
    }
}
