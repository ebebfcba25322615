import HTTPTypes
import ODataModel
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

/// Asynchronous requests (OData Protocol 4.01, 11.6 and 4.0, 11.6).
@Suite struct AsynchronousTests {
    /// A service that responds when the test allows it.
    private final class Service: Sendable {
        let handler: ODataHandler
        private let gate = Gate()

        actor Gate {
            private var isOpen = false
            private var waiting: [CheckedContinuation<Void, Never>] = []
            func open() {
                isOpen = true
                for continuation in waiting { continuation.resume() }
            }
            func pass() async {
                if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            }
        }

        init(_ monitors: StatusMonitors = StatusMonitors()) throws {
            let gate = gate
            let provider = try ScriptedProvider { request in
                await gate.pass()
                if request.method == .delete { throw ODataError.notFound("Products(1)") }
                return ODataResponse(body: .count(42))
            }
            handler = try ODataHandler(
                provider: provider, serviceRoot: "/service/", options: .init(statusMonitors: monitors))
        }

        func finish() async { await gate.open() }

        func send(_ text: String) async throws -> (HTTPResponse, String) {
            let (message, body) = Transcript.request(text)
            let (response, stream) = await handler.handle(message, body)
            return (response, String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self))
        }

        /// Sends requests to a monitor until the asynchronous request has finished.
        func result(_ path: String, _ fields: String = "") async throws -> (HTTPResponse, String) {
            while true {
                let answer = try await send("GET \(path)\n\(fields)\n")
                if answer.0.status != .accepted { return answer }
                await Task.yield()
            }
        }
    }

    private func path(_ response: HTTPResponse) throws -> String {
        String(try #require(response.headerFields[.location]).dropFirst("http://host".count))
    }

    @Test("8.2.8.8 respond-async is 202 with Location, Retry-After and Preference-Applied")
    func accepted() async throws {
        let service = try Service()
        let (response, body) = try await service.send("GET /service/Products/$count\nPrefer: respond-async\n\n")
        #expect(response.status == .accepted && body.isEmpty)
        #expect(response.headerFields[.location]?.hasPrefix("http://host/service/$async/") == true)
        #expect(response.headerFields[.retryAfter] == "1")
        #expect(response.headerFields[.preferenceApplied] == "respond-async")
        let (running, _) = try await service.send("GET \(path(response))\n\n")
        #expect(running.status == .accepted)
        #expect(running.headerFields[.location] == response.headerFields[.location])
        await service.finish()
        let (final, text) = try await service.result(path(response))
        #expect(final.status == .ok && text == "42")
        #expect(final.headerFields[.contentType] == "text/plain")
    }

    @Test("8.3.1 the final response has the status in AsyncResult")
    func asyncResult() async throws {
        let service = try Service()
        await service.finish()
        let (response, _) = try await service.send("DELETE /service/Products(1)\nPrefer: respond-async\n\n")
        let (final, text) = try await service.result(try path(response))
        #expect(final.status == .ok)
        #expect(final.headerFields[.asyncResult] == "404")
        #expect(text.hasPrefix("{\"error\":{\"code\":\"NotFound\""))
    }

    @Test(
        "12.1.1 item 16: clients of 4.0, and those that accept it, get application/http",
        arguments: [
            "OData-MaxVersion: 4.0\n", "OData-MaxVersion: 4.0\nAccept: application/http\n",
            "Accept: application/http\n",
        ])
    func applicationHTTP(_ fields: String) async throws {
        let service = try Service()
        await service.finish()
        let (response, _) = try await service.send("GET /service/Products/$count\nPrefer: respond-async\n\n")
        let (final, text) = try await service.result(try path(response), fields)
        #expect(final.headerFields[.contentType] == "application/http")
        #expect(final.headerFields[.asyncResult] == "200")
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nOData-Version: 4.01\r\n"))
        #expect(text.contains("\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n42"))
    }

    @Test("11.6 a monitor uses the version of the first request unless its own request states one")
    func versionOfFirstRequest() async throws {
        let service = try Service()
        await service.finish()
        let (response, _) = try await service.send(
            "GET /service/Products/$count\nPrefer: respond-async\nOData-MaxVersion: 4.0\n\n")
        let (final, text) = try await service.result(try path(response))
        #expect(final.headerFields[.contentType] == "application/http")
        #expect(final.headerFields[.odataVersion] == "4.0")
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nOData-Version: 4.0\r\n"))
        let (bare, number) = try await service.result(try path(response), "OData-MaxVersion: 4.01\n")
        #expect(bare.headerFields[.contentType] == "text/plain" && number == "42")
    }

    @Test("8.2.8.10 a request that finishes within wait is answered at once")
    func wait() async throws {
        let service = try Service()
        let slow = try await service.send("GET /service/Products/$count\nPrefer: respond-async, wait=1\n\n")
        #expect(slow.0.status == .accepted)
        await service.finish()
        let quick = try await service.send("GET /service/Products/$count\nPrefer: respond-async, wait=30\n\n")
        #expect(quick.0.status == .ok && quick.1 == "42")
        #expect(quick.0.headerFields[.preferenceApplied] == nil)
    }

    @Test("11.6 DELETE of a monitor cancels the request and removes the monitor")
    func cancel() async throws {
        let service = try Service()
        let (response, _) = try await service.send("GET /service/Products/$count\nPrefer: respond-async\n\n")
        let path = try path(response)
        #expect(try await service.send("PUT \(path)\n\n").0.status == .methodNotAllowed)
        #expect(try await service.send("DELETE \(path)\n\n").0.status == .noContent)
        #expect(try await service.send("GET \(path)\n\n").0.status == .notFound)
        #expect(try await service.send("DELETE \(path)\n\n").0.status == .notFound)
        await service.finish()
    }

    @Test func `answers are kept for a time, and not more of them than the limit`() async throws {
        let time = Mutex(ContinuousClock.now)
        let monitors = StatusMonitors(limits: .init(maxCount: 1, lifetime: .seconds(60))) { time.withLock { $0 } }
        let service = try Service(monitors)
        await service.finish()
        let (response, _) = try await service.send("GET /service/Products/$count\nPrefer: respond-async\n\n")
        _ = try await service.result(try path(response))
        let (full, text) = try await service.send("GET /service/Products/$count\nPrefer: respond-async\n\n")
        #expect(full.status == .ok && text == "42")
        time.withLock { $0 += .seconds(61) }
        #expect(try await service.send("GET \(path(response))\n\n").0.status == .notFound)
    }

    @Test func `an answer over the limit is kept as an error`() async throws {
        let service = try Service(StatusMonitors(limits: .init(maxAnswerSize: 1)))
        await service.finish()
        let (response, _) = try await service.send("GET /service/Products/$count\nPrefer: respond-async\n\n")
        let (final, _) = try await service.result(try path(response))
        #expect(final.headerFields[.asyncResult] == "413")
    }

    @Test func `an answer that has no room beside the others is kept as an error until they are gone`() async throws {
        let monitors = StatusMonitors(limits: .init(maxTotalSize: 10))
        func answer() async throws -> (id: String, status: Int, text: String) {
            let id = try #require(
                await monitors.begin { (HTTPResponse(status: .ok), ByteStream([UInt8](repeating: 0x78, count: 8))) })
            await monitors.wait(for: id, atMost: .seconds(60))
            guard case .finished(let answer, _) = await monitors.state(of: id) else { return (id, 0, "") }
            return (id, answer.head.status.code, String(decoding: answer.body, as: UTF8.self))
        }
        let first = try await answer()
        #expect(first.status == 200 && first.text == "xxxxxxxx")
        let second = try await answer()
        #expect(second.status == 413 && second.text.contains("AnswerTooLarge"), "\(second)")
        #expect(await monitors.cancel(first.id))
        #expect(try await answer().status == 200)
    }

    @Test func `only the caller of a request gets the answer`() async throws {
        let monitors = StatusMonitors()
        let service = try Service(monitors)
        await service.finish()
        let ann = Principal(name: "ann")
        let (request, body) = Transcript.request("GET /service/Products/$count\nPrefer: respond-async\n\n")
        let (accepted, _) = await service.handler.handle(request, body, principal: ann)
        let (look, nothing) = Transcript.request("GET \(try path(accepted))\n\n")
        #expect(await service.handler.handle(look, nothing, principal: Principal(name: "bob")).0.status == .notFound)
        #expect(await service.handler.handle(look, nothing).0.status == .notFound)
        #expect([.ok, .accepted].contains(await service.handler.handle(look, nothing, principal: ann).0.status))
    }

    @Test("11.7.7.6 a whole batch may be answered later")
    func batch() async throws {
        let provider = try ScriptedProvider { request in
            guard case .batch(let items) = request.body else { return ODataResponse() }
            return ODataResponse(
                body: .batch(items.map { BatchResult(id: $0.id, result: .success(ODataResponse(body: .count(1)))) }))
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request(
            """
            POST /service/$batch
            Content-Type: application/json
            Prefer: respond-async, wait=60

            {"requests":[{"id":"1","method":"get","url":"Products/$count","headers":{"prefer":"respond-async"}}]}
            """)
        let (response, stream) = await handler.handle(message, body)
        let text = String(decoding: try await stream.collect(limit: 10_000), as: UTF8.self)
        #expect(response.status == .ok && text.contains("\"status\":200"), "\(text)")
    }
}
