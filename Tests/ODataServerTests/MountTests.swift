import ForeignPrograms
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import Testing

@Suite("The parts of a server")
struct MountTests {
    private static func answering(_ text: String) -> Mount.Handler {
        { _, _, context in
            (HTTPResponse(status: .ok), ByteStream(Array("\(text) \(context.principal?.name ?? "-")".utf8)))
        }
    }

    private static let basic = BasicAuthentication { user, password in user == "ann" && password == "secret" }

    /// Runs a server with mounts, and gives its URL to a function.
    private func withServer(
        _ mounts: [Mount], _ configuration: ODataServer.Configuration = .init(),
        _ body: (String) async throws -> Void
    ) async throws {
        let server = try await ODataServer(configuration: configuration, mounts: mounts).start()
        do {
            try await body(server.url)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test("The longest matching path handles the request, with its own authentication")
    func paths() async throws {
        let mounts = [
            Mount(path: "/", authentication: .open, handler: Self.answering("root")),
            Mount(path: "/m/v1", authentication: .byHandler, handler: Self.answering("device")),
            Mount(path: "m/v1/shop/", authentication: .any(of: [Self.basic]), handler: Self.answering("shop")),
            Mount(path: "/server/", authentication: .ofServer, handler: Self.answering("server")),
        ]
        let tokens = BasicAuthentication { user, _ in user == "bob" }
        try await withServer(mounts, .init(authentication: [tokens])) { url async throws in
            #expect(try await Command.curl("\(url)other") == "root -")
            #expect(try await Command.curl("\(url)m/v1/farm/x") == "device -")
            #expect(try await Command.curl("\(url)m/v1") == "device -")
            #expect(try await Command.curl("\(url)m/v12") == "root -")
            #expect(try await Command.curl("\(url)m/v1/shop/x").contains("Unauthorized"))
            #expect(try await Command.curl("--user", "ann:secret", "\(url)m/v1/shop/x") == "shop ann")
            #expect(try await Command.curl("--user", "bob:x", "\(url)m/v1/shop/x").contains("Unauthorized"))
            #expect(try await Command.curl("--user", "bob:x", "\(url)server/") == "server bob")
            #expect(try await Command.curl("--user", "ann:secret", "\(url)server/").contains("Unauthorized"))
        }
    }

    @Test("A path without a route is 404")
    func noMount() async throws {
        let mounts = [Mount(path: "/m/", authentication: .open, handler: Self.answering("m"))]
        try await withServer(mounts) { url async throws in
            let answer = try await Command.curl("--write-out", " %{http_code}", "\(url)other")
            #expect(answer.contains("The service root is /m/.") && answer.hasSuffix(" 404"))
        }
    }

    @Test("Each route has its own body limit")
    func bodies() async throws {
        let mounts = [
            Mount(path: "/small/", authentication: .open, maxBodySize: 10, handler: Self.answering("small")),
            Mount(path: "/large/", authentication: .open, handler: Self.answering("large")),
        ]
        try await withServer(mounts) { url async throws in
            let text = String(repeating: "x", count: 11)
            #expect(try await Command.curl("--data", text, "\(url)small/").contains("PayloadTooLarge"))
            #expect(try await Command.curl("--data", text, "\(url)large/") == "large -")
        }
    }

    @Test("If a class has no free permit, its requests get 503 with Retry-After, and other classes continue")
    func admission() async throws {
        let slow = AdmissionClass(name: "slow", limit: 1)
        let hasStarted = Mutex(false)
        let mounts = [
            Mount(path: "/slow/", authentication: .open, admission: slow) { _, _, _ in
                hasStarted.withLock { $0 = true }
                try? await Task.sleep(for: .seconds(3))
                return (HTTPResponse(status: .ok), ByteStream(Array("slow".utf8)))
            },
            Mount(path: "/fast/", authentication: .open, handler: Self.answering("fast")),
        ]
        try await withServer(mounts) { url async throws in
            async let first = Command.curl("\(url)slow/")
            while !hasStarted.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
            let second = try await Command.curl("--include", "\(url)slow/")
            #expect(second.contains(" 503") && second.contains("etry-") && second.contains("Busy"))
            #expect(try await Command.curl("\(url)fast/") == "fast -")
            #expect(try await first == "slow")
            #expect(slow.inUse == 0, "the permit was given back")
        }
    }

    @Test("A class that opens slowly admits only a part of its permits")
    func share() {
        let admission = AdmissionClass(name: "reads", limit: 10)
        admission.open(to: 0.1)
        let first = admission.enter()
        #expect(first != nil && admission.enter() == nil)
        admission.open(to: 1)
        let second = admission.enter()
        #expect(second != nil && admission.inUse == 2)
        second?.leave()
        second?.leave()
        #expect(admission.inUse == 1, "a permit is given back once")
    }

    @Test("A handler gets address and TLS only from a trusted proxy")
    func proxies() async throws {
        let mounts = [
            Mount(path: "/", authentication: .open) { _, _, context in
                (HTTPResponse(status: .ok), ByteStream(Array("\(context.address) \(context.isSecure)".utf8)))
            }
        ]
        let fields = ["--header", "X-Forwarded-For: 192.0.2.7", "--header", "X-Forwarded-Proto: https"]
        try await withServer(mounts) { url async throws in
            #expect(try await Command.curl(fields + [url]) == "127.0.0.1 false")
        }
        var trusting = ODataServer.Configuration()
        trusting.trustsForwarded = true
        try await withServer(mounts, trusting) { url async throws in
            #expect(try await Command.curl(fields + [url]) == "192.0.2.7 true")
            let forwarded = ["--header", "Forwarded: for=192.0.2.8;proto=https"]
            #expect(try await Command.curl(forwarded + [url]) == "192.0.2.8 true")
        }
        trusting.trustedHops = 2
        try await withServer(mounts, trusting) { url async throws in
            // The client of the first proxy, behind an entry that the client made up.
            let chain = ["--header", "X-Forwarded-For: 198.51.100.1, 192.0.2.7, 203.0.113.1"]
            let ways = ["--header", "X-Forwarded-Proto: https, http"]
            #expect(try await Command.curl(chain + ways + [url]) == "192.0.2.7 true")
            let swapped = ["--header", "X-Forwarded-Proto: http, https"]
            #expect(try await Command.curl(chain + swapped + [url]) == "192.0.2.7 false")
            let standard = ["--header", "Forwarded: for=192.0.2.8;proto=https, for=203.0.113.1;proto=http"]
            #expect(try await Command.curl(standard + [url]) == "192.0.2.8 true")
            // A proxy that overwrites the field leaves one entry.
            #expect(try await Command.curl(["--header", "X-Forwarded-For: 192.0.2.9", url]) == "192.0.2.9 false")
        }
    }
}
