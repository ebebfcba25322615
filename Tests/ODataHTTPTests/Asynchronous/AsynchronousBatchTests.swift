import Foundation
import HTTPTypes
import ODataModel
import ODataService
import Testing

@testable import ODataHTTP

/// Asynchronous batches with interim results (OData Protocol 4.01, 11.7.6; OData JSON Format 4.01, 19.6).
@Suite struct AsynchronousBatchTests {
    /// A gate that stops a provider in the middle of a batch until the test opens it.
    private actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func pass() async { if !isOpen { await withCheckedContinuation { waiting.append($0) } } }
    }

    private struct Service {
        let gate = Gate()
        let handler: ODataHandler

        /// Creates a service that answers the last request of a batch when the gate opens, and those before it at
        /// once.
        init(_ monitors: StatusMonitors = StatusMonitors()) throws {
            let gate = gate
            let provider = try ScriptedProvider { request in
                guard case .batch(let items) = request.body else { return ODataResponse(body: .count(1)) }
                let results = items.enumerated().map { index, item in
                    BatchResult(id: item.id, result: .success(ODataResponse(body: .count(Int64(index + 1)))))
                }
                for result in results.dropLast() { await request.batchObserver?([result]) }
                await gate.pass()
                return ODataResponse(body: .batch(results))
            }
            handler = try ODataHandler(
                provider: provider, serviceRoot: "/service/", options: .init(statusMonitors: monitors))
        }

        func send(_ text: String) async throws -> (HTTPResponse, String) {
            let (message, body) = Transcript.request(text)
            let (response, stream) = await handler.handle(message, body)
            return (response, String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self))
        }

        func begin() async throws -> String {
            let requests = (1...3).map { #"{"id":"\#($0)","method":"get","url":"Products/$count"}"# }
            let (response, _) = try await send(
                """
                POST /service/$batch
                Content-Type: application/json
                Prefer: respond-async

                {"requests":[\(requests.joined(separator: ","))]}
                """)
            #expect(response.status == .accepted)
            return try path(response.headerFields[.location])
        }

        func path(_ url: String?) throws -> String { String(try #require(url).dropFirst("http://host".count)) }

        /// Returns the first response of a monitor other than 202.
        func result(_ path: String) async throws -> (HTTPResponse, String) {
            while true {
                let answer = try await send("GET \(path)\n\n")
                if answer.0.status != .accepted { return answer }
                await Task.yield()
            }
        }
    }

    @Test("19.6 (JSON) a monitor returns the available responses and the address of the others")
    func interimJSON() async throws {
        let service = try Service()
        let monitor = try await service.begin()
        let (interim, text) = try await service.send("GET \(monitor)\n\n")
        #expect(interim.status == .ok && interim.headerFields[.asyncResult] == "200")
        let next = "http://host\(monitor)?$skiptoken=2"
        #expect(text.contains(#""id":"1""#) && text.contains(#""id":"2""#) && !text.contains(#""id":"3""#), "\(text)")
        #expect(text.hasSuffix(#"],"@odata.nextLink":"\#(next)"}"#), "\(text)")
        // Without new results, the monitor responds with 202, and the first monitor repeats its response.
        let (waiting, _) = try await service.send("GET \(service.path(next))\n\n")
        #expect(waiting.status == .accepted && waiting.headerFields[.location] == next)
        #expect(try await service.send("GET \(monitor)\n\n").1 == text)
        await service.gate.open()
        let (last, rest) = try await service.result(service.path(next))
        #expect(last.headerFields[.asyncResult] == "200")
        #expect(rest.contains(#""id":"3""#) && !rest.contains(#""id":"2""#) && !rest.contains("nextLink"), "\(rest)")
        let (_, whole) = try await service.result(monitor)
        #expect((1...3).allSatisfy { whole.contains(#""id":"\#($0)""#) }, "\(whole)")
        #expect(try await service.send("GET \(monitor)?$skiptoken=4\n\n").0.status == .badRequest)
    }

    @Test("11.7.6 in multipart, the last part of a partial response is a 202 with the next address")
    func interimMultipart() async throws {
        let service = try Service()
        let part =
            "Content-Type: application/http\nContent-Transfer-Encoding: binary\n\nGET Products/$count HTTP/1.1\n\n\n"
        let (response, _) = try await service.send(
            """
            POST /service/$batch
            Content-Type: multipart/mixed;boundary=b
            Prefer: respond-async

            \((1...3).map { _ in "--b\n\(part)" }.joined())--b--

            """)
        #expect(response.status == .accepted)
        let monitor = try service.path(response.headerFields[.location])
        let (interim, text) = try await service.send("GET \(monitor)\n\n")
        #expect(interim.status == .ok, "\(text)")
        #expect(text.components(separatedBy: "HTTP/1.1 200 OK").count == 3, "\(text)")
        #expect(text.components(separatedBy: "HTTP/1.1 202 Accepted").count == 2, "\(text)")
        #expect(text.contains("Location: http://host\(monitor)?$skiptoken=2\r\n"), "\(text)")
        await service.gate.open()
        let (_, rest) = try await service.result("\(monitor)?$skiptoken=2")
        #expect(rest.components(separatedBy: "HTTP/1.1 200 OK").count == 2 && !rest.contains("202"), "\(rest)")
    }

    @Test func `the answers to a batch are kept once, and their room is free when they are gone`() async throws {
        // Three responses of one byte with two or three fields exceed the limit.
        let service = try Service(StatusMonitors(limits: .init(maxTotalSize: 300)))
        await service.gate.open()
        let first = try await service.begin()
        #expect(try await service.result(first).0.headerFields[.asyncResult] == "200")
        let second = try await service.begin()
        let (refused, text) = try await service.result(second)
        #expect(refused.headerFields[.asyncResult] == "413" && text.contains("AnswerTooLarge"), "\(text)")
        #expect(try await service.send("GET \(first)\n\n").1.contains(#""id":"3""#))
        #expect(try await service.send("DELETE \(first)\n\n").0.status == .noContent)
        #expect(try await service.result(service.begin()).0.headerFields[.asyncResult] == "200")
    }

    @Test func `answers over the limit are not kept, and the batch ends in an error`() async throws {
        let service = try Service(StatusMonitors(limits: .init(maxAnswerSize: 1)))
        let monitor = try await service.begin()
        // The first response fits, but is not retained after the second one.
        #expect(try await service.send("GET \(monitor)\n\n").0.status == .accepted)
        await service.gate.open()
        let (final, text) = try await service.result(monitor)
        #expect(final.headerFields[.asyncResult] == "413", "\(text)")
    }
}
