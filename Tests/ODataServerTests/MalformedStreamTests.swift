import ForeignPrograms
import HTTPTypes
import ODataServer
import ODataService
import Testing

/// Clients of HTTP/2 that send one malformed request among valid ones.
@Suite struct MalformedStreamTests {
    /// The kinds of malformed requests (RFC 9113, 8.1.1).
    enum Malformed: String, CaseIterable {
        case shortBody, longBody, noPath, twoMethods, connectionField, unendedTrailers
    }

    /// Sends a malformed request on stream 1 and `GET /` on stream 3, and prints the result of each.
    private static let client = """
        import socket, ssl, struct, sys
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2"])
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        # Methods, /, https and the authority "localhost" of HPACK's static table; a length of five, written out.
        get, post, path, rest = b"\\x82", b"\\x83", b"\\x84", b"\\x87\\x41\\x09localhost"
        five = b"\\x0f\\x0d\\x015"
        request = {
            "shortBody": frame(1, 4, 1, post + path + rest + five) + frame(0, 0, 1, b"abc") + frame(0, 1, 1),
            "longBody": frame(1, 4, 1, post + path + rest + five) + frame(0, 1, 1, b"abcdef"),
            "noPath": frame(1, 5, 1, get + rest),
            "twoMethods": frame(1, 5, 1, get + post + path + rest),
            "connectionField": frame(1, 5, 1, get + path + rest + b"\\x00\\x0aconnection\\x05close"),
            "unendedTrailers": frame(1, 4, 1, post + path + rest) + frame(1, 4, 1, b"\\x00\\x01x\\x01y"),
        }[sys.argv[2]]
        connection.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0) + request)
        connection.settimeout(10)
        came, ends = b"", {}
        def read(stream):
            global came
            while stream not in ends:
                while len(came) < 9 or len(came) < 9 + int.from_bytes(came[:3], "big"):
                    chunk = connection.recv(65536)
                    if not chunk:
                        ends.setdefault(stream, "closed")
                        return
                    came += chunk
                length, kind, flags = int.from_bytes(came[:3], "big"), came[3], came[4]
                of = int.from_bytes(came[5:9], "big")
                if kind == 3:
                    ends.setdefault(of, "reset " + str(int.from_bytes(came[9:13], "big")))
                elif kind in (0, 1) and flags & 1:
                    ends.setdefault(of, "answered")
                came = came[9 + length:]
        read(1)
        connection.sendall(frame(1, 5, 3, get + path + rest))
        read(3)
        print(ends[1] + ", " + ends[3])
        """

    @Test(arguments: Malformed.allCases)
    func `a malformed request is reset alone, and the others of its connection are answered`(
        _ malformed: Malformed
    ) async throws {
        let certificate = try await SelfSignedCertificate()
        let reading: ODataServer.IdentifiedHandler = { _, body, _ in
            _ = try? await body.collect(limit: 1 << 20)
            return (HTTPResponse(status: .ok), ByteStream([65]))
        }
        try await withServer(.init(tls: certificate.tls), handler: reading) { server in
            let outcome = try await Command.run(
                "python3", "-c", Self.client, "\(server.port)", malformed.rawValue)
            // The code of PROTOCOL_ERROR is 1.
            #expect(outcome.output == "reset 1, answered\n", "\(outcome)")
        }
    }
}
