import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataStore
import ODataTransportNIO
import Synchronization
import Testing
import WireFaults

@testable import reference_service

/// Every operation of the client with a fault at each of its requests. The error is one of the transport, no
/// change is partial, and the point of the fault determines which changes took effect.
@Suite("Faults of the wire under every operation") struct ClientFaultTests {
    @Test("Within the process, each request is sent once", arguments: ClientWork.all)
    func transports(work: ClientWork) async throws {
        try await FaultSite.run { site in
            try await site.eachRequest(of: work, WireFault.allCases) { fault, number, states in
                let transport = FaultyTransport(site.transport) { count, _ in count == number ? fault : nil }
                // Only the limit for the whole exchange ends a stalled request.
                let error = try await site.attempt(work, over: transport, limit: fault == .stall ? .seconds(2) : nil)
                try await site.check(error, after: fault, at: number, states)
            }
        }
    }

    @Test("On a socket, each request is sent once", arguments: ClientWork.all)
    func sockets(work: ClientWork) async throws {
        try await FaultSite.run { site in
            try await site.eachRequest(of: work, WireFault.allCases) { fault, number, states in
                let proxy = try await FaultyProxy(to: site.port) { $0 == number ? fault : nil }
                let transport = try NIOTransport(configuration: .init(readTimeout: FaultSite.readTimeout))
                let error = try await site.attempt(work, over: transport, port: proxy.port)
                try await transport.shutdown()
                try await proxy.stop()
                try await site.check(error, after: fault, at: number, states, isSocket: true)
                try await FaultSite.eventually("a connection was left open") { proxy.open == 0 }
            }
        }
    }

    @Test("On a socket, repeated requests with an identification act once", arguments: ClientWork.all)
    func repeats(work: ClientWork) async throws {
        try await FaultSite.run { site in
            // A truncated response is not repeated, because it had begun.
            let faults = WireFault.allCases.filter { $0 != .truncate }
            try await site.eachRequest(of: work, faults) { fault, number, states in
                let proxy = try await FaultyProxy(to: site.port) { $0 == number ? fault : nil }
                let transport = try NIOTransport(configuration: .init(readTimeout: FaultSite.readTimeout))
                let error = try await site.attempt(
                    work, over: transport, port: proxy.port,
                    retry: RetryPolicy(maxAttempts: 4, firstDelay: .milliseconds(20)))
                try await transport.shutdown()
                try await proxy.stop()
                #expect(error == nil, "\(fault) at request \(number)")
                #expect(try await site.state() == states.last, "\(fault) at request \(number)")
            }
        }
    }
}

/// The reference service behind a socket, and its state.
private final class FaultSite: Sendable {
    /// Instrumented code is many times slower, and slow responses must not count as lost.
    private static let isInstrumented = ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] != nil
    static let readTimeout: Duration = isInstrumented ? .seconds(10) : .seconds(2)

    let port: Int
    let transport: NIOTransport
    private let service: StoreService

    private init(_ service: StoreService, port: Int) throws {
        self.service = service
        self.port = port
        transport = try NIOTransport()
    }

    static func run(_ body: (FaultSite) async throws -> Void) async throws {
        let service = try await ReferenceService.open()
        let server = try await ODataServer(handler: ODataHandler(provider: service).handle).start()
        let site = try FaultSite(service, port: server.port)
        do {
            try await body(site)
        } catch {
            try? await site.transport.shutdown()
            await server.stop()
            throw error
        }
        try await site.transport.shutdown()
        await server.stop()
        try await service.close()
    }

    /// Restores the initial rows.
    private func reset() async throws {
        try await service.seed(ReferenceData.rows(for: service.model), replacesAll: true)
    }

    /// Runs a body for each fault and each request of an operation, with the initial rows. The body receives
    /// the states of the service before and after each request.
    func eachRequest(
        of work: ClientWork, _ faults: [WireFault],
        _ body: (_ fault: WireFault, _ number: Int, _ states: [String]) async throws -> Void
    ) async throws {
        let states = try await states(of: work)
        for fault in faults {
            for number in work.first..<states.count {
                try await reset()
                try await body(fault, number, states)
            }
        }
    }

    /// Returns the states of the service before the first request of an operation and after each request.
    private func states(of work: ClientWork) async throws -> [String] {
        try await reset()
        let recorder = StateRecorder(transport) { try await self.state() }
        let error = try await attempt(work, over: recorder)
        #expect(error == nil)
        return recorder.states + [try await state()]
    }

    /// Performs an operation and returns its error, or `nil` if it succeeded. The error must be one of the
    /// transport.
    func attempt(
        _ work: ClientWork, over transport: any HTTPTransport, port: Int? = nil, limit: Duration? = nil,
        retry: RetryPolicy = .none
    ) async throws -> (any Error)? {
        let root = "http://127.0.0.1:\(port ?? self.port)/"
        let session = try HTTPSession(
            transport, serviceRoot: root,
            // Each request uses a separate connection, so that the proxy can distinguish them.
            configuration: .init(retry: retry, wholeTimeout: limit ?? .seconds(120), fields: { [.connection: "close"] })
        )
        let client = try ODataClient(
            serviceRoot: root, transport: session, configuration: .init(repeatability: .always))
        defer { #expect(session.queue.size == 0, "a request stayed in the queue") }
        do {
            try await work.run(DataService(client))
            return nil
        } catch let error as TransportError {
            return error
        } catch let error as ODataError where (400...499).contains(error.status) {
            return error
        } catch let error as ConflictError {
            return error
        }
    }

    /// Compares the state of the service with the permitted ones, after a fault of a request that was sent
    /// once.
    func check(
        _ error: (any Error)?, after fault: WireFault, at number: Int, _ states: [String], isSocket: Bool = false
    )
        async throws
    {
        let state = try await state()
        let (before, after) = (states[number - 1], states[number])
        switch fault {
        case .delay:
            #expect(error == nil, "\(fault) at request \(number)")
            #expect(state == states.last, "\(fault) at request \(number)")
        case .drop where isSocket && error == nil:
            // A read on a connection that ends without a byte is repeated on another one (RFC 9110, 9.2.2).
            #expect(state == states.last, "\(fault) at request \(number)")
        case .drop:
            #expect(error is TransportError, "\(fault) at request \(number): \(error.map { "\($0)" } ?? "no error")")
            #expect(state == before, "\(fault) at request \(number)")
        case .resetAfterAct, .truncate:
            // A truncated response may contain everything that the operation needs.
            if error == nil {
                #expect(fault == .truncate && state == states.last, "\(fault) at request \(number)")
            } else {
                #expect(error is TransportError, "\(fault) at request \(number)")
                try await Self.eventually("\(fault) at request \(number) did not act") {
                    try await self.state() == after
                }
            }
        case .stall:
            #expect(error is TransportError, "\(fault) at request \(number): \(error.map { "\($0)" } ?? "no error")")
            // Over a socket, the request was processed, but its response was lost. On a busy machine, the limit
            // of the whole exchange may end an earlier request.
            #expect(states[...number].contains(state), "\(fault) at request \(number)")
        case .duplicate:
            // The service recognizes the duplicate by its identification.
            if error == nil { #expect(state == states.last, "\(fault) at request \(number)") }
            #expect(states.contains(state), "\(fault) at request \(number)")
        }
    }

    /// Returns the state of the service without values that differ in each run: keys, times and versions.
    func state() async throws -> String {
        let data = DataService(service)
        var lines: [String] = []
        let products = try await data.entities(
            ResourceQuery(try ODataURL(parsing: "Products?$expand=Category,Descriptions&$orderby=Name,Price")))
        for product in products {
            var line = ["Name", "Price", "Description", "Quantity"].map { "\(product[$0] ?? .null)" }
            if case .one(let category)? = product.related["Category"] { line.append("\(category["Name"] ?? .null)") }
            if case .many(let texts, _, _)? = product.related["Descriptions"] {
                line += texts.map { "\($0["LanguageKey"] ?? .null) \($0["Description"] ?? .null)" }.sorted()
            }
            if product["Name"] == "Laptop" {
                let photo = try? await data.media(of: product, property: "Photo", in: "Products").0
                    .collect(limit: 1 << 20)
                line.append("\(photo?.count ?? -1)")
            }
            lines.append(line.joined(separator: "|"))
        }
        for category in try await data.entities(ResourceQuery("Categories").orderBy("Name")) {
            lines.append("\(category["Name"] ?? .null)|\(category["Description"] ?? .null)")
        }
        for item in try await data.entities(ResourceQuery("MediaItems").orderBy("Name")) {
            lines.append("\(item["Name"] ?? .null)|\(item["Size"] ?? .null)")
        }
        return lines.joined(separator: "\n")
    }

    static func eventually(_ failure: Comment, _ isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + (isInstrumented ? .seconds(60) : .seconds(10))
        while ContinuousClock.now < end {
            if try await isTrue() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record(failure)
    }
}

/// Records the state of a service before each request.
private final class StateRecorder: HTTPTransport {
    private let base: any HTTPTransport
    private let read: @Sendable () async throws -> String
    private let stored = Mutex<[String]>([])

    init(_ base: any HTTPTransport, _ read: @escaping @Sendable () async throws -> String) {
        self.base = base
        self.read = read
    }

    var states: [String] { stored.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let state = try await read()
        stored.withLock { $0.append(state) }
        return try await base.send(request, body: body, options: options)
    }
}
