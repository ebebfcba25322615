import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import Testing

/// Copies of clones, and options that a later command leaves out.
@Suite("Copied clones and forgotten options")
struct CopiedCloneTests {
    @Test("A copied clone holds its changes until --from-copy")
    func copied() async throws {
        let site = try Site()
        let tool = site.tool
        try await site.serve()
        let (first, second) = (site.path("c"), site.path("c2"))
        #expect(try await tool.run("clone", site.url, first).code == 0)
        #expect(try await tool.run("create", first, "Employees", "Name=Once", "HiredOn=2026-11-21").code == 0)
        try FileManager.default.copyItem(atPath: first, toPath: second)
        let pushed = try await tool.run("push", first)
        #expect(pushed.code == 0, "\(pushed.errors)")
        let held = try await tool.run("push", second)
        #expect(held.code == 1 && held.errors.contains("--from-copy"), "\(held.errors)")
        let synced = try await tool.run("sync", second)
        #expect(synced.code == 1 && synced.errors.contains("held"), "\(synced.errors)")
        let count = "SELECT COUNT(*) FROM Employees WHERE Name = 'Once'"
        #expect(try SQLite.integer(count, in: site.database) == 1)
        let status = try await tool.run("status", second)
        #expect(status.output.contains("Held:") && status.output.contains("--from-copy"), "\(status.output)")
        #expect(try await tool.run("status", second, "--json").output.contains("\"held\""))
        #expect(try await !tool.run("status", first, "--json").output.contains("\"held\""))
        // The service recognises the request of the first clone.
        let sent = try await tool.run("push", second, "--from-copy")
        #expect(sent.code == 0, "\(sent.errors)")
        #expect(try SQLite.integer(count, in: site.database) == 1)
        let third = site.path("moved")
        #expect(try await tool.run("update", second, "Products(6)", "Stock=12").code == 0)
        try FileManager.default.moveItem(atPath: second, toPath: third)
        #expect(try await tool.run("push", third).code == 0)
        #expect(try SQLite.integer("SELECT Stock FROM Products WHERE ProductID = 6", in: site.database) == 12)
    }

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// The requests that a service received.
    private final class Seen: Sendable {
        let requests = Mutex<[HTTPRequest]>([])
    }

    /// A service that has two rows for one client and area, and none for any other.
    private func serve(_ seen: Seen) async throws -> RunningServer {
        try await ODataServer { request, _ in
            seen.requests.withLock { $0.append(request) }
            let path = request.path ?? ""
            let isKnown =
                request.headerFields[HTTPField.Name("sap-client") ?? .accept] == "100" && path.contains("area=north")
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = path.contains("$metadata") ? "application/xml" : "application/json"
            if path.contains("$metadata") { return (response, ByteStream(Array(Self.metadata.utf8))) }
            if path.contains("$count") { return (response, ByteStream(Array((isKnown ? "2" : "0").utf8))) }
            let rows = isKnown ? #"{"ID":1},{"ID":2}"# : ""
            let text = "{\"@odata.context\":\"$metadata#Things\",\"value\":[\(rows)]}"
            return (response, ByteStream(Array(text.utf8)))
        }.start()
    }

    @Test("A pull without header fields and options uses those of the clone")
    func forgottenOptions() async throws {
        let site = try Site()
        let tool = site.tool
        let seen = Seen()
        let server = try await serve(seen)
        let clone = site.path("clone")
        let made = try await tool.run(
            "clone", server.url, clone, "--header", "sap-client: 100", "--option", "area=north", "--service-language",
            "de")
        #expect(made.code == 0, "\(made.errors)")
        #expect(try await tool.run("query", clone, "Things/$count").output == "2\n")
        seen.requests.withLock { $0 = [] }
        let pulled = try await tool.run("pull", clone)
        #expect(pulled.code == 0, "\(pulled.errors)")
        for text in ["sap-client: 100", "area=north", "--service-language de"] {
            #expect(pulled.errors.contains(text), "\(pulled.errors)")
        }
        #expect(seen.requests.withLock { $0 }.contains { $0.headerFields[.acceptLanguage] == "de" })
        #expect(try await tool.run("query", clone, "Things/$count").output == "2\n")
        // Named as the clone was made, nothing is to be said.
        let named = try await tool.run(
            "pull", clone, "--header", "SAP-Client: 100", "--option", "area=north", "--service-language", "de")
        #expect(named.code == 0 && !named.errors.contains("sap-client"), "\(named.errors)")
        await server.stop()
    }

    @Test(
        "Different header fields and options are refused, and nothing is removed",
        arguments: [
            ["--header", "sap-client: 200"], ["--option", "area=south"], ["--option", "more=1"],
            ["--service-language", "fr"], ["--header", "X-Area: south"],
        ])
    func otherOptions(_ options: [String]) async throws {
        let site = try Site()
        let tool = site.tool
        let server = try await serve(Seen())
        let clone = site.path("clone")
        let made = try await tool.run(
            "clone", server.url, clone, "--header", "sap-client: 100", "--option", "area=north", "--service-language",
            "de")
        #expect(made.code == 0, "\(made.errors)")
        for command in ["pull", "push", "sync"] {
            let result = try await tool.run([command, clone] + options)
            #expect(result.code == 2 && result.errors.contains(options[1].lowercased()), "\(result.errors)")
            #expect(result.errors.contains("--keep-options"))
        }
        #expect(try await tool.run("query", clone, "Things/$count").output == "2\n")
        let kept = try await tool.run(
            ["pull", clone, "--keep-options", "--header", "sap-client: 100", "--option", "area=north"] + options)
        #expect(kept.code == 0, "\(kept.errors)")
        await server.stop()
    }

    @Test("A secret header field is not stored, and a later command must repeat it")
    func secrets() async throws {
        let site = try Site()
        let tool = site.tool
        let server = try await serve(Seen())
        let clone = site.path("clone")
        let shown = ["--header", "sap-client: 100", "--option", "area=north"]
        let secret = ["--header", "X-Api-Key: s3cret-1", "--option", "access_token=s3cret-2"]
        #expect(try await tool.run(["clone", server.url, clone] + shown + secret).code == 0)
        let missing = try await tool.run("pull", clone)
        #expect(missing.code == 2 && missing.errors.contains("x-api-key"), "\(missing.errors)")
        #expect(missing.errors.contains("access_token") && !missing.errors.contains("s3cret"))
        let given = try await tool.run(["pull", clone] + secret)
        #expect(given.code == 0 && !given.errors.contains("s3cret"), "\(given.errors)")
        #expect(try await tool.run("query", clone, "Things/$count").output == "2\n")
        await server.stop()
    }
}
