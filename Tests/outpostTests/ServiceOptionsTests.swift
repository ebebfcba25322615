import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import Testing

/// How a service is reached: tokens, fields, options and language that go with every request.
@Suite("Options for the connection to a service")
struct ServiceOptionsTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// The requests that a service received.
    private final class Asked: Sendable {
        let requests = Mutex<[HTTPRequest]>([])
    }

    /// A service of one set that wants a token, a tenant and a client, and knows one language.
    private func serve(token: String, seen: Asked) async throws -> RunningServer {
        try await ODataServer { request, _ in
            seen.requests.withLock { $0.append(request) }
            guard request.headerFields[.authorization] == "Bearer \(token)" else {
                return (HTTPResponse(status: .unauthorized), ByteStream([]))
            }
            let isComplete =
                request.headerFields[HTTPField.Name("X-Tenant") ?? .accept] == "blue"
                && request.headerFields[.acceptLanguage] == "de-AT"
            let path = request.path ?? ""
            guard isComplete, path.contains("sap-client=100") else {
                return (HTTPResponse(status: .badRequest), ByteStream([]))
            }
            var response = HTTPResponse(status: .ok)
            let isMetadata = path.contains("$metadata")
            response.headerFields[.contentType] = isMetadata ? "application/xml" : "application/json"
            if path.contains("$count") { return (response, ByteStream(Array("1".utf8))) }
            let text =
                isMetadata ? Self.metadata : "{\"@odata.context\":\"$metadata#Things\",\"value\":[{\"ID\":1}]}"
            return (response, ByteStream(Array(text.utf8)))
        }.start()
    }

    @Test("Every request has the token, field, option and language, and a refused token is read again")
    func everyRequest() async throws {
        let site = try Site()
        let file = site.path("token")
        try Data("s3cret-token\n".utf8).write(to: URL(fileURLWithPath: file))
        let seen = Asked()
        let server = try await serve(token: "s3cret-token", seen: seen)
        let clone = try await site.tool.run(
            "clone", server.url, site.path("clone"), "--token-file", file, "--header", "X-Tenant: blue", "--option",
            "sap-client=100", "--service-language", "de-AT", "--trace", "medium")
        #expect(clone.code == 0, "\(clone.errors)")
        #expect(clone.errors.contains("GET /Things"))
        #expect(!clone.errors.contains("s3cret"), "no secret is shown")
        #expect(seen.requests.withLock { $0 }.contains { $0.path?.contains("sap-language=DE") == true })
        let refused = try await site.tool.run(
            "clone", server.url, site.path("other"), "--token-file", file)
        #expect(refused.code == 1)
        #expect(!refused.errors.contains("s3cret"))
        await server.stop()
    }

    @Test(
        "metadata and generate use the same connection options as all commands",
        arguments: [
            ["metadata", "show"], ["metadata", "validate"], ["metadata", "convert", "--to", "json"], ["generate"],
        ])
    func documents(command: [String]) async throws {
        let site = try Site()
        let file = site.path("token")
        try Data("s3cret-token\n".utf8).write(to: URL(fileURLWithPath: file))
        let server = try await serve(token: "s3cret-token", seen: Asked())
        let output = command == ["generate"] ? ["--output", site.path("code")] : []
        for address in [server.url, server.url + "$metadata", server.url + "?sap-client=100"] {
            let result = try await site.tool.run(
                command + [address] + output + [
                    "--token-file", file, "--header", "X-Tenant: blue", "--option", "sap-client=100",
                    "--service-language", "de-AT", "--trace", "medium",
                ])
            #expect(result.code == 0, "\(address): \(result.errors)")
            #expect(result.errors.contains("GET /$metadata"), "\(result.errors)")
            #expect(!result.errors.contains("s3cret") && !result.errors.contains("blue"), "\(result.errors)")
        }
        await server.stop()
    }

    @Test("Header fields and credentials go only to the named host, not to hosts in its metadata")
    func otherHosts() async throws {
        let site = try Site()
        let seen = Asked()
        let other = try await ODataServer { request, _ in
            seen.requests.withLock { $0.append(request) }
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/xml"
            return (response, ByteStream(Array(Self.metadata.replacing("Shop", with: "Other").utf8)))
        }.start()
        let text = Self.metadata.replacing(
            "<edmx:DataServices>",
            with: "<edmx:Reference Uri=\"\(other.url)other.xml\"><edmx:Include Namespace=\"Other\"/></edmx:Reference>"
                + "<edmx:DataServices>")
        let file = site.path("shop.xml")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let named = try await ODataServer { request, _ in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/xml"
            return (response, ByteStream(Array(text.utf8)))
        }.start()
        let password = site.path("password")
        try Data("s3cret".utf8).write(to: URL(fileURLWithPath: password))
        for source in [file, named.url] {
            let result = try await site.tool.run(
                "metadata", "validate", source, "--references", "--no-cache", "--header", "X-Api-Key: k", "--option",
                "sap-client=100", "--user", "ann", "--password-file", password)
            #expect(result.code == 0, "\(result.errors)")
        }
        await named.stop()
        await other.stop()
        let requests = seen.requests.withLock { $0 }
        #expect(requests.map(\.path) == ["/other.xml", "/other.xml"])
        for request in requests {
            #expect(request.headerFields[.authorization] == nil)
            #expect(request.headerFields[HTTPField.Name("X-Api-Key") ?? .accept] == nil)
        }
    }

    @Test(
        arguments: [
            ["clone", "http://192.0.2.1/svc/"], ["metadata", "show", "http://192.0.2.1/svc/"],
            ["metadata", "show", "http://192.0.2.1/svc/?sap-client=100"],
        ])
    func `plain http is refused before the password of a user is asked for`(command: [String]) async throws {
        let site = try Site()
        let target = command[0] == "clone" ? [site.path("clone")] : []
        let result = try await site.tool.run(command + target + ["--user", "ada"])
        #expect(result.code != 0 && result.errors.contains("--allow-plain-http"), "\(result.errors)")
        #expect(!result.errors.localizedCaseInsensitiveContains("password"), "\(result.errors)")
    }

    @Test(
        "Invalid fields, options and levels are refused before anything is sent",
        arguments: [
            ["--header", "blue"], ["--option", "=1"], ["--trace", "loud"], ["--user", "a", "--token-file", "b"],
        ])
    func wrong(arguments: [String]) async throws {
        let site = try Site()
        let (process, _, errors) = site.tool.process(["pull", site.path("clone")] + arguments)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 2 || process.terminationStatus == 64)
        #expect(errors.fileHandleForReading.readDataToEndOfFile().count > 20)
    }
}
