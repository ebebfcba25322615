import ForeignPrograms
import HTTPTypes
import ODataServer
import ODataService
import Testing

/// A client of HTTP/2 that continues to send a body after it was refused.
@Suite struct EndlessUploadTests {
    /// Sends an endless body to a path that does not exist, then requests `/`, and prints the result of each.
    private static let client = """
        import socket, ssl, struct, sys
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2"])
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
        connection.settimeout(60)
        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        # POST and GET, /x and /, https and the authority "localhost" of HPACK's static table.
        post, get, rest = b"\\x83\\x04\\x02/x", b"\\x82\\x84", b"\\x87\\x41\\x09localhost"
        connection.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0) + frame(1, 4, 1, post + rest))
        room, came, ends, sent = {0: 65535, 1: 65535}, b"", {}, 0
        def read():
            global came
            while len(came) < 9 or len(came) < 9 + int.from_bytes(came[:3], "big"):
                chunk = connection.recv(65536)
                if not chunk:
                    return False
                came += chunk
            length, kind, flags = int.from_bytes(came[:3], "big"), came[3], came[4]
            stream, payload = int.from_bytes(came[5:9], "big"), came[9:9 + length]
            if kind == 8:
                room[stream] = room.get(stream, 65535) + int.from_bytes(payload, "big")
            elif kind == 3:
                ends[stream] = "reset " + str(int.from_bytes(payload, "big"))
            elif kind in (0, 1) and flags & 1:
                ends.setdefault(stream, "answered")
            came = came[9 + length:]
            return True
        while not ends.get(1, "").startswith("reset") and sent < 100 << 20:
            if min(room[0], room[1]) < 16384:
                if not read():
                    break
                continue
            connection.sendall(frame(0, 0, 1, bytes(16384)))
            room[0], room[1], sent = room[0] - 16384, room[1] - 16384, sent + 16384
        connection.sendall(frame(1, 5, 3, get + rest))
        while 3 not in ends and read():
            pass
        print(ends.get(1), ends.get(3), sent > 64 << 20)
        """

    @Test("beyond the discarded bytes, its stream is reset and other requests of the connection are answered")
    func reset() async throws {
        let certificate = try await SelfSignedCertificate()
        let refusing: ODataServer.IdentifiedHandler = { request, _, _ in
            (HTTPResponse(status: request.path == "/" ? .ok : .notFound), ByteStream([65]))
        }
        try await withServer(.init(tls: certificate.tls), handler: refusing) { (server: RunningServer) async throws in
            let outcome = try await Command.run("python3", "-c", Self.client, "\(server.port)")
            #expect(outcome.output == "reset 0 answered True\n", "\(outcome)")
        }
    }
}
