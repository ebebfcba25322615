import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import ODataTransportNIO
import OfflineOData
import Synchronization
import Testing

@Suite("A token that expires in the middle of a synchronisation", Patience.limit)
struct TokenExpiryTests {
    /// A server of tokens that are valid for a few requests each.
    private final class Gate: Sendable {
        private struct State {
            var token = 0
            var left = 0
            var refused = 0
        }

        private let state = Mutex(State())
        let uses: Int

        init(uses: Int) { self.uses = uses }

        var tokens: Int { state.withLock { $0.token } }
        var refused: Int { state.withLock { $0.refused } }

        func newToken() -> String {
            state.withLock { state in
                state.token += 1
                state.left = uses
                return "token-\(state.token)"
            }
        }

        func admits(_ request: HTTPRequest) -> Bool {
            state.withLock { state in
                guard request.headerFields[.authorization] == "Bearer token-\(state.token)", state.left > 0 else {
                    state.refused += 1
                    return false
                }
                state.left -= 1
                return true
            }
        }
    }

    @Test("is renewed, and download and upload continue without repeating anything")
    func renewed() async throws {
        let shop = try await Shop(pageSize: 7)
        let gate = Gate(uses: 3)
        let handler = ODataHandler(provider: shop.database)
        let server = try await ODataServer(configuration: .init()) { request, body in
            guard gate.admits(request) else {
                var response = HTTPResponse(status: .unauthorized)
                response.headerFields[.wwwAuthenticate] = "Bearer error=\"invalid_token\""
                return (response, ByteStream([]))
            }
            return await handler.handle(request, body)
        }.start()
        let transport = try NIOTransport()
        let client = try ODataClient(
            serviceRoot: "http://127.0.0.1:\(server.port)/", transport: transport,
            authentication: Authentication(TokenAuthentication(.bearer) { _ in gate.newToken() }))
        // Parallel queries must not use up the token of another request.
        var options = OfflineStore.Options()
        options.sync.parallelQueries = 1
        let store = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("clone").path, protection: .unencrypted,
            serviceRoot: "http://127.0.0.1:\(server.port)/", remote: client, options: options)
        let download = try await store.download()
        #expect(download.inserted > 300)
        let afterDownload = gate.tokens
        #expect(afterDownload > 10 && gate.refused > 10, "tokens expired between pages")
        for number in 1...9 { try await store.update("Customers('C000\(number)')", ["City": "Mine"]) }
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        let synced = try await store.sync()
        #expect(synced.upload.accepted.count == 10)
        #expect(synced.upload.failed.map(\.description) == [])
        #expect(gate.tokens > afterDownload + 3, "tokens expired within the upload")
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        try await shop.expectEqual(store)
        try store.close()
        try await transport.shutdown()
        await server.stop()
    }
}
