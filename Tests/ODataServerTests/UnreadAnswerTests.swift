import ForeignPrograms
import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import Testing

/// Clients of HTTP/2 that request large responses and read nothing.
@Suite struct UnreadAnswerTests {
    /// The place at which the response is blocked.
    enum Stuck: String, CaseIterable {
        /// The flow-control window of the stream is never increased.
        case flowControl
        /// The window is unlimited, but the client does not read its socket.
        case socket

        /// The initial flow-control window.
        var window: Int { self == .flowControl ? 65_535 : 0x7FFF_FFFF }
    }

    /// Opens a connection of HTTP/2, requests `/`, and waits without reading. Then it prints the number of
    /// received bytes, and whether the stream was reset or the connection was closed.
    private static let client = """
        import socket, ssl, struct, sys, time
        port, window, wait = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2"])
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        plain.connect(("127.0.0.1", port))
        connection = context.wrap_socket(plain, server_hostname="localhost")
        def frame(kind, flags, stream, payload):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        greeting = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0, struct.pack(">HI", 4, window))
        if window > 65535:
            greeting += frame(8, 0, 0, struct.pack(">I", window - 65535))
        # GET, /, https, and the authority "localhost", of HPACK's static table.
        connection.sendall(greeting + frame(1, 5, 1, bytes([0x82, 0x84, 0x87, 0x41, 9]) + b"localhost"))
        time.sleep(wait)
        connection.settimeout(2)
        came, end = b"", "open"
        try:
            while True:
                chunk = connection.recv(65536)
                if not chunk:
                    end = "closed"
                    break
                came += chunk
        except (TimeoutError, socket.timeout):
            pass
        except OSError:
            end = "closed"
        size = 0
        while len(came) >= 9:
            length = int.from_bytes(came[:3], "big")
            if came[3] == 0:
                size += length
            if came[3] == 3:
                end = "reset"
            came = came[9 + length:]
        print(end, size)
        """

    /// An object that reports its deallocation.
    private final class Held: Sendable {
        private let isGone: @Sendable () -> Void

        init(_ isGone: @escaping @Sendable () -> Void) { self.isGone = isGone }

        deinit { isGone() }
    }

    @Test(arguments: Stuck.allCases)
    func `a client of HTTP2 that never reads is cut off, and holds little until then`(_ stuck: Stuck) async throws {
        let certificate = try await SelfSignedCertificate()
        var configuration = ODataServer.Configuration(tls: certificate.tls, compresses: false)
        configuration.minimumTransfer.period = .seconds(2)
        let pulled = Counter()
        let (ended, announce) = AsyncStream.makeStream(of: Void.self)
        let endless: ODataServer.IdentifiedHandler = { request, _, _ in
            guard request.path == "/" else { return (HTTPResponse(status: .ok), ByteStream([65])) }
            let held = Held { announce.finish() }
            return (
                HTTPResponse(status: .ok),
                ByteStream {
                    withExtendedLifetime(held) { pulled.add(1 << 16) }
                    return [UInt8](repeating: 65, count: 1 << 16)
                }
            )
        }
        try await withServer(configuration, handler: endless) { server in
            let outcome = try await Command.run(
                "python3", "-c", Self.client, "\(server.port)", "\(stuck.window)", "8")
            let words = outcome.output.split(whereSeparator: \.isWhitespace)
            #expect(words.first == (stuck == .flowControl ? "reset" : "closed"), "\(outcome)")
            let received = words.last.flatMap { Int($0) } ?? 0
            #expect(received > 0 && (stuck == .socket || received <= 65_535), "\(outcome)")
            // The difference consists of the system's buffers, the pending bytes and one more chunk.
            #expect(pulled.value - received < 1 << 20, "\(pulled.value) bytes were taken from the handler, \(outcome)")
            for await _ in ended {}
        }
    }

    /// Opens a connection of HTTP/2 and requests `/`. It reads everything, but grants its stream only a few bytes
    /// every half second. Then it prints whether the stream or the connection was ended, and the number of bytes.
    private static let dripping = """
        import socket, ssl, struct, sys, time
        port, grant, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2"])
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
        def frame(kind, flags, stream, payload):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        greeting = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0, struct.pack(">HI", 4, 2048))
        greeting += frame(8, 0, 0, struct.pack(">I", 1 << 24))
        connection.sendall(greeting + frame(1, 5, 1, bytes([0x82, 0x84, 0x87, 0x41, 9]) + b"localhost"))
        came, end, start = b"", "open", time.monotonic()
        connection.settimeout(0.5)
        while end == "open" and time.monotonic() - start < seconds:
            wake = time.monotonic() + 0.5
            try:
                while time.monotonic() < wake:
                    chunk = connection.recv(65536)
                    if not chunk:
                        end = "closed"
                        break
                    came += chunk
            except (TimeoutError, socket.timeout):
                pass
            except OSError:
                end = "closed"
            size, rest = 0, came
            while len(rest) >= 9:
                length = int.from_bytes(rest[:3], "big")
                if rest[3] == 0:
                    size += length
                if rest[3] == 3:
                    end = "reset"
                rest = rest[9 + length:]
            if end == "open":
                connection.sendall(frame(8, 0, 1, struct.pack(">I", grant)))
        print(end, size)
        """

    @Test(arguments: [(700, "open"), (20, "reset")])
    func `a client of HTTP2 is cut if it takes less than the minimum, and served if it takes more`(
        grant: Int, outcome: String
    ) async throws {
        let certificate = try await SelfSignedCertificate()
        var configuration = ODataServer.Configuration(tls: certificate.tls, compresses: false)
        configuration.minimumTransfer = MinimumTransfer(bytes: 1024, period: .seconds(2))
        let large: ODataServer.IdentifiedHandler = { _, _, _ in
            (HTTPResponse(status: .ok), ByteStream([UInt8](repeating: 65, count: 1 << 18)))
        }
        try await withServer(configuration, handler: large) { server in
            let result = try await Command.run("python3", "-c", Self.dripping, "\(server.port)", "\(grant)", "9")
            let words = result.output.split(whereSeparator: \.isWhitespace)
            #expect(words.first.map(String.init) == outcome, "\(result)")
            let received = words.last.flatMap { Int($0) } ?? 0
            #expect(outcome == "reset" || received > 2048 + 6 * grant, "\(result)")
        }
    }

    @Test func `a connection is not closed as idle while the end of a response waits for its client`() async throws {
        let size = 1 << 20
        let handler: ODataServer.IdentifiedHandler = { _, _, _ in
            (HTTPResponse(status: .ok), ByteStream([UInt8](repeating: 65, count: size)))
        }
        let configuration = ODataServer.Configuration(compresses: false, idleTimeout: .seconds(1))
        let client = """
            import socket, sys, time
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            connection.connect(("127.0.0.1", int(sys.argv[1])))
            connection.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            connection.settimeout(15)
            came = b""
            while len(came) < 1 << 20:
                chunk = connection.recv(16384)
                if not chunk:
                    break
                came += chunk
                time.sleep(0.06)
            body = came.split(b"\\r\\n\\r\\n", 1)[1]
            while len(body) < 1 << 20:
                chunk = connection.recv(65536)
                if not chunk:
                    break
                body += chunk
            print(len(body))
            """
        try await withServer(configuration, handler: handler) { server in
            let result = try await Command.run("python3", "-c", client, "\(server.port)")
            #expect(Int(result.output.trimmingCharacters(in: .whitespacesAndNewlines)) == size, "\(result)")
        }
    }
}

private final class Counter: Sendable {
    private let sum = Mutex(0)

    var value: Int { sum.withLock { $0 } }

    func add(_ number: Int) { sum.withLock { $0 += number } }
}
