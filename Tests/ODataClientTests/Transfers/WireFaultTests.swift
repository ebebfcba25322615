import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataTransportNIO
import Testing
import WireFaults

/// The client with faulty connections: it never hangs or leaks, and a change that is sent once takes effect at
/// most once.
@Suite("Faults of the wire", .serialized) struct WireFaultTests {
    /// The time that the client waits for a response. Only a silent connection may take that long; a busy
    /// machine may delay any other response by some seconds.
    private static func patience(_ fault: WireFault) -> Duration { fault == .stall ? .seconds(8) : .seconds(30) }

    /// The operations of the client.
    private static let work: [(name: String, isReading: Bool, run: @Sendable (DataService) async throws -> Void)] = [
        ("count", true, { _ = try await $0.count("Orders") }),
        ("entity", true, { _ = try await $0.entity("Orders", key: 1) }),
        ("entities", true, { _ = try await $0.entities("Orders") }),
        ("pages", true, { data in for try await _ in data.pages(ResourceQuery("Orders")).entities {} }),
        (
            "create", false,
            { data in
                guard let shape = try await data.provider.model.shape(ofSet: "Orders") else { return }
                try await data.create(ODataEntity(shape: shape, ["ID": .integer(99), "City": "Graz"]), in: "Orders")
            }
        ),
        (
            "update", false,
            { data in
                guard var order = try await data.entity("Orders", key: 2) else { return }
                order["City"] = "Linz"
                _ = try await data.update(order)
            }
        ),
    ]

    private func service() async throws -> (MemoryService, RunningServer) {
        let service = try MemoryService(pageSize: 3)
        let data = DataService(service)
        let shape = try #require(service.fixedModel.shape(ofSet: "Orders"))
        for id in 1...7 {
            try await data.create(ODataEntity(shape: shape, ["ID": .integer(Int64(id)), "City": "Wien"]), in: "Orders")
        }
        let handler = try ODataHandler(provider: service, serviceRoot: "/shop/")
        var configuration = ODataServer.Configuration()
        // Aborted requests are repeated without a limit.
        configuration.addressLimits = .none
        return (service, try await ODataServer(configuration: configuration, handler: handler.handle).start())
    }

    private func client(_ transport: any HTTPTransport, port: Int, retry: RetryPolicy, limit: Duration = .seconds(30))
        throws -> (
            DataService, HTTPSession
        )
    {
        let root = "http://127.0.0.1:\(port)/shop/"
        let session = try HTTPSession(
            transport, serviceRoot: root, configuration: .init(retry: retry, wholeTimeout: limit))
        return (DataService(try ODataClient(serviceRoot: root, transport: session)), session)
    }

    /// Performs the operation and returns its error as text, or `nil` if it succeeded. The error must be one of
    /// the transport.
    private func outcome(_ work: @Sendable () async throws -> Void) async throws -> String? {
        let begin = ContinuousClock.now
        defer { #expect(ContinuousClock.now - begin < .seconds(60), "it hung") }
        do {
            try await work()
            return nil
        } catch let error as TransportError {
            return "\(error)"
        } catch let error as ODataError where error.status == 409 {
            return "it exists already"
        } catch is ConflictError {
            return "it has changed"
        } catch let error as ODataError where error.status == 412 {
            return "it has changed"
        }
    }

    @Test("The request over a socket", arguments: WireFault.allCases)
    func sockets(fault: WireFault) async throws {
        let (service, server) = try await service()
        for work in Self.work {
            let proxy = try await FaultyProxy(to: server.port) { $0 == 1 ? fault : nil }
            let transport = try NIOTransport(
                configuration: .init(connectTimeout: .seconds(20), readTimeout: Self.patience(fault)))
            let (data, session) = try client(
                transport, port: proxy.port, retry: RetryPolicy(maxAttempts: 3, firstDelay: .milliseconds(10)))
            let error = try await outcome { try await work.run(data) }
            // The first connection is faulty, and the metadata is read first. That read is repeated unless its
            // response had begun. A change that is sent twice is refused the second time.
            switch fault {
            case .truncate:
                #expect(error?.contains("incomplete") ?? true, "\(work.name): \(error ?? "")")
                try await work.run(data)
            case .duplicate where !work.isReading: #expect(error == nil || error?.hasPrefix("it ") == true)
            default: #expect(error == nil, "\(work.name): \(error ?? "")")
            }
            #expect(session.queue.size == 0)
            try await transport.shutdown()
            try await proxy.stop()
            let end = ContinuousClock.now + .seconds(30)
            while proxy.open > 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
            #expect(proxy.open == 0, "\(work.name): a connection was left open")
            if work.name == "create" {
                #expect(await count(service) == 8)
                try await DataService(service).delete("Orders", key: EntityKey("ID", .integer(99)))
            }
        }
        await server.stop()
    }

    @Test("Before and after the service, for each request of each operation", arguments: WireFault.allCases)
    func transports(fault: WireFault) async throws {
        let (service, server) = try await service()
        let transport = try NIOTransport(configuration: .init(readTimeout: Self.patience(fault)))
        for work in Self.work {
            for number in 2...4 {
                let faulty = FaultyTransport(transport) { count, _ in count == number ? fault : nil }
                // Only the limit for the whole exchange ends a stalled transport.
                let (data, session) = try client(
                    faulty, port: server.port, retry: .none, limit: fault == .stall ? .seconds(1) : .seconds(30))
                let error = try await outcome { try await work.run(data) }
                if fault == .delay { #expect(error == nil, "\(work.name)") }
                if fault == .drop, work.name == "create" {
                    #expect((error == nil) == (number > 2))
                    if number == 2 { #expect(await count(service) == 7) }
                }
                if fault == .resetAfterAct, work.name == "create", number == 2 {
                    #expect(error != nil)
                    #expect(await count(service) == 8, "it was done, and once")
                }
                #expect(session.queue.size == 0)
                if work.name == "create" {
                    try? await DataService(service).delete("Orders", key: EntityKey("ID", .integer(99)))
                }
            }
        }
        try await transport.shutdown()
        await server.stop()
    }

    private func count(_ service: MemoryService) async -> Int64 {
        (try? await DataService(service).count("Orders")) ?? -1
    }

    @Test("A hundred failed and cancelled requests leave no socket and no task behind") func leaks() async throws {
        let (_, server) = try await service()
        let before = try #require(openSockets())
        for round in 0..<10 {
            let faults = WireFault.allCases
            let proxy = try await FaultyProxy(to: server.port) { faults[$0 % faults.count] }
            let transport = try NIOTransport(configuration: .init(readTimeout: .milliseconds(100)))
            let (data, session) = try client(transport, port: proxy.port, retry: .none)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        let task = Task { _ = try await data.count("Orders") }
                        if number % 3 == round % 3 {
                            try await Task.sleep(for: .milliseconds(number * 5))
                            task.cancel()
                        }
                        _ = await task.result
                    }
                }
                try await group.waitForAll()
            }
            #expect(session.queue.size == 0)
            try await transport.shutdown()
            try await proxy.stop()
        }
        let end = ContinuousClock.now + .seconds(10)
        while let now = openSockets(), now > before, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        let after = try #require(openSockets())
        #expect(after <= before, "\(after - before) sockets were left")
        await server.stop()
    }
}
