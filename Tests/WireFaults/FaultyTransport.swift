import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A transport with faults that a test selects.
public final class FaultyTransport: HTTPTransport {
    /// A function that selects the fault of a request by its number, from 1, and its head.
    public typealias Plan = @Sendable (Int, HTTPRequest) -> WireFault?

    private let base: any HTTPTransport
    private let plan: Plan
    private let count = Mutex(0)

    /// Wraps a transport.
    public init(_ base: any HTTPTransport, plan: @escaping Plan) {
        self.base = base
        self.plan = plan
    }

    /// The number of requests so far.
    public var requests: Int { count.withLock { $0 } }

    /// Sends a request, unless the fault prevents it.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let host = request.authority ?? ""
        switch plan(number, request) {
        case nil: return try await base.send(request, body: body, options: options)
        case .drop: throw TransportError.cannotConnect(host: host, reason: "the fault says so")
        case .delay:
            try await Task.sleep(for: .milliseconds(50))
            return try await base.send(request, body: body, options: options)
        case .truncate:
            let (response, stream) = try await base.send(request, body: body, options: options)
            let isFirst = Mutex(true)
            let cut = ByteStream(length: stream.length) {
                let goesOn = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if goesOn, let chunk = try await stream.next(), chunk.count > 1 {
                    return Array(chunk.prefix(chunk.count / 2))
                }
                throw TransportError.truncated(host: host, reason: "the fault says so")
            }
            return (response, cut)
        case .resetAfterAct:
            let (_, stream) = try await base.send(request, body: body, options: options)
            while try await stream.next() != nil {}
            throw TransportError.connectionLost(host: host, reason: "the fault says so")
        case .duplicate:
            guard let body else {
                _ = try await base.send(request, body: nil, options: options)
                return try await base.send(request, body: nil, options: options)
            }
            let bytes = try await body.collect(limit: 1 << 24)
            _ = try await base.send(request, body: ByteStream(bytes), options: options)
            return try await base.send(request, body: ByteStream(bytes), options: options)
        case .stall:
            try await Task.sleep(for: .seconds(3600))
            throw TransportError.timedOut(host: host)
        }
    }
}
