import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import ODataHTTP
import ODataService

/// Sends HTTP messages over sockets with SwiftNIO: the transport for Linux and for servers
/// (RFC 9110 and 9112; the binding that OData Protocol 4.01, 8 describes).
///
/// Bodies stream both ways: a request body is pulled as fast as the connection takes it, a response body
/// is read from the socket only as it is asked for. Certificates are always checked; there is no switch to
/// accept any.
///
/// ```swift
/// let transport = try NIOTransport()
/// let client = ODataClient(serviceRoot: "https://services.example/Northwind/", transport: transport)
/// …
/// try await transport.shutdown()
/// ```
public final class NIOTransport: HTTPTransport {
    private let client: HTTPClient
    private let configuration: Configuration

    /// Makes a transport with a connection pool of its own.
    ///
    /// - Throws: ``CertificateFileError`` when the trust roots cannot be read.
    public init(configuration: Configuration = Configuration()) throws(CertificateFileError) {
        self.configuration = configuration
        client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: try configuration.clientConfiguration())
    }

    /// Ends all connections and refuses what is sent later.
    ///
    /// A transport that is released without it does the same a little later.
    public func shutdown() async throws {
        try await client.shutdown()
    }

    deinit {
        // The client underneath traps when it is released while it has connections.
        let client = client
        Task { try? await client.shutdown() }
    }

    /// Sends a request and gives the answer as it came; redirects are the caller's.
    ///
    /// - Throws: ``TransportError``, `CancellationError`, and what the request body's producer throws.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let host = request.authority ?? ""
        guard let url = request.absoluteURL else {
            throw TransportError.invalidURL("\(request.scheme ?? "")://\(host)\(request.path ?? "")")
        }
        var outgoing = HTTPClientRequest(url: url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        if configuration.acceptsCompression, !outgoing.headers.contains(name: "Accept-Encoding") {
            outgoing.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        var upload: UploadStream?
        if let body {
            let stream = UploadStream(body)
            upload = stream
            outgoing.body = .stream(stream, length: body.length.map { .known($0) } ?? .unknown)
        }
        let response: HTTPClientResponse
        do {
            response = try await execute(outgoing, mayRepeat: body == nil && request.method.isSafe)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // What the caller's own producer threw is the caller's error, not the network's.
            if let failure = upload?.failure.value { throw failure }
            throw TransportErrorMapping(host: host).headError(error)
        }
        return (HTTPResponse(response), download(response, host: host, method: request.method))
    }

    private func execute(_ request: HTTPClientRequest, mayRepeat: Bool) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(request, deadline: deadline)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed && mayRepeat {
            // A kept connection that the server closed at the same moment; RFC 9110, 9.2.2 allows a safe
            // request to be sent again.
            return try await client.execute(request, deadline: deadline)
        }
    }

    private var deadline: NIODeadline {
        configuration.headTimeout.map { .now() + TimeAmount($0) } ?? .distantFuture
    }

    private func download(_ response: HTTPClientResponse, host: String, method: HTTPRequest.Method) -> ByteStream {
        let isDecoded = response.headers.contains(name: "Content-Encoding") && configuration.acceptsCompression
        var length: Int64?
        if method != .head, response.status != .notModified, !isDecoded {
            length = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        }
        let reader = DownloadReader(response.body.makeAsyncIterator(), length: length, host: host)
        return ByteStream(length: length) { try await reader.next() }
    }
}

extension HTTPRequest.Method {
    /// Whether the request asks for no change (RFC 9110, 9.2.1).
    var isSafe: Bool { self == .get || self == .head || self == .options }
}

extension HTTPRequest {
    /// The URL as text; `nil` without an http scheme or an authority.
    var absoluteURL: String? {
        guard let scheme = scheme?.lowercased(), scheme == "http" || scheme == "https", let authority,
            !authority.isEmpty
        else { return nil }
        return "\(scheme)://\(authority)\(path ?? "/")"
    }
}

extension HTTPResponse {
    /// The head of a response without the fields that decoding the body has made untrue.
    init(_ response: HTTPClientResponse) {
        self.init(status: .init(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase))
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}
