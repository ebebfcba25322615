import HTTPTypes
import ODataCache
import ODataClient
import ODataHTTP
import ODataService
import Synchronization
import Testing

@Suite("A cached transport distinguishes users")
struct CachingIdentityTests {
    /// A transport that answers each request with a new text, with an optional client certificate.
    private final class Way: HTTPTransport {
        let configuredIdentity: ClientIdentity?
        private let count = Mutex(0)

        init(_ identity: ClientIdentity? = nil) { configuredIdentity = identity }

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let fields: HTTPFields = [.cacheControl: "max-age=60"]
            return (HTTPResponse(status: .ok, headerFields: fields), ByteStream(Array("\(number)".utf8)))
        }
    }

    private let request = HTTPRequest(method: .get, scheme: "https", authority: "service.test", path: "/Orders")

    private func text(_ transport: any HTTPTransport, _ options: TransferOptions = TransferOptions()) async throws
        -> String
    {
        let (_, body) = try await transport.send(request, body: nil, options: options)
        return String(decoding: try await body.collect(limit: 100), as: UTF8.self)
    }

    @Test("Requests with different client certificates belong to different users")
    func certificatesOfRequests() async throws {
        let transport = CachingTransport(Way())
        let (ann, bob) = (ClientIdentity.pkcs12([1], passphrase: nil), ClientIdentity.pkcs12([2], passphrase: nil))
        let options = [TransferOptions(), TransferOptions(clientIdentity: ann), TransferOptions(clientIdentity: bob)]
        for (number, option) in options.enumerated() { #expect(try await text(transport, option) == "\(number + 1)") }
        for (number, option) in options.enumerated() { #expect(try await text(transport, option) == "\(number + 1)") }
    }

    @Test("Two transports with different certificates share a store but no responses")
    func certificatesOfTransports() async throws {
        let cache = ResponseCache()
        let ways = [Way(), Way(.pkcs12([1], passphrase: nil)), Way(.pem(chain: [1], key: [2]))]
        for way in ways { #expect(try await text(CachingTransport(way, cache: cache)) == "1") }
        // A wrapping transport returns the identity of the wrapped one.
        #expect(CachingTransport(ways[1]).configuredIdentity == ways[1].configuredIdentity)
        for way in ways { #expect(try await text(CachingTransport(CachingTransport(way), cache: cache)) == "1") }
    }
}
