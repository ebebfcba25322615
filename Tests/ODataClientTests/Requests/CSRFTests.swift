import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

/// Tokens against cross-site request forgery in the protocol of SAP Gateway.
@Suite struct CSRFTests {
    private static let orders = "{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}"
    private static let order = "{\"@odata.context\":\"$metadata#Orders/$entity\",\"ID\":1}"

    /// Returns a service that issues tokens to reads, and refuses changes without the newest token.
    private func gateway(_ tokens: [String], refusing expired: Set<String> = []) -> WireScript {
        let given = Mutex(0)
        return WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            if sent.message.method == .get {
                let body = sent.message.path == "/shop/" ? "{}" : Self.orders
                guard sent["X-CSRF-Token"] == "Fetch" else { return .json(body) }
                let token = given.withLock { number in
                    number += 1
                    return tokens[min(number, tokens.count) - 1]
                }
                return .json(body, ["X-CSRF-Token": token])
            }
            let token = sent["X-CSRF-Token"]
            guard let token, !expired.contains(token) else {
                return .refusal(403, ["X-CSRF-Token": "Required"])
            }
            return .json(Self.order, status: 201)
        }
    }

    private func create(_ client: ODataClient, _ id: Int64) async throws {
        try await DataService(client).create(
            try await ShopMetadata.entity(["ID": .integer(id)], of: client), in: "Orders")
    }

    @Test func `the first read fetches the token, changes carry it, later reads do not ask again`() async throws {
        let transport = gateway(["a"])
        let client = try transport.client()
        _ = try await DataService(client).entities("Orders")
        _ = try await DataService(client).entities("Orders")
        try await create(client, 1)
        #expect(transport.sent.map { $0["X-CSRF-Token"] } == ["Fetch", nil, "a"])
    }

    @Test func `a change refused for want of a token is sent again with a new one, once`() async throws {
        let transport = gateway(["old", "new"], refusing: ["old"])
        let client = try transport.client()
        _ = try await DataService(client).entities("Orders")
        try await create(client, 1)
        #expect(transport.sent.map { $0["X-CSRF-Token"] } == ["Fetch", "old", "Fetch", "new"])
        #expect(transport.sent[1].body == transport.sent[3].body)
        let hopeless = gateway(["x"], refusing: ["x"])
        let other = try hopeless.client()
        await #expect(throws: ODataError.self) { try await create(other, 1) }
        #expect(hopeless.sent.filter { $0.message.method == .post }.count == 2)
    }

    @Test func `without a read before it, a change gets its token when it is refused, or waits for one`() async throws {
        let automatic = gateway(["a"])
        try await create(try automatic.client(), 1)
        #expect(automatic.sent.map(\.line) == ["POST /shop/Orders", "GET /shop/", "POST /shop/Orders"])
        let always = gateway(["a"])
        try await create(try always.client(.init(csrf: .always)), 1)
        #expect(always.sent.map(\.line) == ["GET /shop/", "POST /shop/Orders"])
    }

    @Test func `the token is asked for with the options that go with every request, such as the client of a system`()
        async throws
    {
        let transport = gateway(["a"])
        try await create(try transport.client(.init(options: ["sap-client": "100"], csrf: .always)), 1)
        #expect(transport.sent.map(\.line) == ["GET /shop/?sap-client=100", "POST /shop/Orders?sap-client=100"])
        #expect(transport.sent.last?["X-CSRF-Token"] == "a")
    }

    @Test(arguments: [[:], ["sap-client": "100"]])
    func `metadata without a token do not mean that there are none`(_ options: [String: String]) async throws {
        let transport = gateway(["a"])
        let client = try transport.client(.init(options: options))
        _ = try await client.model
        _ = try await DataService(client).entities("Orders")
        try await create(client, 1)
        #expect(transport.sent.map { $0["X-CSRF-Token"] } == ["Fetch", "a"])
    }

    @Test func `a body that cannot be sent again waits for a token`() async throws {
        let transport = gateway(["a"])
        let client = try transport.client()
        let once = ByteStream([1, 2, 3])
        let stream = ByteStream { try await once.next() }
        _ = try? await DataService(client).createMedia(in: "Photos", stream, contentType: "image/png")
        #expect(transport.sent.map(\.line) == ["GET /shop/", "POST /shop/Photos"])
    }

    @Test func `a service without tokens is asked once, and 403 for another reason is not repeated`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, _ in
            sent.message.method == .get ? .json(Self.orders) : .refusal(403)
        }
        let client = try transport.client()
        _ = try await DataService(client).entities("Orders")
        _ = try await DataService(client).entities("Orders")
        let error = await #expect(throws: ODataError.self) { try await create(client, 1) }
        #expect(error?.status == 403)
        #expect(transport.sent.map { $0["X-CSRF-Token"] } == ["Fetch", nil, nil])
        let off = gateway(["a"])
        _ = try await DataService(try off.client(.init(csrf: .off))).entities("Orders")
        #expect(off.sent[0]["X-CSRF-Token"] == nil)
    }

    @Test func `a refusal to give a token does not mean that there are none`() async throws {
        let transport = WireScript(metadata: ShopMetadata.v4()) { sent, number in
            guard sent.message.method == .get else {
                return sent["X-CSRF-Token"] == "a"
                    ? .json(Self.order, status: 201) : .refusal(403, ["X-CSRF-Token": "Required"])
            }
            return number == 0 ? .refusal(403) : .json("{}", ["X-CSRF-Token": "a"])
        }
        let client = try transport.client()
        let photo = ByteStream([1, 2, 3])
        func upload() async throws {
            let stream = ByteStream { try await photo.next() }
            _ = try await DataService(client).createMedia(in: "Photos", stream, contentType: "image/png")
        }
        await #expect(throws: ODataError.self) { try await upload() }
        _ = try? await upload()
        #expect(transport.sent.map(\.line).suffix(2) == ["GET /shop/", "POST /shop/Photos"])
        #expect(transport.sent.last?["X-CSRF-Token"] == "a")
    }

    @Test func `many changes at once wait for one token`() async throws {
        let transport = gateway(["a"])
        let client = try transport.client(.init(csrf: .always))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...8 { group.addTask { try await create(client, Int64(id)) } }
            try await group.waitForAll()
        }
        #expect(transport.sent.filter { $0.message.method == .get }.count == 1)
        #expect(transport.sent.filter { $0["X-CSRF-Token"] == "a" }.count == 8)
    }

    // MARK: Tokens of a session

    /// A service with a token for each session, like SAP Gateway, which identifies a session by its cookie. Its
    /// responses are streamed in chunks, like compressed ones.
    private final class SessionService: HTTPTransport {
        private struct State {
            var sessions: Set<String> = []
            var given = 0
        }

        private let state = Mutex(State())
        private let lifetime: String
        let script = WireScript(metadata: ShopMetadata.v4()) { _, _ in .json(CSRFTests.orders) }
        let changes = Mutex<[Int]>([])
        let fetches = Mutex(0)

        init(lifetime: String = "") { self.lifetime = lifetime }

        /// Ends all sessions, as a restart of a service does.
        func restart() { state.withLock { $0.sessions = [] } }

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            if request.path?.hasSuffix("$metadata") ?? false {
                return try await script.send(request, body: body, options: options)
            }
            _ = try await body?.collect(limit: 1 << 20)
            let token = HTTPField.Name("X-CSRF-Token") ?? .accept
            let sent = request.headerFields[.cookie].map { $0.split(separator: "; ").map(String.init) } ?? []
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/json"
            if request.method == .get {
                if request.headerFields[token] == "Fetch" {
                    fetches.withLock { $0 += 1 }
                    let session = state.withLock { state in
                        if let known = sent.first(where: state.sessions.contains) { return known }
                        state.given += 1
                        state.sessions.insert("SAP_SESSIONID=\(state.given)")
                        return "SAP_SESSIONID=\(state.given)"
                    }
                    response.headerFields[.setCookie] = "\(session); Path=/\(lifetime)"
                    response.headerFields[token] = "token of \(session)"
                }
                return (response, Self.chunks(CSRFTests.orders))
            }
            let session = sent.first { name in state.withLock { $0.sessions.contains(name) } }
            guard let session, request.headerFields[token] == "token of \(session)" else {
                changes.withLock { $0.append(403) }
                response.status = .forbidden
                response.headerFields[token] = "Required"
                return (response, Self.chunks("{\"error\":{\"code\":\"E\",\"message\":\"No.\"}}"))
            }
            changes.withLock { $0.append(201) }
            response.status = .created
            return (response, Self.chunks(CSRFTests.order))
        }

        private static func chunks(_ text: String) -> ByteStream {
            let once = ByteStream(Array(text.utf8))
            return ByteStream { try await once.next() }
        }
    }

    private static let root = "https://service.test/shop/"

    @Test func `a token goes with the cookie of the session that it was given to`() async throws {
        let service = SessionService()
        let client = try ODataClient(serviceRoot: Self.root, transport: service)
        _ = try await DataService(client).entities("Orders")
        try await create(client, 1)
        try await create(client, 2)
        #expect(service.changes.withLock { $0 } == [201, 201])
        #expect(client.session?.configuration.cookies?.cookies.map(\.name) == ["SAP_SESSIONID"])
    }

    @Test func `after the end of a session, one new token serves all changes, and none waits for another`()
        async throws
    {
        let service = SessionService()
        let client = try ODataClient(serviceRoot: Self.root, transport: service)
        _ = try await DataService(client).entities("Orders")
        service.restart()
        // The number exceeds the limit of concurrent requests: refused changes must not occupy the places that
        // the request for a new token needs.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...12 { group.addTask { try await create(client, Int64(id)) } }
            try await group.waitForAll()
        }
        #expect(service.changes.withLock { $0.filter { $0 == 201 }.count } == 12)
        #expect(service.fetches.withLock { $0 } == 2)
    }

    @Test func `a cookie that has expired here takes its token with it`() async throws {
        let service = SessionService(lifetime: "; Max-Age=0")
        let client = try ODataClient(serviceRoot: Self.root, transport: service)
        _ = try await DataService(client).entities("Orders")
        await #expect(throws: ODataError.self) { try await create(client, 1) }
        #expect(service.changes.withLock { $0 } == [403, 403], "once more, and not for ever")
    }

    @Test func `a body that cannot be sent again gets a new token, since the session may have ended`() async throws {
        let service = SessionService()
        let client = try ODataClient(serviceRoot: Self.root, transport: service)
        _ = try await DataService(client).entities("Orders")
        service.restart()
        let once = ByteStream([1, 2, 3])
        let stream = ByteStream { try await once.next() }
        _ = try? await DataService(client).createMedia(in: "Photos", stream, contentType: "image/png")
        #expect(service.changes.withLock { $0 } == [201])
    }

    @Test func `each client has a session of its own, and clients share one that they are given`() async throws {
        let service = SessionService()
        let configuration = ODataClient.Configuration()
        for _ in 1...2 {
            let client = try ODataClient(serviceRoot: Self.root, transport: service, configuration: configuration)
            _ = try await DataService(client).entities("Orders")
        }
        let session = try HTTPSession(service, serviceRoot: Self.root)
        for _ in 1...2 {
            let client = try ODataClient(serviceRoot: Self.root, transport: session)
            _ = try await DataService(client).entities("Orders")
        }
        #expect(session.configuration.cookies?.cookies.map(\.value) == ["3"])
    }
}
