import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Secrets
import Synchronization

/// Passes requests of devices to a back end over HTTP, byte by byte as far as possible (`mobile-server.md` 6.3).
///
/// Links are rewritten in header fields, in JSON, XML and batches. Nothing but the configured origin is ever asked: a
/// path cannot leave the service root, links of requests must lie below it, and a redirect to another origin is not
/// followed.
final class DestinationProxy: Sendable {
    /// The greatest length of a URL in bytes (`mobile-server.md` 16).
    static let urlLimit = 8192
    /// The size up to which a body is rewritten in memory, so that its length is known and it can be sent again.
    static let memoryLimit = 1 << 20
    /// The greatest number of sessions of users that are kept.
    static let sessionLimit = 500
    /// The greatest size of the response to a batch, in bytes.
    static let batchLimit = 64 << 20

    /// The service root of the back end.
    let root: ServiceRoot
    let gate: DestinationGate
    let mapping: ErrorMapping
    private let credentials: DestinationCredentials
    private let transport: any HTTPTransport
    /// The longest wait for the head of a response, and for its body if it is needed as a whole.
    let timeout: Duration
    private let rewrites: Bool
    private let uploadLimit: Int
    private let sessions = Mutex<(byName: [[UInt8]: BackEndSession], order: [[UInt8]])>(([:], []))

    /// - Throws: `TransportError` if the URL of the destination is not absolute.
    init(
        _ configuration: DestinationConfiguration, credentials: DestinationCredentials, transport: any HTTPTransport,
        uploadLimit: Int64
    ) throws {
        root = try ServiceRoot(configuration.url)
        guard root.origin != nil else { throw TransportError.invalidURL(configuration.url) }
        gate = DestinationGate(limit: configuration.gate, queue: configuration.queue)
        mapping = ErrorMapping(codes: configuration.errorCodes)
        self.credentials = credentials
        self.transport = transport
        timeout = configuration.timeout
        rewrites = configuration.rewritesURLs
        self.uploadLimit = Int(clamping: uploadLimit)
    }

    /// A request on its way: the address of the destination for devices, and the credentials of the user.
    struct Circumstances: Sendable {
        /// The address under which devices see the destination.
        let publicRoot: ServiceRoot
        /// The value of `Authorization` that the user showed.
        let credentials: Secret<String>?
        /// Whether the back end recognises repeats, so that the fields of repeatable requests are passed on.
        var passesRepeatability = false
    }

    /// A request that can be sent.
    struct Outgoing: Sendable {
        let message: HTTPRequest
        let body: ByteStream?
        /// The URL relative to the service root.
        let relative: String
        let isBatch: Bool
    }

    // MARK: Requests

    /// Returns the request for the back end.
    ///
    /// - Throws: ``ODataError`` or ``ForeignLink`` for a request that must not be sent.
    func outgoing(
        _ request: HTTPRequest, _ body: ByteStream, circumstances: Circumstances
    ) async throws -> Outgoing {
        let path = request.path ?? "/"
        guard path.utf8.count <= Self.urlLimit else {
            throw ODataError(status: 414, code: "TooLarge", message: "The URL is too long.")
        }
        guard var relative = circumstances.publicRoot.relative(path), LinkMap.isPlain(path: relative) else {
            throw DestinationFailure.foreignLink
        }
        let map = LinkMap(from: circumstances.publicRoot, to: root)
        if rewrites { relative = Self.mappingID(in: relative, map) }
        var message = HTTPRequest(
            method: request.method, scheme: root.scheme, authority: root.authority, path: root.path + relative)
        message.headerFields = ProxiedFields.request(request.headerFields)
        if !circumstances.passesRepeatability {
            for name in Self.repeatabilityNames { message.headerFields[name] = nil }
        }
        guard request.method != .get, request.method != .head, body.length != 0 else {
            return Outgoing(message: message, body: nil, relative: relative, isBatch: false)
        }
        let type = request.headerFields[.contentType].flatMap { MediaType($0) }
        if let type, type.matches("multipart", "mixed"), let boundary = type["boundary"] {
            let bytes = try await collected(body)
            let batch = try batch(MultipartBody(bytes, boundary: boundary), map, circumstances: circumstances)
            return Outgoing(message: message, body: ByteStream(batch.bytes), relative: relative, isBatch: true)
        }
        let isBatch = relative.prefix { $0 != "?" } == "$batch"
        let (start, whole) = try await body.beginning(Self.memoryLimit)
        let isComplete = start.count < Self.memoryLimit
        let plain = isComplete ? ByteStream(start) : whole
        guard rewrites, !relative.prefix(while: { $0 != "?" }).hasSuffix("/$value"),
            var rewriter = Self.rewriter(type, relative, map: map, isRequest: true)
        else { return Outgoing(message: message, body: plain, relative: relative, isBatch: isBatch) }
        guard isComplete else {
            return Outgoing(message: message, body: plain.rewritten(by: rewriter), relative: relative, isBatch: isBatch)
        }
        let bytes = try rewriter.take(start) + rewriter.finish()
        return Outgoing(message: message, body: ByteStream(bytes), relative: relative, isBatch: isBatch)
    }

    private func collected(_ body: ByteStream) async throws -> [UInt8] {
        do {
            return try await body.collect(limit: uploadLimit)
        } catch let error as ODataError where error.status == 413 {
            throw DestinationFailure.tooLarge
        }
    }

    /// Returns the parts of a batch for the back end.
    func batch(
        _ batch: MultipartBody, _ map: LinkMap, circumstances: Circumstances
    ) throws -> MultipartBody {
        var batch = batch
        try batch.mapMessages { message in
            let words = message.line.split(separator: " ")
            guard words.count >= 2 else { throw MultipartBody.Malformed() }
            let url = String(words[1])
            guard map.isInside(url) else { throw ForeignLink() }
            if let mapped = map.mapped(url) {
                message.line = ([words[0], Substring(mapped)] + words.dropFirst(2)).joined(separator: " ")
            }
            message.fields.removeAll { field in
                ProxiedFields.isKeptBack(field.name)
                    || !circumstances.passesRepeatability && field.name.lowercased().hasPrefix("repeatability-")
            }
            guard rewrites, !message.body.isEmpty,
                var rewriter = Self.rewriter(
                    message.value("Content-Type").flatMap { MediaType($0) }, url, map: map, isRequest: true)
            else { return }
            message.setBody(try rewriter.take(message.body) + rewriter.finish())
        }
        return batch
    }

    /// Returns a relative URL with its option `$id` mapped to the back end.
    private static func mappingID(in relative: String, _ map: LinkMap) -> String {
        guard let mark = relative.firstIndex(of: "?"), relative.contains("id=") else { return relative }
        let options = relative[relative.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let mapped = options.map { option -> String in
            guard let name = ["$id=", "%24id="].first(where: { option.hasPrefix($0) }),
                let value = String(option.dropFirst(name.count)).removingPercentEncoding,
                let link = map.mapped(value),
                let encoded = link.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed)
            else { return String(option) }
            return name + encoded
        }
        return relative[...mark] + mapped.joined(separator: "&")
    }

    // MARK: Sending

    /// Sends a request and returns the response for the device.
    ///
    /// A change is carried to its end even if the device goes away (`design-review.md` 11).
    func send(_ outgoing: Outgoing, _ circumstances: Circumstances) async throws -> (HTTPResponse, ByteStream) {
        let isRead = [.get, .head, .options].contains(outgoing.message.method)
        guard !isRead else { return try await exchange(outgoing, circumstances) }
        return try await Task { try await self.exchange(outgoing, circumstances) }.value
    }

    private func exchange(
        _ outgoing: Outgoing, _ circumstances: Circumstances
    ) async throws -> (HTTPResponse, ByteStream) {
        let session = try session(for: circumstances.credentials)
        let place = try await gate.enter()
        let answer: (HTTPResponse, ByteStream)
        do {
            answer = try await withTimeLimit(timeout) {
                try await session.send(outgoing.message, body: outgoing.body)
            }
        } catch {
            let isOurs = error is ODataError || error is CancellationError
            gate.note(isFailure: !isOurs)
            place.release()
            throw error
        }
        gate.note(isFailure: [502, 503, 504].contains(answer.0.status.code))
        let held = answer.1.holding(place)
        if answer.1.length == 0 { place.release() }
        return try await incoming((answer.0, held), to: outgoing, circumstances)
    }

    private func session(for secret: Secret<String>?) throws -> BackEndSession {
        let name = credentials.sessionName(for: secret)
        if let known = sessions.withLock({ $0.byName[name] }) { return known }
        let made = try BackEndSession(
            root: root, authentication: try credentials.authentication(for: secret), identity: credentials.identity,
            transport: transport)
        return sessions.withLock { sessions in
            if let known = sessions.byName[name] { return known }
            sessions.byName[name] = made
            sessions.order.append(name)
            if sessions.order.count > Self.sessionLimit {
                sessions.byName[sessions.order.removeFirst()] = nil
            }
            return made
        }
    }

    // MARK: Responses

    /// Returns the response for the device.
    private func incoming(
        _ answer: (HTTPResponse, ByteStream), to outgoing: Outgoing, _ circumstances: Circumstances
    ) async throws -> (HTTPResponse, ByteStream) {
        var (response, body) = answer
        if response.status == .unauthorized, !credentials.isPersonal {
            // The device cannot help that the server's own credentials are refused.
            throw DestinationFailure.credentialsRefused
        }
        let challenge = response.headerFields[.wwwAuthenticate]
        response.headerFields = ProxiedFields.response(response.headerFields)
        if response.status == .unauthorized { response.headerFields[.wwwAuthenticate] = challenge }
        let map = LinkMap(from: root, to: circumstances.publicRoot)
        if (300..<400).contains(response.status.code), response.status != .notModified {
            guard let location = response.headerFields[.location], map.isInside(location) else {
                throw DestinationFailure.badGateway
            }
        }
        if rewrites { rewriteFields(of: &response, map) }
        if outgoing.message.method == .head || response.status == .noContent || response.status == .notModified {
            return (response, ByteStream([]))
        }
        let type = response.headerFields[.contentType].flatMap { MediaType($0) }
        if let type, type.matches("multipart", "mixed"), let boundary = type["boundary"] {
            let bytes = try await body.collect(limit: Self.batchLimit)
            let parts = try answers(MultipartBody(bytes, boundary: boundary), map)
            return Self.stated(response, ByteStream(parts.bytes))
        }
        (response, body) = try await mapping.apply(response, body)
        guard rewrites, !outgoing.relative.prefix(while: { $0 != "?" }).hasSuffix("/$value"),
            var rewriter = Self.rewriter(type, outgoing.relative, map: map, isRequest: false)
        else { return Self.stated(response, body) }
        if let length = body.length, length <= Self.memoryLimit {
            let bytes = try await body.collect(limit: Self.memoryLimit)
            return Self.stated(response, ByteStream(try rewriter.take(bytes) + rewriter.finish()))
        }
        return Self.stated(response, body.rewritten(by: rewriter))
    }

    /// Returns the parts of a batch's response for the device.
    private func answers(_ batch: MultipartBody, _ map: LinkMap) throws -> MultipartBody {
        var batch = batch
        try batch.mapMessages { message in
            message.fields.removeAll { ProxiedFields.isKeptFromDevice($0.name) }
            let words = message.line.split(separator: " ", maxSplits: 2)
            if words.count >= 2, let status = Int(words[1]), status >= 400 {
                let (logical, bytes) = mapping.apply(to: message.body, status: status)
                if logical != status {
                    message.line = "\(words[0]) \(logical) \(HTTPResponse.Status(code: logical).reasonPhrase)"
                }
                message.setBody(bytes)
            }
            guard rewrites else { return }
            for index in message.fields.indices where Self.linkNames.contains(message.fields[index].name.lowercased()) {
                if let mapped = map.mapped(message.fields[index].value) { message.fields[index].value = mapped }
            }
            guard !message.body.isEmpty,
                var rewriter = Self.rewriter(
                    message.value("Content-Type").flatMap { MediaType($0) }, "", map: map, isRequest: false)
            else { return }
            message.setBody(try rewriter.take(message.body) + rewriter.finish())
        }
        return batch
    }

    private func rewriteFields(of response: inout HTTPResponse, _ map: LinkMap) {
        for name in Self.linkNames {
            guard let field = HTTPField.Name(name), let value = response.headerFields[field] else { continue }
            if let mapped = map.mapped(value) {
                response.headerFields[field] = mapped
            } else if LinkMap.isAbsolute(value) {
                // The address of another place says nothing to a device, and something about the network.
                response.headerFields[field] = nil
            }
        }
    }

    private static func stated(_ response: HTTPResponse, _ body: ByteStream) -> (HTTPResponse, ByteStream) {
        var response = response
        response.headerFields[.contentLength] = body.length.map { String($0) }
        return (response, body)
    }

    // MARK: Names

    /// The fields of repeatable requests.
    static let repeatabilityNames = [
        "Repeatability-Request-ID", "Repeatability-First-Sent", "Repeatability-Client-ID",
    ].compactMap { HTTPField.Name($0) }

    private static let linkNames: Set = ["location", "content-location", "odata-entityid", "dataserviceid"]

    /// Returns a rewriter for a body, or `nil` if the body has no links.
    private static func rewriter(
        _ type: MediaType?, _ relative: String, map: LinkMap, isRequest: Bool
    ) -> (any BodyRewriter)? {
        guard let type else { return nil }
        let path = relative.prefix { $0 != "?" }
        if type.isJSON {
            let content: JSONLinkRewriter.Content =
                path == "$batch"
                ? .batch(isRequest: isRequest)
                : path.isEmpty ? .serviceDocument : path.contains("/$links/") ? .references : .plain
            return JSONLinkRewriter(map, content: content)
        }
        let isXML = type.subtype == "xml" || type.subtype.hasSuffix("+xml")
        return isXML && (type.type == "application" || type.type == "text") ? XMLLinkRewriter(map) : nil
    }
}

/// Carries out work, and gives it up after a time.
///
/// - Throws: `TransportError.timedOut` after the time.
func withTimeLimit<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TransportError.timedOut(host: "")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}
