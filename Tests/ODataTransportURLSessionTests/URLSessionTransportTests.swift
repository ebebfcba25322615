import HTTPTypes
import ODataHTTP
import ODataService
import ODataTransportConformance
import ODataTransportURLSession
import Testing

@Suite struct URLSessionTransportTests {
    /// The abilities of `URLSession` on this platform. Foundation on Linux does not stream uploads, slow a
    /// service down or report times.
    private static let abilities: Set<TransportAbility> = {
        var abilities: Set<TransportAbility> = [
            .joinsCookies, .sockets, .streamsDownloads, .unpacks, .closesUnread, .noticesTruncation,
        ]
        #if canImport(Darwin)
            abilities.formUnion([.streamsUploads, .holdsBack, .tellsMoments])
        #endif
        return abilities
    }()

    private static let subject = TransportSubject {
        ($0 as? URLSessionTransport)?.shutdown()
    } make: { silence in
        URLSessionTransport(configuration: .init(timeout: silence))
    }

    @Test(.serialized, arguments: TransportCheck.all(for: abilities))
    func conforms(check: TransportCheck) async throws {
        try await check.run(on: Self.subject)
    }

    @Test func `an upload over the limit is refused before anything is sent`() async throws {
        let transport = URLSessionTransport(configuration: .init(maxUploadSize: 10))
        await #expect(throws: ODataError.self) {
            _ = try await transport.send(
                HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:1", path: "/"),
                body: ByteStream([UInt8](repeating: 0, count: 11)))
        }
        transport.shutdown()
    }
}
