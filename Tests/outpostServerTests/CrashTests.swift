import Foundation
import HTTPTypes
import MobileServer
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import ServerState
import Synchronization
import Testing

/// Ends of the process at named points, as by `kill -9`.
///
/// | point | test |
/// | --- | --- |
/// | `replay-received`, `replay-forwarded`, `replay-answered` | `changes` |
/// | `refresh-begun`, `refresh-read`, `refresh-committed` | `feeds` |
/// | between two pages of a device | `pages` |
/// | `version-stored` | `imports` |
/// | `restore-copied` | `restores` |
/// | `rekey-written` | `rekeys` |
/// | `upload-begun`, `upload-received`, `upload-finished` | `uploads` |
/// | `bundle-received` | `bundles` |
/// | `messages-confirmed` | `messages` |
@Suite("A killed server", .serialized)
struct CrashTests {
    /// A back end that counts creations and serves one set of two rows.
    private final class BackEnd: Sendable {
        private let count: Counter
        private let server: RunningServer

        private final class Counter: Sendable { let made = Mutex(0) }

        init() async throws {
            let count = Counter()
            self.count = count
            server = try await ODataServer(configuration: .init()) { request, _ in
                let path = (request.path ?? "").prefix { $0 != "?" }
                var response = HTTPResponse(status: .ok)
                response.headerFields[.contentType] = "application/json"
                if request.method == .post {
                    count.made.withLock { $0 += 1 }
                    response.status = .created
                    return (response, ByteStream(Array("{\"ID\":9,\"Name\":\"New\"}".utf8)))
                }
                if path.hasSuffix("$metadata") {
                    response.headerFields[.contentType] = "application/xml"
                    return (response, ByteStream(Array(CrashTests.metadata.utf8)))
                }
                let rows =
                    "{\"@odata.context\":\"$metadata#Items\",\"value\":[{\"ID\":1,\"Name\":\"A\"},{\"ID\":2,\"Name\":\"B\"}]}"
                return (response, ByteStream(Array(rows.utf8)))
            }.start()
        }

        var url: String { server.url }
        var made: Int { count.made.withLock { $0 } }
        func stop() async { await server.stop() }
    }

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="M"><EntityType Name="Item">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="M.Item"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Starts the server so that it dies at a point; gives the URL of the destination to a function. A process that
    /// neither dies nor ends within the limit is killed, and the test fails.
    private func run(
        _ tool: ServerTool, dyingAt point: String?, limit: Duration = .seconds(30),
        _ body: (String) async throws -> Void
    ) async throws -> Int32 {
        let (process, output, errors) = tool.process([
            "run", "--data", tool.data, "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0",
            "--metrics-listen", "", "--json",
        ])
        if let point { process.environment?["OUTPOST_CRASH_AT"] = point }
        try process.run()
        let identifier = process.processIdentifier
        let isLate = Mutex(false)
        let limiter = Task {
            try await Task.sleep(for: limit)
            isLate.withLock { $0 = true }
            kill(identifier, SIGKILL)
        }
        async let rest = ServerTool.text(errors)
        let text = await ServerTool.document(of: output)
        do {
            let report = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
            let device = try #require(report["deviceAPI"] as? String, "\(text)")
            try await body(device + (device.hasSuffix("/m/v1/") ? "" : "../") + "crash/d/back/")
        } catch {
            kill(identifier, SIGKILL)
            limiter.cancel()
            _ = await rest
            throw error
        }
        if point == nil { process.terminate() }
        // The end of the output is the end of the process.
        let log = await rest
        limiter.cancel()
        await ServerTool.end(of: process)
        let wasKilled = isLate.withLock { $0 }
        #expect(!wasKilled, "the process went on for \(limit): \(log)")
        return process.terminationStatus
    }

    private func prepared(_ backEnd: String) async throws -> ServerTool {
        let tool = try ServerTool()
        let file = try tool.write(
            """
            title: Crash
            registration:
              required: false
              device_proof: none
            security:
              guest:
                kind: anonymous
            policies:
              log:
                upload: true
            destinations:
              back:
                url: \(backEnd)
                timeout: 1s
                queries:
                  Items:
                    query: Items
                    visibility: shared
            """, to: "crash.yaml")
        let made = try await tool.run("init", tool.data)
        #expect(made.code == 0, "\(made.errors)")
        try await tool.done("app", "import", "crash", file, "--activate")
        return tool
    }

    private func send(
        _ method: String, _ url: String, _ fields: [String: String], body: String? = nil
    ) async throws -> (status: Int, text: String) {
        let transport = try NIOTransport()
        var request = try ServiceRoot("/").request(HTTPRequest.Method(method) ?? .get, url: url)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        do {
            let (response, stream) = try await transport.send(request, body: body.map { ByteStream(Array($0.utf8)) })
            let bytes = try await stream.collect(limit: 1 << 20)
            try await transport.shutdown()
            return (response.status.code, String(decoding: bytes, as: UTF8.self))
        } catch {
            try await transport.shutdown()
            throw error
        }
    }

    @Test(
        "A change is never doubled if the server is killed at any point",
        arguments: [("replay-received", 0, 409), ("replay-forwarded", 1, 409), ("replay-answered", 1, 201)])
    func changes(point: String, made: Int, status: Int) async throws {
        let backEnd = try await BackEnd()
        let tool = try await prepared(backEnd.url)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let fields = [
            "Content-Type": "application/json", "Repeatability-Request-ID": point,
            "Repeatability-First-Sent": formatter.string(from: Date()),
        ]
        let ended = try await run(tool, dyingAt: point) { url in
            await #expect(throws: (any Error).self) {
                _ = try await send("POST", url + "Items", fields, body: "{\"Name\":\"New\"}")
            }
        }
        #expect(ended == SIGKILL)
        #expect(backEnd.made == made)
        _ = try await run(tool, dyingAt: nil, limit: .seconds(60)) { url in
            var answer = (status: 503, text: "")
            // Until the lease of the dead node ends, the request counts as under way.
            for _ in 0..<4 where answer.status == 503 {
                answer = try await send("POST", url + "Items", fields, body: "{\"Name\":\"New\"}")
            }
            #expect(answer.status == status, "\(answer.text)")
            if status == 409 { #expect(answer.text.contains("OutcomeUnknown")) }
        }
        #expect(backEnd.made == made)
        await backEnd.stop()
    }

    @Test(
        "A feed is complete after the server was killed during a refresh",
        arguments: ["refresh-begun", "refresh-read", "refresh-committed"])
    func feeds(point: String) async throws {
        let backEnd = try await BackEnd()
        let tool = try await prepared(backEnd.url)
        let tracking = ["Prefer": "odata.track-changes"]
        let ended = try await run(tool, dyingAt: point, limit: .seconds(90)) { url in
            // On a busy machine, a reader may give up before the refresh begins.
            await #expect(throws: (any Error).self) {
                for _ in 0..<5 { _ = try await send("GET", url + "Items", tracking) }
            }
        }
        #expect(ended == SIGKILL)
        _ = try await run(tool, dyingAt: nil, limit: .seconds(90)) { url in
            var answer = (status: 503, text: "")
            // The lease of the dead node lasts 30 seconds.
            for _ in 0..<5 where answer.status == 503 { answer = try await send("GET", url + "Items", tracking) }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.text.contains("\"A\"") && answer.text.contains("\"B\""))
            #expect(answer.text.contains("deltaLink"))
        }
        await backEnd.stop()
    }

    @Test("A device goes on with its next link after the server died between two pages")
    func pages() async throws {
        let backEnd = try await BackEnd()
        let tool = try await prepared(backEnd.url)
        let tracking = ["Prefer": "odata.track-changes, odata.maxpagesize=1"]
        let link = Mutex("")
        try await tool.withServer { server async throws in
            let root = "\(server.root)m/v1/crash/d/back/"
            let page = try await send("GET", root + "Items", tracking)
            #expect(page.text.contains("\"A\"") && !page.text.contains("\"B\""), "\(page.text)")
            let json = try JSONSerialization.jsonObject(with: Data(page.text.utf8)) as? [String: Any]
            let next = try #require(json?["@odata.nextLink"] as? String)
            link.withLock { $0 = String(next.dropFirst(root.count)) }
            kill(server.process.processIdentifier, SIGKILL)
            await ServerTool.end(of: server.process)
        } endsBy: {
            $0 == SIGKILL
        }
        _ = try await run(tool, dyingAt: nil, limit: .seconds(90)) { url in
            let page = try await send("GET", url + link.withLock(\.self), tracking)
            #expect(page.status == 200, "\(page.text)")
            #expect(page.text.contains("\"B\"") && page.text.contains("deltaLink"))
        }
        await backEnd.stop()
    }

    /// Runs a command that dies at a point.
    private func die(_ tool: ServerTool, at point: String, _ arguments: String...) async throws {
        let (process, output, errors) = tool.process(arguments)
        process.environment?["OUTPOST_CRASH_AT"] = point
        try process.run()
        async let text = ServerTool.text(output)
        let log = await ServerTool.text(errors)
        _ = await text
        await ServerTool.end(of: process)
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL, "\(log)")
    }

    @Test("An application keeps its active version if the import of another one dies")
    func imports() async throws {
        let tool = try await prepared("http://127.0.0.1:1/")
        let other = try tool.write(
            """
            title: Other
            security:
              guest:
                kind: anonymous
            """, to: "other.yaml")
        try await die(tool, at: "version-stored", "app", "import", "crash", other, "--activate", "--data", tool.data)
        let between = try await tool.done("app", "list", "--json")
        #expect(between.output.contains("\"Crash\"") && !between.output.contains("\"Other\""), "\(between.output)")
        try await tool.done("app", "import", "crash", other, "--activate")
        #expect(try await tool.done("app", "list", "--json").output.contains("\"Other\""))
    }

    @Test("A restore that died leaves no half server, and succeeds when it is repeated")
    func restores() async throws {
        let tool = try await prepared("http://127.0.0.1:1/")
        let backup = tool.path("server.backup")
        try await tool.done("backup", backup)
        let restored = tool.path("restored")
        let key = tool.data + "/master.key"
        try await die(
            tool, at: "restore-copied", "restore", backup, "--master-key", key, "--data", restored)
        #expect(!FileManager.default.fileExists(atPath: restored))
        let again = try await tool.run("restore", backup, "--master-key", key, "--data", restored)
        #expect(again.code == 0, "\(again.errors)")
        let list = try await tool.run("app", "list", "--json", "--data", restored)
        #expect(list.output.contains("\"Crash\""))
        #expect(!FileManager.default.fileExists(atPath: restored + ".restoring"))
    }

    @Test("After a change of the master key that died, one of the kept keys opens the server")
    func rekeys() async throws {
        let tool = try await prepared("http://127.0.0.1:1/")
        try await die(tool, at: "rekey-written", "rekey", "--data", tool.data)
        let key = tool.data + "/master.key"
        #expect(try await tool.run("app", "list", "--data", tool.data).code != 0)
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: key + ".new", toPath: key)
        #expect(try await tool.done("app", "list", "--json").output.contains("\"Crash\""))
    }

    @Test("After the addition of a bundle died, the bundle is not listed and can be added again")
    func bundles() async throws {
        let tool = try await prepared("http://127.0.0.1:1/")
        let archive = tool.path("logo.zip")
        // An archive without entries.
        try Data([0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)).write(to: URL(fileURLWithPath: archive))
        try await die(
            tool, at: "bundle-received", "bundle", "add", "crash", archive, "--name", "logo", "--bundle-version", "1",
            "--data", tool.data)
        let between = try await tool.done("bundle", "list", "crash", "--json")
        #expect(!between.output.contains("logo"), "\(between.output)")
        try await tool.done("bundle", "add", "crash", archive, "--name", "logo", "--bundle-version", "1")
        #expect(try await tool.done("bundle", "list", "crash", "--json").output.contains("logo"))
    }

    @Test("Messages that a device confirmed before the server died do not return, and later ones are not lost")
    func messages() async throws {
        let backEnd = try await BackEnd()
        let tool = try await prepared(backEnd.url)
        func api(_ url: String) -> String { String(url.dropLast("d/back/".count)) }
        let device = ["Outpost-Registration": "d1"]
        _ = try await run(tool, dyingAt: nil) { url in
            let made = try await send(
                "POST", api(url) + "Registrations", ["Content-Type": "application/json"], body: "{\"ID\":\"d1\"}")
            #expect(made.status == 201, "\(made.text)")
        }
        let (state, _) = try await ServerFolder(path: tool.data).open(ServerConfiguration(), build: "test")
        let application = try #require(try await state.applications.application(named: "crash"))
        var numbers: [Int64] = []
        for name in ["first", "second"] {
            let message = NewDeviceMessage(kind: .custom, body: Array("{\"name\":\"\(name)\"}".utf8))
            numbers.append(try #require(try await state.messages.send(message, to: "d1", of: application.id)))
        }
        await state.close()
        let confirmed = "Messages?$deltatoken=\(numbers[0])"
        let ended = try await run(tool, dyingAt: "messages-confirmed") { url in
            await #expect(throws: (any Error).self) { _ = try await send("GET", api(url) + confirmed, device) }
        }
        #expect(ended == SIGKILL)
        _ = try await run(tool, dyingAt: nil) { url in
            let rest = try await send("GET", api(url) + confirmed, device)
            #expect(rest.status == 200 && rest.text.contains("second") && !rest.text.contains("first"), "\(rest.text)")
        }
        await backEnd.stop()
    }

    @Test("Every point at which the sources let the process die is in a test")
    func points() throws {
        func files(_ folder: String) throws -> [String] {
            let base = ServerTool.root.appendingPathComponent(folder)
            let names = try #require(FileManager.default.enumerator(atPath: base.path)).compactMap { $0 as? String }
            return try names.filter { $0.hasSuffix(".swift") }.map {
                try String(contentsOf: base.appendingPathComponent($0), encoding: .utf8)
            }
        }
        let names = try files("Sources/Mobile").flatMap { text in
            text.matches(of: /CrashPoint\.pass\("([a-z-]+)"\)/).map { String($0.1) }
        }
        #expect(names.count > 8)
        let tests = try files("Tests/outpostServerTests")
        for name in Set(names) { #expect(tests.contains { $0.contains("\"\(name)\"") }, "\(name)") }
    }

    @Test(
        "Bytes that a server acknowledged are there after it died, and the upload goes on behind them",
        arguments: [("upload-begun", 3), ("upload-received", 6), ("upload-finished", 9)])
    func uploads(point: String, stored: Int) async throws {
        let backEnd = try await BackEnd()
        let tool = try await prepared(backEnd.url)
        let device = ["Outpost-Registration": "d1", "Content-Type": "application/octet-stream"]
        let json = ["Content-Type": "application/json"]
        func api(_ url: String) -> String { String(url.dropLast("d/back/".count)) }
        func upload(_ id: String, _ url: String) -> String { api(url) + "Uploads('\(id)')" }
        var id = ""
        _ = try await run(tool, dyingAt: nil) { url in
            let made = try await send("POST", api(url) + "Registrations", json, body: "{\"ID\":\"d1\"}")
            #expect(made.status == 201, "\(made.text)")
            let begun = try await send(
                "POST", api(url) + "Uploads?kind=log", device.merging(["Upload-Complete": "?0"]) { $1 }, body: "abc")
            #expect(begun.status == 201, "\(begun.text)")
            id = try #require(begun.text.components(separatedBy: "\"ID\":\"").last?.components(separatedBy: "\"").first)
        }
        func append(_ url: String, at offset: Int, last: Bool, _ text: String) async throws -> (
            status: Int, text: String
        ) {
            try await send(
                "PATCH", upload(id, url),
                device.merging(["Upload-Offset": "\(offset)", "Upload-Complete": last ? "?1" : "?0"]) { $1 }, body: text
            )
        }
        let ended = try await run(tool, dyingAt: point) { url in
            switch point {
            case "upload-begun":
                await #expect(throws: (any Error).self) {
                    _ = try await send("POST", api(url) + "Uploads?kind=log", device, body: "xyz")
                }
            case "upload-received":
                await #expect(throws: (any Error).self) { _ = try await append(url, at: 3, last: false, "def") }
            default:
                await #expect(throws: (any Error).self) { _ = try await append(url, at: 3, last: true, "defghi") }
            }
        }
        #expect(ended == SIGKILL)
        _ = try await run(tool, dyingAt: nil, limit: .seconds(60)) { url in
            let rest = Array("abcdefghi").dropFirst(stored)
            let last = try await append(url, at: stored, last: true, String(rest))
            #expect(last.status == 202, "\(last.text)")
        }
        let shown = try await tool.done("log", "show", id)
        #expect(shown.output == "abcdefghi\n")
        let listed = try await tool.done("log", "list", "crash", "--json")
        #expect(listed.output.contains(id) && listed.output.contains("\"state\" : \"complete\""))
        await backEnd.stop()
    }
}
