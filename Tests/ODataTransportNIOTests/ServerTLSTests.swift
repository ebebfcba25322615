import ForeignPrograms
import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Testing

/// TLS of the server as a foreign client sees it.
@Suite struct ServerTLSTests {
    private func curl(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Command.run(["curl", "--silent", "--max-time", "30"] + arguments)
    }

    private static let who: ODataServer.IdentifiedHandler = { _, _, principal in
        (HTTPResponse(status: .ok), ByteStream(Array((principal?.name ?? "nobody").utf8)))
    }

    @Test func `clients that can speak HTTP/2 do, others speak HTTP/1.1`() async throws {
        let files = try TestCertificates()
        let tls = ODataServer.TLS(certificateChainFile: files.chain, privateKeyFile: files.key)
        let server = try await ODataServer(configuration: .init(tls: tls), handler: Self.who).start()
        let url = "https://localhost:\(server.port)/"
        for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
            let answer = try await curl([option, "--cacert", files.authority, "--write-out", "|%{http_version}", url])
            #expect(answer.output == "nobody|\(version)")
        }
        await server.stop()
    }

    @Test func `a client certificate of a trusted authority identifies the caller, and is required`() async throws {
        let files = try TestCertificates()
        let tls = ODataServer.TLS(
            certificateChainFile: files.chain, privateKeyFile: files.key, clientAuthorities: files.authority)
        let configuration = ODataServer.Configuration(tls: tls, authentication: [ClientCertificateAuthentication()])
        let server = try await ODataServer(configuration: configuration, handler: Self.who).start()
        let url = "https://localhost:\(server.port)/"
        for version in ["--http2", "--http1.1"] {
            let known = try await curl(
                [version, "--cacert", files.authority, "--cert", files.chain, "--key", files.key, url])
            #expect(known.output == "test")
        }
        let nobody = try await curl(["--cacert", files.authority, url])
        #expect(nobody.status != 0)
        let strangers = try TestCertificates()
        let stranger = try await curl(
            ["--cacert", files.authority, "--cert", strangers.chain, "--key", strangers.key, url])
        #expect(stranger.status != 0)
        await server.stop()
    }
}
