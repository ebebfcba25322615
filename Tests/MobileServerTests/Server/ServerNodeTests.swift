import ForeignPrograms
import Foundation
import MobileServer
import ODataServer
import ODataService
import ServerMetrics
import ServerState
import Testing

@Suite("A node")
struct ServerNodeTests {
    private struct Greeting: ServerPart {
        func mounts(of listener: NodeListener) -> [Mount] {
            guard listener == .devices else { return [] }
            return [
                Mount(path: "/hello/", authentication: .open) { _, _, context in
                    (.init(status: .ok), ByteStream(Array(context.address.utf8)))
                }
            ]
        }
    }

    private static func services(
        _ change: (inout ListenerSettings) -> Void = { _ in }
    ) async throws -> NodeServices {
        var configuration = ServerConfiguration()
        change(&configuration.server)
        configuration.server.listen = "127.0.0.1:0"
        configuration.server.operatorListen = "127.0.0.1:0"
        configuration.server.metricsListen = "127.0.0.1:0"
        let state = try SQLiteServerState.inMemory()
        _ = try await state.migrate(dryRun: false)
        return NodeServices(
            state: state, keys: .generate(), configuration: configuration, dataFolder: NSTemporaryDirectory())
    }

    private static func status(_ url: String) async throws -> String {
        try await Command.curl("--output", "/dev/null", "--write-out", "%{http_code}", url)
    }

    @Test("Each listener serves its routes and health, and metrics have their own listener")
    func listeners() async throws {
        let services = try await Self.services()
        var options = ServerNode.Options()
        options.metrics = PrometheusMetrics()
        options.noticeTime = .zero
        let node = ServerNode(services: services, parts: [Greeting()], options: options)
        try await node.start()
        let devices = try #require(node.url(of: .devices))
        let operators = try #require(node.url(of: .operators))
        #expect(try await Command.curl("\(devices)hello/") == "127.0.0.1")
        #expect(try await Self.status("\(operators)hello/") == "404")
        for path in ["livez", "readyz", "startupz"] {
            #expect(try await Self.status(devices + path) == "200")
            #expect(try await Self.status(operators + path) == "200")
        }
        #expect(try await Self.status("\(devices)metrics") == "404")
        let metrics = try await Command.curl(try #require(node.metricsURL))
        #expect(metrics.contains("http_server_request_duration_seconds_bucket"))
        #expect(try await services.state.nodes.all().count == 1)
        await node.stop()
        #expect(try await services.state.nodes.all().isEmpty)
        await services.state.close()
    }

    @Test("Behind two trusted proxies, the client is the one that the first of them names")
    func hops() async throws {
        let services = try await Self.services { $0.trustedHops = 2 }
        let node = ServerNode(services: services, parts: [Greeting()])
        try await node.start()
        let url = try #require(node.url(of: .devices)) + "hello/"
        let chain = "X-Forwarded-For: 198.51.100.1, 192.0.2.7, 203.0.113.1"
        #expect(try await Command.curl("--header", chain, url) == "192.0.2.7")
        await node.stop()
        await services.state.close()
    }

    @Test("A stopping node reports that it is not ready before its listeners close")
    func drain() async throws {
        let services = try await Self.services()
        var options = ServerNode.Options()
        options.noticeTime = .seconds(2)
        let node = ServerNode(services: services, parts: [Greeting()], options: options)
        try await node.start()
        let devices = try #require(node.url(of: .devices))
        async let end: Void = node.stop()
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await Self.status("\(devices)readyz") == "503")
        #expect(try await Self.status("\(devices)livez") == "200")
        #expect(try await Self.status("\(devices)hello/") == "200")
        await end
        #expect(try await Self.status("\(devices)livez") == "000")
        await services.state.close()
    }

    @Test("If a part fails to start, the node stops and closes its listeners")
    func failedStart() async throws {
        struct Broken: ServerPart {
            struct Failure: Error {}
            func mounts(of listener: NodeListener) -> [Mount] { [] }
            func start() async throws { throw Failure() }
        }
        let services = try await Self.services()
        let node = ServerNode(services: services, parts: [Greeting(), Broken()])
        await #expect(throws: Broken.Failure.self) { try await node.start() }
        #expect(node.url(of: .devices) == nil)
        await services.state.close()
    }
}
