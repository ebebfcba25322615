import ForeignPrograms
import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import Testing

/// The accepted host names: a page that points its own host name to the server's address is refused.
@Suite struct HostTests {
    /// Answers with the URL with which links would begin.
    private static let address: ODataServer.IdentifiedHandler = { request, body, _ in
        _ = try? await body.collect(limit: 1 << 20)
        let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        return (HTTPResponse(status: .ok), ByteStream(Array(text.utf8)))
    }

    private static func answer(
        _ head: String, _ configuration: ODataServer.Configuration = .init()
    ) async throws -> String {
        try await withServer(configuration, handler: address) { (server: RunningServer) async throws in
            let connection = try RawConnection(port: server.port)
            let head = head.replacing("PORT", with: "\(server.port)")
            connection.send("\(head)\r\nConnection: close\r\n\r\n".utf8)
            let text = await connection.readToEnd()
            connection.close()
            return text.replacing("\(server.port)", with: "PORT")
        }
    }

    @Test(
        "addresses, loopback names and configured names are accepted",
        arguments: [
            "127.0.0.1", "localhost", "LocalHost.", "app.localhost:PORT", "[::1]:80", "192.0.2.7", "api.example:8443",
            "API.example", "127.0.0.1:",
        ])
    func accepted(host: String) async throws {
        var configuration = ODataServer.Configuration()
        configuration.hosts = AcceptedHosts(["Api.Example"])
        let answer = try await Self.answer("GET / HTTP/1.1\r\nHost: \(host)", configuration)
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("http://\(host)/"), "\(answer)")
    }

    @Test("the host name of the machine is accepted")
    func machine() async throws {
        let name = try await Command.run("uname", "-n").output.trimmingCharacters(in: .whitespacesAndNewlines)
        let answer = try await Self.answer("GET / HTTP/1.1\r\nHost: \(name)")
        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
    }

    @Test(
        "another name is refused with 421 for any method, except for the health",
        arguments: ["attacker.example:PORT", "127.0.0.1.attacker.example", "localhost.attacker.example", "2130706433"])
    func misdirected(host: String) async throws {
        for method in ["GET", "PATCH", "OPTIONS"] {
            let answer = try await Self.answer("\(method) /Customers HTTP/1.1\r\nHost: \(host)")
            #expect(answer.hasPrefix("HTTP/1.1 421") && !answer.contains("attacker"), "\(answer)")
        }
        let health = try await Self.answer("GET /health HTTP/1.1\r\nHost: \(host)", .init(health: HealthEndpoint()))
        #expect(health.hasPrefix("HTTP/1.1 200") && health.contains("pass"), "\(health)")
    }

    @Test(
        "missing, repeated and invalid hosts are refused with 400",
        arguments: [
            "X: y", "Host: localhost\r\nHost: localhost", "Host: localhost\r\nHost: attacker.example", "Host: ",
            "Host: a\"b<script>", "Host: user@localhost", "Host: localhost:x", "Host: localhost:99999", "Host: [::1",
            "Host: local host", "Host: localhost/", "Host: localhost, localhost", "Host: [fe80::1%25eth0]",
        ])
    func invalid(fields: String) async throws {
        let answer = try await Self.answer("GET / HTTP/1.1\r\n\(fields)", .init(health: HealthEndpoint(path: "/")))
        #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
        #expect(!answer.contains("script"))
    }

    @Test("an invalid HTTP message gets an error object")
    func malformed() async throws {
        let method = try await Self.answer("FOO /Products HTTP/1.1\r\nHost: localhost")
        #expect(method.hasPrefix("HTTP/1.1 501") && method.contains(#"{"error":{"code":"NotImplemented""#), "\(method)")
        #expect(method.contains("OData-Version: 4.01") || method.contains("odata-version: 4.01"), "\(method)")
        let bytes = try await Self.answer("GET /\u{E9} HTTP/1.1\r\nHost: localhost")
        #expect(bytes.hasPrefix("HTTP/1.1 400") && bytes.contains(#"{"error":{"code":"#), "\(bytes)")
        #expect(try await Self.answer("GET / HTTP/9.9.9\r\nHost: localhost").contains(#"{"error":{"code":"#))
    }

    @Test("the authority of a URL in absolute form wins over Host")
    func absoluteForm() async throws {
        let wins = try await Self.answer("GET http://127.0.0.1:PORT/a?b=1 HTTP/1.1\r\nHost: attacker.example")
        #expect(wins.hasSuffix("http://127.0.0.1:PORT/a?b=1"), "\(wins)")
        let bare = try await Self.answer("GET http://localhost HTTP/1.1\r\nHost: localhost")
        #expect(bare.hasSuffix("http://localhost/"), "\(bare)")
        for (target, status) in [
            ("http://attacker.example/", 421), ("https://localhost/", 400), ("http://user@localhost/", 400),
            ("ftp://localhost/", 400), ("localhost/", 400),
        ] {
            let answer = try await Self.answer("GET \(target) HTTP/1.1\r\nHost: localhost")
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(target): \(answer)")
        }
    }

    @Test("an HTTP/1.0 request without a host uses the local address")
    func oldVersion() async throws {
        let answer = try await Self.answer("GET / HTTP/1.0")
        #expect(answer.contains(" 200 ") && answer.hasSuffix("http://127.0.0.1:PORT/"), "\(answer)")
    }

    @Test(
        "unknown transfer codings are refused with 501, and faulty framing with 400",
        arguments: [
            ("Transfer-Encoding: gzip\r\n\r\nabc", 501), ("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
            ("Transfer-Encoding: identity\r\n\r\nabc", 501),
            ("Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("Expect: a miracle\r\nContent-Length: 0\r\n\r\n", 417),
        ])
    func framing(rest: String, status: Int) async throws {
        try await withServer(handler: Self.address) { (server: RunningServer) async throws in
            let connection = try RawConnection(port: server.port)
            connection.send("POST / HTTP/1.1\r\nHost: localhost\r\n\(rest)".utf8)
            let answer = await connection.readToEnd(untilHead: true)
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
            connection.close()
        }
    }

    @Test(
        "a chunk with an invalid length is refused with 400",
        arguments: ["zz\r\nab\r\n", "-1\r\nab\r\n", "3\r\nab", "fffffffffffffffff\r\n"])
    func brokenChunk(chunk: String) async throws {
        let provider = NoRows()
        let handler = try ODataHandler(provider: provider, serviceRoot: "/")
        try await withServer(handler: { await handler.handle($0, $1, principal: $2) }) {
            (server: RunningServer) async throws in
            let connection = try RawConnection(port: server.port)
            let head = "POST /Items HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.send("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunk)\r\n\r\n".utf8)
            let answer = await connection.readToEnd(untilHead: true)
            #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
            connection.close()
        }
    }
}

/// A provider for tests that read requests and do not execute them.
private struct NoRows: ODataProvider {
    var model: EntityDataModel {
        get async throws {
            try CSDLReader.read(
                Array(
                    """
                    <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
                    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N"><EntityType Name="Item"><Key>
                    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                    <EntityContainer Name="C"><EntitySet Name="Items" EntityType="N.Item"/></EntityContainer></Schema>
                    </edmx:DataServices></edmx:Edmx>
                    """.utf8))
        }
    }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse { ODataResponse(status: 204) }
}
