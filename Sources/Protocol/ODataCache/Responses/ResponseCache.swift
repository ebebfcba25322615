import Crypto
import Foundation
public import HTTPTypes
public import ODataService
import Synchronization

/// A private HTTP cache (RFC 9111). It answers with fresh responses, revalidates stale ones, and discards
/// responses that a change may have affected.
///
/// ```swift
/// let cache = ResponseCache()
/// let (response, body) = try await cache.respond(to: request, body: nil) { try await transport.send($0, body: $1) }
/// ```
///
/// `CachingTransport` of `ODataClient` applies this cache to a transport. Responses are kept in
/// ``MemoryResponseStore``, ``PersistentResponseStore`` (encrypted at rest) or a store of the app.
///
/// - Complete responses to GET with status 200, 203, 300, 301, 404 or 410 are cached, up to
///   ``Configuration/maxBodySize``. Responses with `no-store`, larger ones and parts (206) are not.
/// - The cache is `private`. A request is answered only with a response for the same credentials, unless
///   ``Configuration/user`` names the owner of the cache. Credentials are `Authorization`, cookies and the
///   client certificate. Every other field counts too, unless it is known not to identify a user, because API
///   keys and tenants can be in any field.
/// - A method other than GET, HEAD, OPTIONS and TRACE discards all responses below
///   ``Configuration/serviceRoot``, except `$metadata`. The reason is that a change of one entity affects every
///   collection that contains it. Without a service root, only the response of the URL is discarded (RFC 9111,
///   4.4). Nothing is discarded if the service refused the change (4xx). If the response was lost, the change
///   may have taken effect.
/// - A response is not cached if a change completes after its request was sent, because it may show the old
///   state. This covers changes through the same object only, not those of other objects or processes with the
///   same store.
public struct ResponseCache: Sendable {
    /// The settings of a cache.
    ///
    /// ```swift
    /// let cache = ResponseCache(configuration: .init(user: "ann", serviceRoot: root, staleIfError: 3_600))
    /// ```
    public struct Configuration: Sendable {
        /// The maximum number of bytes of a cached response; 4 MiB by default.
        public var maxBodySize: Int
        /// The owner of the cache. Set it if the credentials of one user change from request to request, as
        /// tokens do.
        public var user: String?
        /// The URL, with a trailing slash, below which a change discards all responses.
        public var serviceRoot: String?
        /// The number of seconds for which a stale response may be used if the service fails; 0 by default.
        /// `stale-if-error` (RFC 5861) in the request or the response takes precedence.
        public var staleIfError: Double

        /// Creates a configuration.
        public init(
            maxBodySize: Int = 4 << 20, user: String? = nil, serviceRoot: String? = nil, staleIfError: Double = 0
        ) {
            self.maxBodySize = maxBodySize
            self.user = user
            self.serviceRoot = serviceRoot
            self.staleIfError = staleIfError
        }
    }

    /// A closure that sends a request which the cache cannot answer.
    public typealias Send = @Sendable (HTTPRequest, ByteStream?) async throws -> (HTTPResponse, ByteStream)

    /// The field with the origin of a response: `hit`, `revalidated` or `stale`. It is missing in new
    /// responses.
    public static let statusField = HTTPField.Name("X-Outpost-Cache") ?? .age

    /// The maximum number of responses for one URL that differ by `Vary`; the oldest is removed first.
    public static let maximumVariants = 8

    private let store: any ResponseStore
    private let configuration: Configuration
    private let now: @Sendable () -> Date
    private let changes = ChangeCount()

    /// Creates a cache.
    public init(store: any ResponseStore = MemoryResponseStore(), configuration: Configuration = Configuration()) {
        self.init(store: store, configuration: configuration) { Date() }
    }

    init(store: any ResponseStore, configuration: Configuration, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.configuration = configuration
        self.now = now
    }

    /// Answers a request from the cache, or sends it.
    ///
    /// - Parameters:
    ///   - request: A request with an absolute URL.
    ///   - body: The body of the request.
    ///   - identity: Bytes that identify the user in addition to the header fields, such as a client
    ///     certificate.
    ///   - send: Sends a request.
    /// - Throws: The errors of `send`, unless a cached response may be used instead.
    public func respond(
        to request: HTTPRequest, body: ByteStream?, identity: [UInt8] = [], send: Send
    ) async throws -> (HTTPResponse, ByteStream) {
        let owner = owner(request, identity)
        guard let url = Self.url(of: request) else { return try await send(request, body) }
        guard request.method == .get else {
            guard !Self.safeMethods.contains(request.method) else { return try await send(request, body) }
            do {
                let answer = try await send(request, body)
                if !(400..<500).contains(answer.0.status.code) { await invalidate(url, owner, response: answer.0) }
                return answer
            } catch {
                await invalidate(url, owner, response: nil)
                throw error
            }
        }
        let asked = CacheControl(request.headerFields)
        // A conditional or partial request is passed on unchanged.
        guard !asked.has("no-store"), body == nil, Self.ownConditions.allSatisfy({ request.headerFields[$0] == nil })
        else { return try await send(request, body) }
        let key = owner + url
        let kept = await store.responses(for: key)
        let candidate = kept.filter { $0.fits(request) }.max { $0.responseTime < $1.responseTime }
        if let candidate, candidate.isFresh(for: asked, now()) { return answer(candidate, "hit") }
        if asked.has("only-if-cached") { return (HTTPResponse(status: .gatewayTimeout), ByteStream([])) }
        return try await fetch(request, key, candidate: candidate, asked: asked, send: send)
    }

    /// Removes all responses.
    public func removeAll() async { await store.removeAll() }

    // MARK: Asking

    private func fetch(
        _ request: HTTPRequest, _ key: String, candidate: StoredResponse?, asked: CacheControl, send: Send
    ) async throws -> (HTTPResponse, ByteStream) {
        var conditional = request
        if let candidate, candidate.hasValidator {
            if let etag = candidate.head.headerFields[.eTag] { conditional.headerFields[.ifNoneMatch] = etag }
            conditional.headerFields[.ifModifiedSince] = candidate.head.headerFields[.lastModified]
        }
        let requestTime = now()
        let changed = changes.number
        let (head, body): (HTTPResponse, ByteStream)
        do {
            (head, body) = try await send(conditional, nil)
        } catch {
            guard !(error is CancellationError), let candidate,
                candidate.mayStandIn(for: asked, now(), default: configuration.staleIfError)
            else { throw error }
            return answer(candidate, "stale")
        }
        let responseTime = now()
        if head.status == .notModified, let candidate, candidate.hasValidator {
            let fresh = candidate.freshened(by: head, requestTime: requestTime, responseTime: responseTime)
            await keep(fresh, for: key, changed)
            return answer(fresh, "revalidated")
        }
        if [500, 502, 503, 504].contains(head.status.code), let candidate,
            candidate.mayStandIn(for: asked, now(), default: configuration.staleIfError)
        {
            return answer(candidate, "stale")
        }
        guard mayKeep(head), let varying = StoredResponse.varying(head, request) else {
            // The cached response is outdated.
            if candidate != nil, (200..<500).contains(head.status.code) { await store.setResponses([], for: key) }
            return (head, body)
        }
        var kept = head
        // A cookie is valid only for the original response.
        kept.headerFields[.setCookie] = nil
        let stored = StoredResponse(
            head: kept, body: Data(), varying: varying, requestTime: requestTime, responseTime: responseTime)
        return (head, keeping(body, as: stored, for: key, changed))
    }

    /// The statuses that may be cached by default (RFC 9110, 15.1) and that OData services use.
    private static let keptStatuses: Set<Int> = [200, 203, 300, 301, 404, 410]

    private func mayKeep(_ head: HTTPResponse) -> Bool {
        guard Self.keptStatuses.contains(head.status.code) else { return false }
        let control = CacheControl(head.headerFields)
        guard !control.has("no-store") else { return false }
        let isExplicit = control.seconds("max-age") != nil || head.headerFields[.expires] != nil
        let hasValidator = head.headerFields[.eTag] != nil || head.headerFields[.lastModified] != nil
        // A response without freshness information and without a validator could never be used. An error is
        // cached only if the service requests it.
        return head.status.code < 400 ? isExplicit || hasValidator || configuration.staleIfError > 0 : isExplicit
    }

    /// Returns a body that is passed on as it arrives, and is cached when it has been read to its end.
    private func keeping(
        _ body: ByteStream, as stored: StoredResponse, for key: String, _ changed: UInt64
    ) -> ByteStream {
        if let length = body.length, length > Int64(configuration.maxBodySize) { return body }
        let copy = BodyCopy(limit: configuration.maxBodySize)
        return ByteStream(length: body.length) {
            if let chunk = try await body.next() {
                await copy.append(chunk)
                return chunk
            }
            if let bytes = await copy.take() {
                var stored = stored
                stored.body = bytes
                await keep(stored, for: key, changed)
            }
            return nil
        }
    }

    /// Caches a response, unless a change was made after its request.
    ///
    /// - Parameter changed: The number of changes when the request was sent.
    private func keep(_ response: StoredResponse, for key: String, _ changed: UInt64) async {
        guard changes.number == changed else { return }
        var all = await store.responses(for: key).filter { $0.varying != response.varying }
        all.append(response)
        await store.setResponses(Array(all.suffix(Self.maximumVariants)), for: key)
        // A concurrent change may have discarded the responses before this one was stored.
        if changes.number != changed { await store.setResponses([], for: key) }
    }

    // MARK: Answering

    private func answer(_ stored: StoredResponse, _ status: String) -> (HTTPResponse, ByteStream) {
        var head = stored.head
        head.headerFields[.age] = String(Int(min(stored.age(now()), Double(Int32.max))))
        head.headerFields[Self.statusField] = status
        return (head, ByteStream(Array(stored.body)))
    }

    // MARK: Forgetting

    private static let safeMethods: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]

    private static let ownConditions: [HTTPField.Name] = [
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]

    /// Discards the responses that a change may have affected.
    ///
    /// - Parameter response: The response to the change; `nil` if it was lost.
    private func invalidate(_ url: String, _ owner: String, response: HTTPResponse?) async {
        changes.add()
        guard let root = configuration.serviceRoot, url.hasPrefix(root) else {
            await store.setResponses([], for: owner + url)
            // The response may name further URLs of the same origin.
            for name in [HTTPField.Name.location, .contentLocation] {
                guard let text = response?.headerFields[name], let target = Self.resolve(text, url) else { continue }
                await store.setResponses([], for: owner + target)
            }
            return
        }
        let metadata = owner + root + "$metadata"
        let kept = await store.responses(for: metadata)
        await store.removeResponses(withPrefix: owner + root)
        if !kept.isEmpty { await store.setResponses(kept, for: metadata) }
    }

    private static func resolve(_ text: String, _ base: String) -> String? {
        guard let base = URL(string: base), let target = URL(string: text, relativeTo: base)?.absoluteURL,
            target.scheme == base.scheme, target.host == base.host, target.port == base.port
        else { return nil }
        return target.absoluteString
    }

    // MARK: Keys

    private static func url(of request: HTTPRequest) -> String? {
        guard let scheme = request.scheme, let authority = request.authority, let path = request.path else {
            return nil
        }
        return "\(scheme.lowercased())://\(authority.lowercased())\(path)"
    }

    /// Returns the owner of a response. Credentials are stored only as a hash.
    private func owner(_ request: HTTPRequest, _ identity: [UInt8]) -> String {
        if let user = configuration.user { return "\(user) " }
        var telling: [(name: String, value: String)] = []
        for field in request.headerFields {
            let name = field.name.canonicalName
            if !Self.impersonalFields.contains(name), !Self.impersonalPrefixes.contains(where: name.hasPrefix) {
                telling.append((name, field.value))
            }
        }
        guard !telling.isEmpty || !identity.isEmpty else { return "" }
        var hash = SHA256()
        // Each value is preceded by its length, so that different lists have different hashes. Fields are
        // sorted, because their order is not significant.
        func update(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: Array(bytes))
        }
        for (name, value) in telling.sorted(by: { ($0.name, $0.value) < ($1.name, $1.value) }) {
            update(name.utf8)
            update(value.utf8)
        }
        update(identity)
        return hash.finalize().prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + " "
    }

    /// Fields that describe the request or the desired response, but not the user.
    private static let impersonalFields: Set<String> = [
        "host", "user-agent", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "via",
        "expect", "date", "x-request-id", "range", "cache-control", "pragma", "prefer", "x-csrf-token",
        "x-requested-with", "x-correlationid",
        "traceparent", "tracestate", "baggage", "dataserviceversion", "maxdataserviceversion", "mindataserviceversion",
        "odata-version", "odata-maxversion", "odata-isolation", "isolation", "dnt", "origin", "referer",
        "x-http-method",
        "repeatability-request-id", "repeatability-first-sent", "repeatability-client-id",
    ]

    private static let impersonalPrefixes = ["accept", "content-", "if-"]
}

/// The number of changes that passed through a cache.
private final class ChangeCount: Sendable {
    private let count = Atomic<UInt64>(0)

    var number: UInt64 { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

/// A copy of a body, as long as it does not exceed the limit.
private actor BodyCopy {
    private var bytes: Data? = Data()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func append(_ chunk: [UInt8]) {
        guard let count = bytes?.count else { return }
        if count + chunk.count > limit { bytes = nil } else { bytes?.append(contentsOf: chunk) }
    }

    /// Returns all bytes, once.
    func take() -> Data? {
        defer { bytes = nil }
        return bytes
    }
}
