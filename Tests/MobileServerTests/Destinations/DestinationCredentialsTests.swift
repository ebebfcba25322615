import ForeignPrograms
import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Synchronization
import Testing

@testable import MobileServer

@Suite("The credentials of a destination")
struct DestinationCredentialsTests {
    private typealias Answer = ScriptedBackEnd.Answer

    /// Returns the fields that a back end sees of a request of a user with a token.
    private func seen(
        user: String? = "Bearer user-token", _ change: @escaping @Sendable (inout DestinationAuthentication) -> Void
    ) async throws -> (answer: SiteAnswer, seen: [ScriptedBackEnd.Seen]) {
        let result = Mutex<(SiteAnswer, [ScriptedBackEnd.Seen])?>(nil)
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let isMade = FileManager.default.createFile(
            atPath: secret, contents: Data("s3cret\n".utf8), attributes: [.posixPermissions: 0o600])
        try #require(isMade)
        defer { try? FileManager.default.removeItem(atPath: secret) }
        try await ScriptedBackEnd.run { configuration in
            var authentication = DestinationAuthentication()
            authentication.user = "tech"
            authentication.secret = .file(secret)
            change(&authentication)
            configuration.destinations["shop"]?.authentication = authentication
        } answer: { _, _ in
            Answer(body: "{}")
        } _: { site, backEnd in
            site.caller.withLock { $0.credentials = user }
            let answer = try await Wire.send("GET", site.url + "Orders")
            _ = try await Wire.send("GET", site.url + "Orders")
            result.withLock { $0 = (answer, backEnd.seen) }
        }
        return try #require(result.withLock { $0 })
    }

    @Test("Without a configured authentication, the credentials of the user stay on the server")
    func none() async throws {
        let seen = try await seen { $0.kind = .none }.seen
        #expect(seen.first?.field("Authorization") == nil)
    }

    @Test("A technical user is sent as Basic authentication")
    func basic() async throws {
        let seen = try await seen { $0.kind = .basic }.seen
        #expect(seen.first?.field("Authorization") == "Basic \(Data("tech:s3cret".utf8).base64EncodedString())")
    }

    @Test("An API key is sent in its header field")
    func key() async throws {
        let seen = try await seen {
            $0.kind = .apiKey
            $0.field = "APIKey"
        }.seen
        #expect(seen.first?.field("APIKey") == "s3cret")
    }

    @Test("The credentials of the user are passed through; a request without credentials gets 401")
    func passThrough() async throws {
        #expect(try await seen { $0.kind = .passThrough }.seen.first?.field("Authorization") == "Bearer user-token")
        let anonymous = try await seen(user: nil) { $0.kind = .passThrough }
        #expect(anonymous.answer.status == 401)
        #expect(anonymous.seen.isEmpty)
    }

    @Test("OAuth 2 client credentials obtain one token for many requests")
    func clientCredentials() async throws {
        let issuer = try await ScriptedBackEnd { seen, _ in
            guard seen.field("Authorization") == "Basic \(Data("tech:s3cret".utf8).base64EncodedString())",
                seen.body.contains("grant_type=client_credentials"), seen.body.contains("scope=read")
            else { return Answer(status: 400, body: "{\"error\":\"invalid_client\"}") }
            return Answer(body: "{\"access_token\":\"t-1\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
        }
        let seen = try await seen {
            $0.kind = .clientCredentials
            $0.tokenURL = issuer.url + "/token"
            $0.scope = "read"
        }.seen
        #expect(seen.map { $0.field("Authorization") } == ["Bearer t-1", "Bearer t-1"])
        #expect(issuer.seen.count == 1)
        await issuer.stop()
    }

    @Test("The token of the user is exchanged once (RFC 8693)")
    func exchange() async throws {
        let issuer = try await ScriptedBackEnd { seen, _ in
            guard seen.body.contains("subject_token=user-token"), seen.body.contains("token-exchange"),
                seen.body.contains("audience=back")
            else { return Answer(status: 400, body: "{\"error\":\"invalid_request\"}") }
            return Answer(body: "{\"access_token\":\"x-1\",\"expires_in\":300}")
        }
        let seen = try await seen {
            $0.kind = .tokenExchange
            $0.tokenURL = issuer.url + "/token"
            $0.audience = "back"
        }.seen
        #expect(seen.map { $0.field("Authorization") } == ["Bearer x-1", "Bearer x-1"])
        #expect(issuer.seen.count == 1)
        await issuer.stop()
    }

    @Test("A token endpoint over plain HTTP on another machine is refused")
    func plainEndpoint() async throws {
        let answer = try await seen {
            $0.kind = .tokenExchange
            $0.tokenURL = "http://issuer.example/token"
        }
        #expect(answer.answer.status == 503)
        #expect(answer.seen.isEmpty)
    }

    @Test("A client certificate shows the server to its back end")
    func certificate() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificate-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = """
            cd '\(folder)' && openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca &&
            for name in server client; do
            openssl req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=$name &&
            printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\\n' > ext &&
            openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out $name.pem -extfile ext; done
            chmod 600 *.key *.pem
            """
        let made = try await Command.run("sh", "-c", script)
        #expect(made.status == 0)
        let tls = ODataServer.TLS(
            certificateChainFile: folder + "/server.pem", privateKeyFile: folder + "/server.key",
            clientAuthorities: folder + "/ca.pem")
        var configuration = ODataServer.Configuration(tls: tls)
        configuration.authentication = [ClientCertificateAuthentication()]
        let server = try await ODataServer(configuration: configuration) { _, _, principal in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/json"
            return (response, ByteStream(Array("{\"name\":\"\(principal?.name ?? "nobody")\"}".utf8)))
        }.start()
        var options = NIOTransport.Configuration()
        options.trust = ServerTrust(authorities: .only(.file(folder + "/ca.pem")))
        let transport = try NIOTransport(configuration: options)
        for name in ["client", nil] {
            var authentication = DestinationAuthentication()
            if let name {
                authentication.kind = .certificate
                authentication.certificate = "\(folder)/\(name).pem"
                authentication.key = .file("\(folder)/\(name).key")
            }
            let own = authentication
            try await DestinationSite.run("https://localhost:\(server.port)/", transport: transport) { application in
                application.destinations["shop"]?.authentication = own
            } _: { site in
                let answer = try await Wire.send("GET", site.url + "x")
                #expect(name == nil ? answer.status == 503 : answer.text.contains("client"), "\(answer.text)")
            }
        }
        try await transport.shutdown()
        await server.stop()
    }
}
