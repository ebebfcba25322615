import ForeignPrograms
import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Testing

/// Client certificates in combination with passwords, and revoked certificates.
@Suite struct ClientCertificateTests {
    private static let who: ODataServer.IdentifiedHandler = { _, _, principal in
        (HTTPResponse(status: .ok), ByteStream(Array((principal?.name ?? "nobody").utf8)))
    }

    /// A certificate authority created with OpenSSL, for a server and two clients.
    private final class Authority {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString)")

        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

        init() async throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try """
            [ca]
            default_ca=own
            [own]
            dir=\(folder.path)
            database=$dir/index.txt
            crlnumber=$dir/crlnumber
            default_md=sha256
            default_crl_days=1
            """.write(toFile: path("ca.cnf"), atomically: true, encoding: .utf8)
            try "".write(toFile: path("index.txt"), atomically: true, encoding: .utf8)
            try "01\n".write(toFile: path("crlnumber"), atomically: true, encoding: .utf8)
            try await openssl(
                ["req", "-x509", "-subj", "/CN=authority", "-keyout", path("ca.key"), "-out", path("ca.pem")] + key)
            for name in ["server", "ann", "bob"] {
                let subject = name == "server" ? "localhost" : name
                try await openssl(
                    ["req", "-subj", "/CN=\(subject)", "-keyout", path("\(name).key"), "-out", path("\(name).csr")]
                        + key)
                try await openssl([
                    "x509", "-req", "-in", path("\(name).csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
                    "-CAcreateserial", "-days", "1", "-out", path("\(name).pem"),
                ])
            }
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]

        private func openssl(_ arguments: [String]) async throws {
            let outcome = try await Command.run(["openssl"] + arguments)
            guard outcome.status == 0 else { throw CocoaError(.executableLoad, userInfo: ["output": outcome.output]) }
        }

        func revoke(_ name: String) async throws {
            let own = ["ca", "-config", path("ca.cnf"), "-cert", path("ca.pem"), "-keyfile", path("ca.key")]
            try await openssl(own + ["-revoke", path("\(name).pem")])
        }

        func writeList(_ extra: [String] = []) async throws {
            let own = ["ca", "-config", path("ca.cnf"), "-cert", path("ca.pem"), "-keyfile", path("ca.key")]
            try await openssl(own + ["-gencrl", "-out", path("crl.pem")] + extra)
        }

        func tls(lists: Bool = false) -> ODataServer.TLS {
            ODataServer.TLS(
                certificateChainFile: path("server.pem"), privateKeyFile: path("server.key"),
                clientAuthorities: path("ca.pem"), revocationLists: lists ? path("crl.pem") : nil)
        }

        /// Returns the body and the status of a client's request.
        func get(_ server: RunningServer, _ client: String?, user: String? = nil) async throws -> String {
            var arguments = ["--cacert", path("ca.pem"), "--write-out", "|%{http_code}", "--max-time", "30"]
            if let client { arguments += ["--cert", path("\(client).pem"), "--key", path("\(client).key")] }
            if let user { arguments += ["--user", user] }
            let text = try await Command.curl(arguments + ["https://localhost:\(server.port)/"])
            return text.hasPrefix("{") ? String(text.split(separator: "|").last ?? "") : text
        }
    }

    private static let users = BasicAuthentication(users: ["alice": "right"])

    @Test("certificate and password are both required if both are configured")
    func both() async throws {
        let authority = try await Authority()
        let ways: [any RequestAuthenticator] = [ClientCertificateAuthentication(), Self.users]
        try await withServer(.init(tls: authority.tls(), authentication: ways), handler: Self.who) {
            (server: RunningServer) async throws in
            #expect(try await authority.get(server, "ann") == "401")
            #expect(try await authority.get(server, "ann", user: "alice:WRONG") == "401")
            #expect(try await authority.get(server, "ann", user: "nobody:right") == "401")
            #expect(try await authority.get(server, "ann", user: "alice:right") == "alice|200")
            #expect(try await authority.get(server, nil, user: "alice:right") == "|000")
        }
    }

    @Test("one of both is enough if configured, and wrong credentials are still refused")
    func either() async throws {
        let authority = try await Authority()
        let ways: [any RequestAuthenticator] = [ClientCertificateAuthentication(), Self.users]
        var configuration = ODataServer.Configuration(tls: authority.tls(), authentication: ways)
        configuration.certificateSuffices = true
        try await withServer(configuration, handler: Self.who) { (server: RunningServer) async throws in
            #expect(try await authority.get(server, "ann") == "ann|200")
            #expect(try await authority.get(server, nil, user: "alice:right") == "alice|200")
            #expect(try await authority.get(server, "ann", user: "alice:right") == "alice|200")
            #expect(try await authority.get(server, "ann", user: "alice:WRONG") == "401")
            #expect(try await authority.get(server, nil) == "401")
        }
    }

    @Test("a revoked certificate is refused, also if it is revoked while the server runs")
    func revoked() async throws {
        let authority = try await Authority()
        try await authority.writeList()
        let configuration = ODataServer.Configuration(
            tls: authority.tls(lists: true), authentication: [ClientCertificateAuthentication()])
        try await withServer(configuration, handler: Self.who) { (server: RunningServer) async throws in
            #expect(try await authority.get(server, "ann") == "ann|200")
            try await authority.revoke("ann")
            try await authority.writeList()
            // The file is checked once per second.
            for _ in 0..<100 where try await authority.get(server, "ann") == "ann|200" {
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await authority.get(server, "ann") == "403")
            #expect(try await authority.get(server, "bob") == "bob|200")
        }
    }

    @Test("an outdated or foreign revocation list prevents the start with the reason")
    func unusableLists() async throws {
        let authority = try await Authority()
        let configuration = ODataServer.Configuration(
            tls: authority.tls(lists: true), authentication: [ClientCertificateAuthentication()])
        func problem() async -> String {
            do {
                await (try ODataServer(configuration: configuration, handler: Self.who).start()).stop()
                return ""
            } catch {
                return error.description
            }
        }
        #expect(await problem().contains("cannot be read"))
        try "no list".write(toFile: authority.path("crl.pem"), atomically: true, encoding: .utf8)
        #expect(await problem().contains("crl.pem cannot be used for TLS: it holds no revocation list"))
        try await authority.writeList(["-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200102000000Z"])
        #expect(await problem().contains("out of date"))
        let other = try await Authority()
        try await other.writeList()
        try FileManager.default.removeItem(atPath: authority.path("crl.pem"))
        try FileManager.default.copyItem(atPath: other.path("crl.pem"), toPath: authority.path("crl.pem"))
        #expect(await problem().contains("has signed"))
        try await authority.writeList()
        #expect(await problem() == "")
    }
}
