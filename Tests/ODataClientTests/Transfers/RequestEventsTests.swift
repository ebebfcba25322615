import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Testing

@Suite("A request as a sequence of events") struct RequestEventsTests {
    private func names(_ events: RequestEvents) async -> [String] {
        var names: [String] = []
        for await event in events {
            switch event {
            case .started: names.append("started")
            case .sent(let bytes, let total): names.append("sent \(bytes)/\(total ?? -1)")
            case .headers(let response): names.append("headers \(response.status.code)")
            case .unpacked(let coding): names.append("unpacked \(coding)")
            case .redirected(let url, _): names.append("redirected \(url)")
            case .authenticationNeeded(_, let realm, _): names.append("needed \(realm ?? "-")")
            case .interrupted: names.append("interrupted")
            case .chunk(let bytes): names.append("chunk \(bytes.count)")
            case .finished: names.append("finished")
            case .failed(let error): names.append("failed \(error)")
            }
        }
        return names
    }

    private func session(_ wire: ScriptedWire, chunk: Int? = nil) throws -> HTTPSession {
        try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(
                authentication: Authentication(TokenAuthentication(.bearer) { $0 ? "new" : "old" }),
                retry: RetryPolicy(random: { 0 }, sleep: { _ in }),
                chunkSize: try chunk.map { try ChunkSize($0) } ?? .standard))
    }

    @Test("Events arrive in order, with one terminal event at the end") func all() async throws {
        let wire = ScriptedWire { number, _ in
            switch number {
            case 1: answer(503, [.retryAfter: "0"])
            case 2: answer(307, [.location: "/other"])
            case 3: answer(401, [.wwwAuthenticate: "Bearer realm=\"R\""])
            default: answer(200, [:], "12345")
            }
        }
        let events = try session(wire, chunk: 2).events(of: request(.put), body: ByteStream([1, 2, 3]))
        // Each repeat reports zero bytes first, but only a fast reader receives that event.
        let happened = await names(events).filter { $0 != "sent 0/3" }
        #expect(
            happened == [
                "started", "sent 3/3", "interrupted", "sent 3/3", "redirected https://service.test/other", "sent 3/3",
                "needed R", "sent 3/3", "headers 200", "chunk 2", "chunk 2", "chunk 1", "finished",
            ])
        #expect(wire.sent.allSatisfy { $0.options.acceptsCompression == false })
    }

    @Test("A failure is a terminal event, before the head and within the body") func failures() async throws {
        let none = try session(
            ScriptedWire { _, _ in throw TransportError.untrustedCertificate(host: "h", reason: "r") })
        #expect(
            await names(none.events(of: request())) == ["started", "failed The certificate of h is not trusted: r"])
        let cut = try session(
            ScriptedWire { _, _ in
                let counter = Counter()
                return (
                    HTTPResponse(status: .ok),
                    ByteStream {
                        if counter.next() == 1 { return [1] }
                        throw TransportError.truncated(host: "h", reason: "r")
                    }
                )
            })
        #expect(
            await names(cut.events(of: request()))
                == ["started", "headers 200", "chunk 1", "failed The answer of h is incomplete: r"])
        #expect(cut.queue.size == 0)
    }

    @Test("The request is sent when the first event is requested, and each iteration sends its own") func lazy()
        async throws
    {
        let wire = ScriptedWire { _, _ in answer() }
        let events = try session(wire).events(of: request())
        #expect(wire.sent.isEmpty)
        for _ in 0..<2 { #expect(await names(events).last == "finished") }
        #expect(wire.sent.count == 2)
    }

    @Test("Cancelling gives one terminal event, before the head and within the body", arguments: [true, false])
    func cancelled(withinBody: Bool) async throws {
        let wire = ScriptedWire { _, _ in
            if !withinBody { try await Task.sleep(for: .seconds(60)) }
            return (
                HTTPResponse(status: .ok),
                ByteStream {
                    try await Task.sleep(for: .seconds(60)); return nil
                }
            )
        }
        let session = try session(wire)
        let task = Task { await names(session.events(of: request())) }
        while wire.sent.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let seen = await task.value
        #expect(seen.last == "failed CancellationError()")
        #expect(seen.count(where: { $0.hasPrefix("failed") || $0 == "finished" }) == 1)
        #expect(session.queue.size == 0)
    }

    @Test("Releasing the iterator ends the request") func dropped() async throws {
        let wire = ScriptedWire { _, _ in
            try await Task.sleep(for: .seconds(60))
            return answer()
        }
        let session = try session(wire)
        do {
            let iterator = session.events(of: request()).makeAsyncIterator()
            _ = await iterator.next()
        }
        let end = ContinuousClock.now + .seconds(30)
        while session.queue.size > 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(session.queue.size == 0)
    }

    @Test("The response states whether it arrived compressed") func unpacked() async throws {
        let events = RequestEvents(request(), over: PackedWire())
        #expect(await names(events) == ["unpacked gzip", "headers 200", "chunk 1", "finished"])
    }

    /// A transport that decompresses its responses.
    private struct PackedWire: HTTPTransport {
        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            options.report?(.unpacked(coding: "gzip"))
            return answer(200, [:], "x")
        }
    }
}
