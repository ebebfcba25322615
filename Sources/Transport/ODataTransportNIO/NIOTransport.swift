import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import ODataHTTP
import ODataService

/// A transport over sockets with SwiftNIO, for Linux and for servers (RFC 9110 and 9112; the binding of OData
/// Protocol 4.01, 8).
///
/// Bodies are streamed in both directions: a request body is read as fast as the connection accepts it, and a
/// response body is read from the socket on demand. Certificates are always verified; this cannot be disabled.
///
/// Connections are separated by TLS origin, client certificate and proxy credentials. Each pool lives until
/// ``shutdown()``. Therefore one transport should serve a limited number of origins, such as the services of
/// one app.
///
/// ```swift
/// let transport = try NIOTransport()
/// let client = try ODataClient(serviceRoot: "https://services.example/Northwind/", transport: transport)
/// …
/// try await transport.shutdown()
/// ```
public final class NIOTransport: HTTPTransport {
    private let pool: ClientPool
    private let configuration: Configuration

    /// Creates a transport with its own connection pool.
    ///
    /// - Throws: ``TransportConfigurationError`` if certificates or the client identity cannot be read.
    public init(configuration: Configuration = Configuration()) throws(TransportConfigurationError) {
        self.configuration = configuration
        pool = try ClientPool(configuration)
    }

    /// The client certificate of the configuration.
    public var configuredIdentity: ClientIdentity? { configuration.clientIdentity }

    /// Closes all connections and refuses further requests.
    ///
    /// When a transport is deallocated, it closes its connections shortly afterwards.
    public func shutdown() async throws {
        try await pool.shutdown()
    }

    deinit {
        // The clients trap if they are deallocated with open connections.
        let pool = pool
        Task { try? await pool.shutdown() }
    }

    /// Sends a request and returns the response. Redirects are not followed.
    ///
    /// - Throws: ``TransportError``, ``TransportConfigurationError`` for an unusable identity,
    ///   `CancellationError`, and the errors of the request body's producer.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let origin = Origin(request), let authority = request.authority else {
            throw TransportError.invalidURL(
                "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
        }
        try Task.checkCancellation()
        if options.proxyAuthorization != nil, !options.allowsPlainHTTP, let proxy = configuration.proxy, proxy.isPlain {
            throw TransportError.plainHTTP(host: "the proxy \(proxy)")
        }
        let mapping = TransportErrorMapping(origin: origin, authority: authority, proxy: configuration.proxy)
        var outgoing = message(request, origin: origin, authority: authority)
        if !outgoing.headers.contains(name: "Accept-Encoding") {
            let accepts = options.acceptsCompression ?? configuration.acceptsCompression
            outgoing.headers.add(name: "Accept-Encoding", value: accepts ? "gzip, deflate" : "identity")
        }
        var upload: UploadStream?
        if let body {
            if let length = body.length, length <= Self.wholeBodyLimit {
                outgoing.body = .bytes(try await Self.whole(body, length: Int(length), mapping))
            } else {
                let stream = UploadStream(body)
                upload = stream
                outgoing.body = .stream(stream, length: body.length.map { .known($0) } ?? .unknown)
            }
        }
        let number = options.report.flatMap { configuration.allowsHTTP2 ? nil : pool.moments.register($0) }
        if let number { outgoing.headers.add(name: pool.moments.field, value: "\(number)") }
        defer { if let number { pool.moments.remove(number) } }
        let packed = PackedBytes()
        let packedNumber = pool.packed.register(packed)
        outgoing.headers.add(name: pool.packed.field, value: "\(packedNumber)")
        defer { pool.packed.remove(packedNumber) }
        let response: HTTPClientResponse
        do {
            let client = try pool.client(
                for: .init(
                    origin: origin.isSecure ? origin : nil, identity: options.clientIdentity,
                    proxyAuthorization: options.proxyAuthorization))
            response = try await execute(outgoing, by: client, mayRepeat: body == nil && request.method.isSafe)
        } catch let error as TransportConfigurationError {
            throw error
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // An error of the caller's own producer is passed on unchanged.
            if let failure = upload?.failure.value { throw failure }
            throw mapping.headError(error)
        }
        let isWatched = options.report != nil && number == nil
        if isWatched { options.report?(.firstByte(.now)) }
        let limit = UnpackingLimit(packed: packed, ratio: configuration.maxDecompressionRatio)
        guard var head = HTTPResponse(response) else {
            throw TransportError.malformed(
                host: authority, reason: "it is not HTTP (status \(response.status.code))")
        }
        let packing = request.method == .head ? nil : head.packing
        let stream = download(response, packing, limit: limit, mapping: mapping, method: request.method)
        if packing != nil {
            options.report?(.unpacked(coding: head.headerFields[.contentEncoding] ?? ""))
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        guard isWatched else { return (head, stream) }
        return (head, stream.observed { if $0 == nil { options.report?(.lastByte(.now)) } })
    }

    /// The number of bytes up to which a request body is sent as a whole. A whole body needs no switch between
    /// the caller's stream and the socket for each chunk.
    private static let wholeBodyLimit: Int64 = 64 << 10

    private static func whole(
        _ body: ByteStream, length: Int, _ mapping: TransportErrorMapping
    ) async throws -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(length)
        while let chunk = try await body.next() { buffer.writeBytes(chunk) }
        guard buffer.readableBytes == length else {
            throw mapping.headError(HTTPClientError.bodyLengthMismatch)
        }
        return buffer
    }

    private func message(_ request: HTTPRequest, origin: Origin, authority: String) -> HTTPClientRequest {
        // With our own TLS, the library sees a plain connection to the same port; see ``TLSUpgrade``.
        let isOwnTLS = origin.isSecure && !configuration.allowsHTTP2
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        let root = isOwnTLS ? "http://\(host):\(origin.port)" : "\(origin.scheme)://\(host):\(origin.port)"
        var outgoing = HTTPClientRequest(url: root + (request.path ?? "/"))
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers.add(name: "Host", value: authority)
        for field in request.headerFields where field.name != .cookie && field.name.rawName.lowercased() != "host" {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        // All cookies are sent in one field (RFC 6265, 5.4), although the message has a field for each of them.
        let cookies = request.headerFields[values: .cookie]
        if !cookies.isEmpty { outgoing.headers.add(name: "Cookie", value: cookies.joined(separator: "; ")) }
        return outgoing
    }

    private func execute(
        _ request: HTTPClientRequest, by client: HTTPClient, mayRepeat: Bool
    ) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(request, deadline: deadline)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed && mayRepeat {
            // The server closed a kept connection at the same time; RFC 9110, 9.2.2 allows a safe request to be
            // repeated.
            return try await client.execute(request, deadline: deadline)
        }
    }

    private var deadline: NIODeadline {
        configuration.headTimeout.map { .now() + TimeAmount($0) } ?? .distantFuture
    }

    private func download(
        _ response: HTTPClientResponse, _ packing: Unpacker.Packing?, limit: UnpackingLimit,
        mapping: TransportErrorMapping, method: HTTPRequest.Method
    ) -> ByteStream {
        var length: Int64?
        if method != .head, response.status != .notModified {
            length = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        }
        let unpacker = packing.map { Unpacker($0) }
        let reader = DownloadReader(
            response.body.makeAsyncIterator(), length: length, unpacker: unpacker, limit: limit, mapping: mapping)
        return ByteStream(length: packing == nil ? length : nil) { try await reader.next() }
    }
}

extension HTTPRequest.Method {
    /// Whether the method is safe (RFC 9110, 9.2.1).
    var isSafe: Bool { self == .get || self == .head || self == .options }
}

extension HTTPResponse {
    /// Creates the head of a response, or `nil` if its status is invalid (RFC 9110, 15); HTTP/2 allows any
    /// number.
    init?(_ response: HTTPClientResponse) {
        guard (100...999).contains(response.status.code) else { return nil }
        self.init(status: .init(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase))
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }

    /// The content coding that the transport decodes (RFC 9110, 8.4.1); `nil` for any other.
    var packing: Unpacker.Packing? {
        switch headerFields[.contentEncoding]?.lowercased() {
        case "gzip", "x-gzip": .gzip
        case "deflate": .deflate
        default: nil
        }
    }
}
