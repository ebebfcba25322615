import Crypto
import Foundation
public import HTTPTypes
public import ODataService
import Synchronization

/// A private HTTP cache (RFC 9111): answers from what is kept while it is fresh, asks whether it is still so when it
/// is not, and forgets what a change may have altered.
///
/// ```swift
/// let cache = ResponseCache()
/// let (response, body) = try await cache.respond(to: request, body: nil) { try await transport.send($0, body: $1) }
/// ```
///
/// `ODataClient` has `CachingTransport`, which is this around any transport. What is kept is a store's business:
/// ``MemoryResponseStore``, ``PersistentResponseStore`` (encrypted at rest), or an app's own.
///
/// - Kept are complete answers with status 200, 203, 300, 301, 404 or 410 to GET, unless request or response say
///   `no-store`, up to ``Configuration/maxBodySize``. Larger ones and parts (206) go through.
/// - It is a cache of one user (`private`). A request is answered only by what came for the same credentials, unless
///   ``Configuration/user`` says whose cache it is. Credentials are `Authorization`, cookies, the client certificate, and
///   every field that is not known to say nothing of the user, since API keys and tenants go in fields of any name.
/// - A request with another method than GET, HEAD, OPTIONS and TRACE makes it forget what begins with
///   ``Configuration/serviceRoot``, or the URL itself where there is none (RFC 9111, 4.4): a change of one entity
///   changes every collection that shows it. `$metadata` stays. So does everything where the service refused (4xx); one
///   whose answer was lost may have acted.
/// - What was asked for before a change was answered may tell of the time before it, and is not kept. This is seen of
///   changes through the same cache: another one, or another process, that shares its store does not know what is on
///   its way here.
public struct ResponseCache: Sendable {
    /// What can be set.
    public struct Configuration: Sendable {
        /// The most bytes of one response that are kept; 4 MiB if not said.
        public var maxBodySize: Int
        /// Whose cache this is, where one user's credentials change from request to request, as tokens do.
        public var user: String?
        /// What a change makes the cache forget: everything below this URL, which ends in a slash.
        public var serviceRoot: String?
        /// For how many seconds after it has become stale a response may stand in for one that cannot be had, where
        /// neither request nor response say (`stale-if-error`, RFC 5861); 0 if not said.
        public var staleIfError: Double

        /// Makes a configuration.
        public init(
            maxBodySize: Int = 4 << 20, user: String? = nil, serviceRoot: String? = nil, staleIfError: Double = 0
        ) {
            self.maxBodySize = maxBodySize
            self.user = user
            self.serviceRoot = serviceRoot
            self.staleIfError = staleIfError
        }
    }

    /// What sends a request that the cache cannot answer.
    public typealias Send = @Sendable (HTTPRequest, ByteStream?) async throws -> (HTTPResponse, ByteStream)

    /// The field that says how a response came about: `hit`, `revalidated`, `stale` or nothing.
    public static let statusField = HTTPField.Name("X-Outpost-Cache") ?? .age

    /// The most responses of one URL that differ by `Vary`; the oldest goes first.
    public static let maximumVariants = 8

    private let store: any ResponseStore
    private let configuration: Configuration
    private let now: @Sendable () -> Date
    private let changes = ChangeCount()

    /// Makes a cache.
    public init(store: any ResponseStore = MemoryResponseStore(), configuration: Configuration = Configuration()) {
        self.init(store: store, configuration: configuration) { Date() }
    }

    init(store: any ResponseStore, configuration: Configuration, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.configuration = configuration
        self.now = now
    }

    /// Answers a request, sending it only where that is needed.
    ///
    /// - Parameters:
    ///   - request: With its absolute URL.
    ///   - body: What to send.
    ///   - identity: What tells the user apart beside the fields of the request, such as a client certificate.
    ///   - send: Sends it.
    /// - Throws: What `send` throws, unless a kept response may stand in.
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
        // A request with conditions or for a part is its sender's own business.
        guard !asked.has("no-store"), body == nil, Self.ownConditions.allSatisfy({ request.headerFields[$0] == nil })
        else { return try await send(request, body) }
        let key = owner + url
        let kept = await store.responses(for: key)
        let candidate = kept.filter { $0.fits(request) }.max { $0.responseTime < $1.responseTime }
        if let candidate, candidate.isFresh(for: asked, now()) { return answer(candidate, "hit") }
        if asked.has("only-if-cached") { return (HTTPResponse(status: .gatewayTimeout), ByteStream([])) }
        return try await fetch(request, key, candidate: candidate, asked: asked, send: send)
    }

    /// Forgets everything.
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
            // What there was is no longer so.
            if candidate != nil, (200..<500).contains(head.status.code) { await store.setResponses([], for: key) }
            return (head, body)
        }
        var kept = head
        // A cookie was for that moment.
        kept.headerFields[.setCookie] = nil
        let stored = StoredResponse(
            head: kept, body: Data(), varying: varying, requestTime: requestTime, responseTime: responseTime)
        return (head, keeping(body, as: stored, for: key, changed))
    }

    /// Statuses that a cache may keep when it knows no more of them (RFC 9110, 15.1) and that OData services use.
    private static let keptStatuses: Set<Int> = [200, 203, 300, 301, 404, 410]

    private func mayKeep(_ head: HTTPResponse) -> Bool {
        guard Self.keptStatuses.contains(head.status.code) else { return false }
        let control = CacheControl(head.headerFields)
        guard !control.has("no-store") else { return false }
        let isExplicit = control.seconds("max-age") != nil || head.headerFields[.expires] != nil
        let hasValidator = head.headerFields[.eTag] != nil || head.headerFields[.lastModified] != nil
        // Without a word on freshness and without a validator there is nothing that it could be used for; an error is
        // kept only when the service says so.
        return head.status.code < 400 ? isExplicit || hasValidator || configuration.staleIfError > 0 : isExplicit
    }

    /// Hands a body on as it comes, and keeps it when it was read to its end.
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

    /// Keeps a response, unless there was a change since it was asked for.
    ///
    /// - Parameter changed: The number of changes when it was.
    private func keep(_ response: StoredResponse, for key: String, _ changed: UInt64) async {
        guard changes.number == changed else { return }
        var all = await store.responses(for: key).filter { $0.varying != response.varying }
        all.append(response)
        await store.setResponses(Array(all.suffix(Self.maximumVariants)), for: key)
        // One that came meanwhile may have forgotten what there was before this was kept.
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

    /// Forgets what a change may have altered.
    ///
    /// - Parameter response: The answer; `nil` where it was lost.
    private func invalidate(_ url: String, _ owner: String, response: HTTPResponse?) async {
        changes.add()
        guard let root = configuration.serviceRoot, url.hasPrefix(root) else {
            await store.setResponses([], for: owner + url)
            // Other addresses of the same origin that the response names.
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

    /// Whose response it is. Credentials are not kept, only what tells them apart.
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
        // Each with its length, so that no two lists look alike. Fields of several names come in any order.
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

    /// Fields that say how a request is to be answered, or how it is sent, and nothing of the user.
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

/// How many changes went through a cache.
private final class ChangeCount: Sendable {
    private let count = Atomic<UInt64>(0)

    var number: UInt64 { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

/// The bytes of a body that goes by, unless they are too many.
private actor BodyCopy {
    private var bytes: Data? = Data()
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func append(_ chunk: [UInt8]) {
        guard let count = bytes?.count else { return }
        if count + chunk.count > limit { bytes = nil } else { bytes?.append(contentsOf: chunk) }
    }

    /// All of them, once.
    func take() -> Data? {
        defer { bytes = nil }
        return bytes
    }
}
