import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportConformance
import ODataTransportNIO
import Synchronization
import Testing

/// A session with our server over sockets.
@Suite("A session over sockets") struct SessionOverSocketTests {
    private func withSession(
        _ configuration: HTTPSession.Configuration = .init(), handler: @escaping ODataServer.Handler,
        _ body: (HTTPSession, String) async throws -> Void
    ) async throws {
        let running = try await ODataServer(handler: handler).start()
        let transport = try NIOTransport()
        do {
            let root = "http://127.0.0.1:\(running.port)/"
            try await body(try HTTPSession(transport, serviceRoot: root, configuration: configuration), root)
        } catch {
            try await transport.shutdown()
            await running.stop()
            throw error
        }
        try await transport.shutdown()
        await running.stop()
    }

    @Test("A large file is sent again after a challenge without loading it, and its final progress is right")
    func upload() async throws {
        let path = NSTemporaryDirectory() + "outpost-upload-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let size = 8_000_000
        try Data(repeating: 7, count: size).write(to: URL(fileURLWithPath: path))
        let asked = Counter()
        let step = ChallengedCredentials { _, _ in
            asked.next()
            return UserCredentials(user: "ann", password: "pw")
        }
        try await withSession(
            .init(authentication: Authentication(step))
        ) { request, body in
            var count = 0
            while let chunk = try? await body.next() { count += chunk.count }
            guard request.headerFields[.authorization] == "Basic YW5uOnB3" else {
                return answer(401, [.wwwAuthenticate: "Basic realm=\"media\""], "who?")
            }
            return (HTTPResponse(status: .ok), ByteStream(Array("\(count)".utf8)))
        } _: { session, root in
            let progress = TransferProgress()
            for _ in 0..<2 {
                let (response, body) = try await session.send(
                    request(.put, root + "media"), body: try .file(path),
                    options: TransferOptions(report: progress.listener(expectedUpload: Int64(size))))
                #expect(response.status == .ok)
                #expect(try await body.text == "\(size)")
            }
            #expect(progress.snapshot.sent == Int64(2 * size))
            #expect(progress.snapshot.finished == 2)
            #expect(asked.value == 1)
        }
    }

    @Test("Cookies, redirects and compressed responses work together over a socket") func together() async throws {
        let text = (0..<5000).map { "{\"a\":\($0)}," }.joined()
        try await withSession { request, _ in
            var response = HTTPResponse(status: .ok)
            guard request.headerFields[.cookie] == "s=1" else {
                response.status = .temporaryRedirect
                response.headerFields[.location] = "/again"
                response.headerFields[.setCookie] = "s=1; Path=/"
                return (response, ByteStream(length: 0) { nil })
            }
            response.headerFields[.contentType] = "application/json"
            return (response, ByteStream(Array(text.utf8)))
        } _: { session, root in
            let (response, body) = try await session.send(request(.get, root), body: nil)
            #expect(response.status == .ok)
            #expect(try await body.text == text)
        }
    }

    @Test("All cookies are sent in one field (RFC 6265, 5.4)")
    func cookies() async throws {
        let fields: HTTPFields = [.cookie: "relay=9"]
        try await withSession(.init(fields: { fields })) { request, _ in
            var response = HTTPResponse(status: .ok)
            for cookie in ["a=1; Path=/", "b=2; Path=/"] {
                response.headerFields.append(HTTPField(name: .setCookie, value: cookie))
            }
            let cookies = request.headerFields[values: .cookie].joined(separator: "|")
            return (response, ByteStream(Array(cookies.utf8)))
        } _: { session, root in
            _ = try await session.send(request(.get, root), body: nil)
            var second = request(.get, root)
            second.headerFields[.cookie] = "own=3"
            let (_, body) = try await session.send(second, body: nil)
            #expect(try await body.text == "own=3; a=1; b=2; relay=9")
        }
    }

    @Test("A download over a socket continues at the byte where the process stopped") func download() async throws {
        let path = NSTemporaryDirectory() + "outpost-resume-\(UUID().uuidString)"
        defer { for file in [path, path + ".checkpoint"] { try? FileManager.default.removeItem(atPath: file) } }
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let ranges = Mutex<[String]>([])
        try await withSession { request, _ in
            ranges.withLock { $0.append(request.headerFields[.range] ?? "all") }
            var response = HTTPResponse(status: .ok)
            response.headerFields[.eTag] = "\"1\""
            let first = request.headerFields[.range].flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
            if first > 0 {
                response.status = .partialContent
                response.headerFields[.contentRange] = "bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
            }
            let position = Mutex(first)
            let isFirst = ranges.withLock { $0.count == 1 }
            let body = ByteStream(length: Int64(bytes.count - first)) {
                let start = position.withLock { position in
                    defer { position += 50_000 }
                    return position
                }
                if isFirst, start >= 1_500_000 { throw ODataError(status: 500, code: "X", message: "cut") }
                return start < bytes.count ? Array(bytes[start..<min(start + 50_000, bytes.count)]) : nil
            }
            return (response, body)
        } _: { session, root in
            let target = request(.get, root + "file")
            await #expect(throws: TransportError.self) {
                try await ResumableDownload(target, to: DownloadFile(path), over: session, retry: .none).run()
            }
            let reached = FileManager.default.contents(atPath: path)?.count ?? 0
            #expect(reached > 0 && reached < bytes.count)
            try await ResumableDownload(target, to: DownloadFile(path), over: session).run()
            #expect(FileManager.default.contents(atPath: path).map { Array($0) } == bytes)
            #expect(ranges.withLock { $0 } == ["all", "bytes=\(reached)-"])
        }
    }

    @Test("Cancelling an upload closes its socket") func cancelled() async throws {
        let peer = try await RawPeer(then: .silence)
        let transport = try NIOTransport()
        let session = try HTTPSession(transport, serviceRoot: "http://127.0.0.1:\(peer.port)/")
        let endless = ByteStream {
            try await Task.sleep(for: .milliseconds(5))
            return [UInt8](repeating: 1, count: 1000)
        }
        let task = Task { try await session.send(request(.put, "http://127.0.0.1:\(peer.port)/"), body: endless) }
        while !peer.received.contains("PUT") { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        let end = ContinuousClock.now + .seconds(30)
        while peer.open > 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(peer.open == 0)
        #expect(session.queue.size == 0)
        try await transport.shutdown()
        try await peer.stop()
    }

    @Test(
        "The in-memory transport passes the transport checks",
        arguments: TransportCheck.all(for: [
            .streamsDownloads, .streamsUploads, .holdsBack, .keepsRepeatedFields,
        ]))
    func memory(check: TransportCheck) async throws {
        try await check.run(on: TransportSubject(inMemory: { LoopbackTransport(handle: $0) }))
    }

    @Test(
        "A session without retries, redirects and cookies passes the transport checks",
        .serialized, arguments: TransportCheck.all)
    func conforms(check: TransportCheck) async throws {
        let configuration = HTTPSession.Configuration(
            redirects: .none, retry: .none, wholeTimeout: .seconds(600), cookies: nil)
        let subject = TransportSubject(
            proxied: { port in
                let transport = try NIOTransport(configuration: .init(proxy: .http(host: "127.0.0.1", port: port)))
                return try HTTPSession(transport, serviceRoot: "http://service.test/", configuration: configuration)
            },
            make: { silence in
                // A busy machine may need longer than the default timeout to connect.
                let transport = try NIOTransport(
                    configuration: .init(connectTimeout: .seconds(60), readTimeout: silence))
                return try HTTPSession(transport, serviceRoot: "http://127.0.0.1/", configuration: configuration)
            })
        try await check.run(on: subject)
    }
}
