import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService

/// A transport under test: the functions that create and end it.
public struct TransportSubject: Sendable {
    /// A closure that answers requests.
    public typealias Handler = @Sendable (HTTPRequest, ByteStream) async -> (HTTPResponse, ByteStream)

    private enum Kind: Sendable {
        case sockets(make: @Sendable (Duration) throws -> any HTTPTransport)
        case memory(make: @Sendable (@escaping Handler) -> any HTTPTransport)
    }

    private let kind: Kind
    private let makeProxied: (@Sendable (Int) throws -> any HTTPTransport)?
    private let end: @Sendable (any HTTPTransport) async throws -> Void

    /// Creates a subject for a transport over sockets.
    ///
    /// - Parameters:
    ///   - shutdown: Ends a transport.
    ///   - proxied: Creates a transport that connects through an HTTP proxy on a port of this machine. `nil` if
    ///     it supports no proxy with credentials from requests.
    ///   - make: Creates a transport with the given timeout for silence.
    public init(
        shutdown: @escaping @Sendable (any HTTPTransport) async throws -> Void = { _ in },
        proxied: (@Sendable (_ port: Int) throws -> any HTTPTransport)? = nil,
        make: @escaping @Sendable (_ silence: Duration) throws -> any HTTPTransport
    ) {
        kind = .sockets(make: make)
        makeProxied = proxied
        end = shutdown
    }

    /// Creates a subject for a transport that passes requests to a handler in the same process.
    public init(inMemory make: @escaping @Sendable (@escaping Handler) -> any HTTPTransport) {
        kind = .memory(make: make)
        makeProxied = nil
        end = { _ in }
    }

    /// Runs a body with a transport and a service that it reaches.
    func joined(
        silence: Duration = .seconds(120), to handler: @escaping Handler,
        _ body: (Wire) async throws -> Void
    ) async throws {
        switch kind {
        case .memory(let make):
            try await body(Wire(transport: make(handler), authority: "service.test"))
        case .sockets:
            let server = try await ODataServer(handler: handler).start()
            do {
                try await alone(silence: silence, port: server.port, body)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }
    }

    /// Runs a body with a transport that connects to a port of this machine.
    func alone(silence: Duration = .seconds(120), port: Int, _ body: (Wire) async throws -> Void) async throws {
        guard case .sockets(let make) = kind else {
            throw ConformanceFailure("a transport in memory has no sockets")
        }
        let transport = try make(silence)
        do {
            try await body(Wire(transport: transport, authority: "127.0.0.1:\(port)"))
        } catch {
            try? await end(transport)
            throw error
        }
        try await end(transport)
    }

    /// Runs a body with a transport that connects through a proxy on a port of this machine.
    ///
    /// - Returns: Whether the subject supports proxies.
    func proxied(port: Int, _ body: (Wire) async throws -> Void) async throws -> Bool {
        guard let makeProxied else { return false }
        let transport = try makeProxied(port)
        do {
            try await body(Wire(transport: transport, authority: "service.test"))
        } catch {
            try? await end(transport)
            throw error
        }
        try await end(transport)
        return true
    }

    /// Returns a transport that was ended, for a port of this machine.
    func ended(port: Int) async throws -> Wire {
        var ended: Wire?
        try await alone(port: port) { ended = $0 }
        guard let ended else { throw ConformanceFailure("a transport in memory does not end") }
        return ended
    }

    /// A transport and the authority of its requests.
    struct Wire: Sendable {
        let transport: any HTTPTransport
        let authority: String

        func send(
            _ method: HTTPRequest.Method = .get, _ path: String = "/", scheme: String = "http",
            authority: String? = nil, fields: [(HTTPField.Name, String)] = [], body: ByteStream? = nil,
            options: TransferOptions = TransferOptions()
        ) async throws -> (HTTPResponse, ByteStream) {
            var request = HTTPRequest(
                method: method, scheme: scheme, authority: authority ?? self.authority, path: path)
            for (name, value) in fields { request.headerFields.append(HTTPField(name: name, value: value)) }
            return try await transport.send(request, body: body, options: options)
        }

        /// Sends a request and reads the whole response.
        func text(
            _ method: HTTPRequest.Method = .get, _ path: String = "/", fields: [(HTTPField.Name, String)] = [],
            body: ByteStream? = nil, options: TransferOptions = TransferOptions()
        ) async throws -> (HTTPResponse, String) {
            let (response, stream) = try await send(method, path, fields: fields, body: body, options: options)
            return (response, String(decoding: try await stream.collect(limit: 1 << 26), as: UTF8.self))
        }
    }
}
