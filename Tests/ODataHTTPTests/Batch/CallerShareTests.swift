import HTTPTypes
import ODataModel
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

/// Batches and retained responses, for which each caller has a limit of its own.
@Suite struct CallerShareTests {
    private static let batch = """
        POST /service/$batch
        Content-Type: application/json

        {"requests":[{"id":"1","method":"GET","url":"Products/$count"}]}
        """

    private func send(
        _ text: String, to handler: ODataHandler, as name: String
    ) async -> (status: Int, stream: ByteStream) {
        let budget = RequestBudget(.served, caller: CallerID(address: name))
        let (message, body) = Transcript.request(text)
        let (response, stream) = await RequestBudget.$current.withValue(budget) { await handler.handle(message, body) }
        return (response.status.code, stream)
    }

    @Test func `a caller may have so many batches answered at once, and another one still has its own`() async throws {
        let provider = try ScriptedProvider { _ in
            ODataResponse(body: .batch([BatchResult(id: "1", result: .success(ODataResponse(body: .count(1))))]))
        }
        let handler = try ODataHandler(
            provider: provider, serviceRoot: "/service/", options: .init(batchLimits: BatchLimits(count: 2)))
        var open: [ByteStream] = []
        for _ in 0..<2 {
            let answer = await send(Self.batch, to: handler, as: "192.0.2.1")
            #expect(answer.status == 200)
            open.append(answer.stream)
        }
        let refused = await send(Self.batch, to: handler, as: "192.0.2.1")
        #expect(refused.status == 429)
        let text = String(decoding: try await refused.stream.collect(limit: 10_000), as: UTF8.self)
        #expect(text.contains("TooManyBatches"))
        #expect(await send(Self.batch, to: handler, as: "192.0.2.2").status == 200)
        open.removeLast()
        #expect(await send(Self.batch, to: handler, as: "192.0.2.1").status == 200, "a place is free again")
        #expect(open.count == 1)
    }

    @Test(arguments: ["Products(1)", "Products", "Products(1)/Name"])
    func `a body that needs more memory than the request has is refused with 413`(url: String) async throws {
        let model = try ExampleService.model()
        let shape = try #require(model.shape(ofSet: "Products"))
        let name = ODataValue.string(String(repeating: "n", count: 1000))
        let product = ODataEntity(shape: shape, ["ID": 1, "Name": name])
        let handler = try ODataHandler(
            provider: try ScriptedProvider { _ in
                if url.hasSuffix("Name") { return ODataResponse(body: .value(name, .primitive(.string))) }
                let isOne = url.hasPrefix("Products(")
                return ODataResponse(
                    body: isOne
                        ? .entity(product) : .page(EntityPage(entities: Array(repeating: product, count: 20))))
            }, serviceRoot: "/service/")
        for (bytes, status) in [(900, 413), (1 << 20, 200)] {
            let budget = RequestBudget(.init(heldBytes: bytes))
            let (message, body) = Transcript.request("GET /service/\(url)\n\n")
            let (response, stream) = await RequestBudget.$current.withValue(budget) {
                await handler.handle(message, body)
            }
            #expect(response.status.code == status)
            let text = String(decoding: try await stream.collect(limit: 1 << 20), as: UTF8.self)
            #expect(text.contains("ResponseTooLarge") == (status == 413), "\(text.prefix(300))")
        }
    }

    @Test func `the batches of one caller share their memory`() throws {
        let share = MemoryShare(limit: 100)
        let (first, second) = (RequestBudget(.init(heldBytes: 80)), RequestBudget(.init(heldBytes: 80)))
        first.join(share)
        second.join(share)
        try first.hold(80)
        let error = #expect(throws: ODataError.self) { try second.hold(30) }
        #expect(error?.status == 429 && error?.code == "TooMuchAtOnce")
        first.release(10)
        try second.hold(30)
    }

    @Test func `one caller's kept responses leave room for those of others`() async throws {
        let monitors = StatusMonitors(
            limits: .init(maxTotalSize: 100, maxCountOfCaller: 3, maxSizeOfCaller: 80))
        let (ann, bob) = (CallerID(address: "192.0.2.1"), CallerID(address: "192.0.2.2"))
        func answer(_ caller: CallerID, _ size: Int) async throws -> (id: String, status: Int?) {
            let id = try #require(
                await monitors.begin(for: nil, caller) {
                    (HTTPResponse(status: .ok), ByteStream([UInt8](repeating: 0x78, count: size)))
                })
            await monitors.wait(for: id, atMost: .seconds(60))
            return (id, await status(id))
        }
        func status(_ id: String) async -> Int? {
            guard case .finished(let answer, _) = await monitors.state(of: id) else { return nil }
            return answer.head.status.code
        }
        let first = try await answer(ann, 40)
        let second = try await answer(ann, 40)
        #expect(first.status == 200 && second.status == 200)
        #expect(try await answer(ann, 10).status == 413, "the caller's own share is full")
        #expect(await monitors.begin(for: nil, ann) { (HTTPResponse(status: .ok), ByteStream([])) } == nil)
        let other = try await answer(bob, 50)
        #expect(other.status == 200)
        #expect(await status(first.id) == nil, "the caller with the most makes room")
        #expect(await status(second.id) == 200)
    }
}
