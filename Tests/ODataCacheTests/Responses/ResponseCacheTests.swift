import Foundation
import HTTPTypes
import ODataService
import Secrets
import Synchronization
import Testing

@testable import ODataCache

/// A service with scripted responses and a manual clock.
private final class Origin: Sendable {
    struct State {
        var now = Date(timeIntervalSince1970: 1_000_000_000)
        var requests: [HTTPRequest] = []
        var answer: @Sendable (HTTPRequest) throws -> (HTTPResponse, String) = { _ in (HTTPResponse(status: .ok), "") }
    }
    let state = Mutex(State())

    var count: Int { state.withLock { $0.requests.count } }
    var last: HTTPRequest? { state.withLock { $0.requests.last } }
    func pass(_ seconds: Double) { state.withLock { $0.now += seconds } }

    func answer(_ fields: HTTPFields = [:], status: HTTPResponse.Status = .ok, _ text: String = "body") {
        state.withLock { $0.answer = { _ in (HTTPResponse(status: status, headerFields: fields), text) } }
    }
    func answer(_ answer: @escaping @Sendable (HTTPRequest) throws -> (HTTPResponse, String)) {
        state.withLock { $0.answer = answer }
    }

    func cache(
        _ configuration: ResponseCache.Configuration = .init(), store: any ResponseStore = MemoryResponseStore()
    ) -> ResponseCache {
        ResponseCache(store: store, configuration: configuration) { self.state.withLock { $0.now } }
    }

    func send(_ request: HTTPRequest, _ body: ByteStream?) throws -> (HTTPResponse, ByteStream) {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answer
        }
        let (head, text) = try answer(request)
        return (head, ByteStream(Array(text.utf8)))
    }
}

/// A store that an app provides.
private actor ForeignStore: ResponseStore {
    private(set) var kept: [String: [StoredResponse]] = [:]
    func responses(for url: String) -> [StoredResponse] { kept[url] ?? [] }
    func setResponses(_ responses: [StoredResponse], for url: String) { kept[url] = responses }
    func removeResponses(withPrefix prefix: String) { kept = kept.filter { !$0.key.hasPrefix(prefix) } }
    func removeAll() { kept = [:] }
}

@Suite("A private HTTP cache (RFC 9111)")
struct ResponseCacheTests {
    private let origin: Origin

    init() { origin = Origin() }

    private init(_ origin: Origin) { self.origin = origin }

    private func get(
        _ cache: ResponseCache, _ path: String = "/Orders", _ fields: HTTPFields = [:],
        method: HTTPRequest.Method = .get
    ) async throws -> (status: Int, text: String, how: String) {
        let request = HTTPRequest(
            method: method, scheme: "http", authority: "host", path: path, headerFields: fields)
        let origin = origin
        let (head, body) = try await cache.respond(to: request, body: nil) { try origin.send($0, $1) }
        let text = String(decoding: try await body.collect(limit: 1 << 20), as: UTF8.self)
        return (head.status.code, text, head.headerFields[ResponseCache.statusField] ?? "sent")
    }

    @Test("Users are distinguished by every header field that identifies them")
    func users() async throws {
        let store = MemoryResponseStore()
        let name = try #require(HTTPField.Name("X-API-Key"))
        let fields: [HTTPFields] = [
            [:], [.authorization: "Basic a"], [.authorization: "Basic b"], [.cookie: "session=1"],
            [.cookie: "session=2"],
            [name: "k1"], [name: "k2"], [name: "k1", .cookie: "session=1"],
        ]
        origin.answer([.cacheControl: "max-age=60"])
        let cache = origin.cache(store: store)
        for field in fields { #expect(try await get(cache, "/Orders", field).how == "sent", "\(field)") }
        for field in fields { #expect(try await get(cache, "/Orders", field).how == "hit", "\(field)") }
        let request = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/Orders")
        for identity in [[1], [2]] as [[UInt8]] {
            let origin = origin
            let (head, body) = try await cache.respond(to: request, body: nil, identity: identity) {
                try origin.send($0, $1)
            }
            _ = try await body.collect(limit: 100)
            #expect(head.headerFields[ResponseCache.statusField] == nil)
        }
    }

    @Test("Fields that do not identify the user do not separate responses")
    func impersonalFields() async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=60"])
        _ = try await get(cache, "/Orders", [.accept: "application/json", .userAgent: "a"])
        let id = try #require(HTTPField.Name("X-Request-ID"))
        #expect(try await get(cache, "/Orders", [.accept: "*/*", .userAgent: "b", id: "7"]).how == "hit")
    }

    @Test("4.2 A fresh response is used with its age, and a stale one is requested again")
    func freshness() async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=60"], "one")
        #expect(try await get(cache).how == "sent")
        origin.answer([.cacheControl: "max-age=60"], "two")
        origin.pass(59)
        let hit = try await get(cache)
        #expect(hit.text == "one" && hit.how == "hit")
        origin.pass(1)
        #expect(try await get(cache).text == "two")
        #expect(origin.count == 2)
    }

    @Test("4.2.1 max-age outranks Expires, Expires counts from Date, and an invalid date has expired")
    func expires() async throws {
        let date = "Sun, 09 Sep 2001 01:46:40 GMT"
        for (fields, isHit) in [
            ([.date: date, .expires: "Sun, 09 Sep 2001 01:47:40 GMT"], true),
            ([.date: date, .expires: "Sunday, 09-Sep-01 01:47:40 GMT"], true),
            ([.date: date, .expires: "Sun Sep  9 01:47:40 2001"], true),
            ([.date: date, .expires: "0"], false),
            ([.date: date, .expires: "Sun, 09 Sep 2001 01:47:40 GMT", .cacheControl: "max-age=1"], false),
            ([.age: "90", .cacheControl: "max-age=100"], false),
            ([.age: "10", .cacheControl: "max-age=100"], true),
        ] as [(HTTPFields, Bool)] {
            let origin = Origin()
            origin.answer(fields)
            let cache = origin.cache()
            let tests = ResponseCacheTests(origin)
            _ = try await tests.get(cache)
            origin.pass(30)
            #expect(try await tests.get(cache).how == (isHit ? "hit" : "sent"), "\(fields)")
        }
    }

    @Test("4.2.2 A response with only Last-Modified is fresh for a tenth of its age, at most a day")
    func heuristic() async throws {
        let cache = origin.cache()
        origin.answer([.date: "Sun, 09 Sep 2001 01:46:40 GMT", .lastModified: "Sun, 09 Sep 2001 00:46:40 GMT"])
        _ = try await get(cache)
        origin.pass(359)
        #expect(try await get(cache).how == "hit")
        origin.pass(2)
        #expect(try await get(cache).how == "sent")
    }

    @Test("4.3 A stale response is validated by ETag and date, and 304 renews it")
    func validation() async throws {
        let cache = origin.cache()
        origin.answer(
            [.eTag: "\"1\"", .lastModified: "Sun, 09 Sep 2001 00:46:40 GMT", .cacheControl: "max-age=1"], "one")
        _ = try await get(cache)
        origin.pass(5)
        origin.answer([.cacheControl: "max-age=100", .eTag: "\"1\""], status: .notModified, "")
        let validated = try await get(cache)
        #expect(validated.text == "one" && validated.status == 200 && validated.how == "revalidated")
        #expect(origin.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(origin.last?.headerFields[.ifModifiedSince] == "Sun, 09 Sep 2001 00:46:40 GMT")
        origin.pass(90)
        #expect(try await get(cache).how == "hit")
        #expect(origin.count == 2)
    }

    @Test("A response with an ETag and without a lifetime is validated each time")
    func alwaysValidated() async throws {
        let cache = origin.cache()
        origin.answer([.eTag: "W/\"1\""], "one")
        _ = try await get(cache)
        origin.answer([:], status: .notModified, "")
        #expect(try await get(cache).how == "revalidated")
        origin.answer([.eTag: "W/\"2\""], "two")
        #expect(try await get(cache).text == "two")
        origin.answer([:], status: .notModified, "")
        #expect(try await get(cache).text == "two")
    }

    @Test(
        "5.2 Directives of requests and responses are followed",
        arguments: [
            ("no-store", "", "sent"), ("no-cache, max-age=100", "", "sent"), ("max-age=100", "no-cache", "sent"),
            ("max-age=100", "max-age=10", "sent"), ("max-age=100", "max-age=50", "hit"),
            ("max-age=100", "min-fresh=90", "sent"), ("max-age=100", "min-fresh=60", "hit"),
            ("max-age=10", "max-stale", "hit"), ("max-age=10", "max-stale=30", "hit"),
            ("max-age=10", "max-stale=5", "sent"),
            ("max-age=10, must-revalidate", "max-stale", "sent"), ("private, max-age=100", "", "hit"),
            ("max-age=\"100\"", "", "hit"), ("max-age=x", "", "sent"), ("MAX-AGE=100", "", "hit"),
            ("max-age=100, max-age=1", "", "sent"), ("max-age=99999999999999999999", "", "hit"),
            ("max-age=100", "no-store", "sent"),
        ])
    func directives(_ response: String, _ request: String, _ how: String) async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: response])
        _ = try await get(cache)
        origin.pass(30)
        #expect(try await get(cache, "/Orders", request.isEmpty ? [:] : [.cacheControl: request]).how == how)
    }

    @Test("5.2.1.7 only-if-cached gives 504 without a stored response")
    func onlyIfCached() async throws {
        #expect(try await get(origin.cache(), "/Orders", [.cacheControl: "only-if-cached"]).status == 504)
        #expect(origin.count == 0)
    }

    @Test("4.1 Responses with Vary are selected by these fields")
    func vary() async throws {
        let cache = origin.cache()
        origin.answer { request in
            let language = request.headerFields[.acceptLanguage] ?? "-"
            return (
                HTTPResponse(
                    status: .ok, headerFields: [.vary: "Accept-Language, Accept", .cacheControl: "max-age=9"]),
                language
            )
        }
        for (language, how) in [("de", "sent"), ("en", "sent"), ("de", "hit"), ("en", "hit"), ("fr", "sent")] {
            let answer = try await get(cache, "/Orders", [.acceptLanguage: language])
            #expect(answer.how == how && answer.text == language)
        }
        #expect(try await get(cache).how == "sent")
        origin.answer([.vary: "*", .cacheControl: "max-age=9"])
        _ = try await get(cache, "/Other")
        #expect(try await get(cache, "/Other").how == "sent")
    }

    @Test("The number of variants is limited, and the oldest is removed")
    func variants() async throws {
        let cache = origin.cache()
        origin.answer([.vary: "Accept-Language", .cacheControl: "max-age=99"])
        let count = ResponseCache.maximumVariants
        for number in 0...count { _ = try await get(cache, "/Orders", [.acceptLanguage: "\(number)"]) }
        #expect(try await get(cache, "/Orders", [.acceptLanguage: "1"]).how == "hit")
        #expect(try await get(cache, "/Orders", [.acceptLanguage: "0"]).how == "sent")
    }

    @Test("4.4 A successful change removes all responses of the service except its metadata")
    func invalidation() async throws {
        let cache = origin.cache(.init(serviceRoot: "http://host/svc/"))
        origin.answer([.cacheControl: "max-age=100"])
        let paths = ["/svc/Orders", "/svc/Orders(1)", "/svc/$metadata", "/elsewhere"]
        for path in paths { _ = try await get(cache, path) }
        origin.answer([:], status: .preconditionFailed)
        _ = try await get(cache, "/svc/Orders(1)", method: .patch)
        for path in paths { #expect(try await get(cache, path).how == "hit") }
        origin.answer([:], status: .noContent, "")
        for method in [HTTPRequest.Method.head, .options] { _ = try await get(cache, "/svc/Orders(1)", method: method) }
        for path in paths { #expect(try await get(cache, path).how == "hit") }
        for method in [HTTPRequest.Method.patch, .put, .post, .delete] {
            origin.answer([:], status: .noContent, "")
            _ = try await get(cache, "/svc/Orders(1)", method: method)
            origin.answer([.cacheControl: "max-age=100"])
            for (path, how) in zip(paths, ["sent", "sent", "hit", "hit"]) {
                #expect(try await get(cache, path).how == how, "\(method) \(path)")
            }
        }
    }

    @Test("A response to a request sent before a change is not stored", arguments: [false, true])
    func overtaken(_ isRevalidated: Bool) async throws {
        let cache = origin.cache(.init(serviceRoot: "http://host/svc/"))
        let fields: HTTPFields = [.cacheControl: "max-age=100", .eTag: "\"1\""]
        if isRevalidated {
            origin.answer(fields, "before")
            _ = try await get(cache, "/svc/Orders")
            origin.pass(200)
        }
        let origin = origin
        let request = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/svc/Orders")
        let change = HTTPRequest(method: .patch, scheme: "http", authority: "host", path: "/svc/Orders(1)")
        let (_, body) = try await cache.respond(to: request, body: nil) { conditional, body in
            // The service reads the old state for its response, but the change is answered first.
            origin.answer(fields, status: isRevalidated ? .notModified : .ok, isRevalidated ? "" : "before")
            let answer = try origin.send(conditional, body)
            origin.answer([:], status: .noContent, "")
            _ = try await cache.respond(to: change, body: nil) { try origin.send($0, $1) }
            return answer
        }
        #expect(String(decoding: try await body.collect(limit: 100), as: UTF8.self) == "before")
        origin.answer(fields, "after")
        #expect(try await get(cache, "/svc/Orders").text == "after")
        #expect(try await get(cache, "/svc/Orders").how == "hit")
    }

    @Test("A change with a lost response or a server error also removes entries")
    func uncertainChanges() async throws {
        struct Lost: Error {}
        let cache = origin.cache(.init(serviceRoot: "http://host/svc/"))
        for status in [HTTPResponse.Status?.none, .internalServerError, .gatewayTimeout] {
            origin.answer([.cacheControl: "max-age=100"], "before")
            _ = try await get(cache, "/svc/Orders")
            #expect(try await get(cache, "/svc/Orders").how == "hit")
            if let status { origin.answer([:], status: status, "") } else { origin.answer { _ in throw Lost() } }
            _ = try? await get(cache, "/svc/Orders(1)", method: .patch)
            origin.answer([.cacheControl: "max-age=100"], "after")
            #expect(try await get(cache, "/svc/Orders").how == "sent")
        }
    }

    @Test("4.4 Without a service root, a change removes the entries of its URL and of the URLs in its response")
    func narrowInvalidation() async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=100"])
        for path in ["/Orders", "/Orders(7)", "/Other"] { _ = try await get(cache, path) }
        origin.answer([.location: "/Orders(7)"], status: .created, "")
        _ = try await get(cache, "/Orders", method: .post)
        origin.answer([.cacheControl: "max-age=100"])
        #expect(try await get(cache, "/Orders").how == "sent")
        #expect(try await get(cache, "/Orders(7)").how == "sent")
        #expect(try await get(cache, "/Other").how == "hit")
    }

    @Test("RFC 5861 If allowed, a stale response replaces an error or a lost connection")
    func staleIfError() async throws {
        struct Lost: Error {}
        for (allowance, configured, how) in [("stale-if-error=60", 0.0, "stale"), ("", 60, "stale"), ("", 0, "error")] {
            let origin = Origin()
            let tests = ResponseCacheTests(origin)
            let cache = origin.cache(.init(staleIfError: configured))
            origin.answer([.cacheControl: "max-age=1, " + allowance, .eTag: "\"1\""], "one")
            _ = try await tests.get(cache)
            origin.pass(30)
            origin.answer([:], status: .serviceUnavailable, "out of order")
            #expect(try await tests.get(cache).how == (how == "stale" ? "stale" : "sent"))
            origin.answer { _ in throw Lost() }
            if how == "stale" {
                #expect(try await tests.get(cache).text == "one")
                origin.pass(40)
            }
            await #expect(throws: Lost.self) { try await tests.get(cache) }
        }
    }

    @Test("A response for other credentials is never used unless the owner of the cache is known")
    func credentials() async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=100"])
        _ = try await get(cache, "/Orders", [.authorization: "Basic a"])
        #expect(try await get(cache, "/Orders", [.authorization: "Basic a"]).how == "hit")
        #expect(try await get(cache, "/Orders", [.authorization: "Basic b"]).how == "sent")
        #expect(try await get(cache).how == "sent")
        let own = origin.cache(.init(user: "ann"))
        _ = try await get(own, "/Orders", [.authorization: "Bearer 1"])
        #expect(try await get(own, "/Orders", [.authorization: "Bearer 2"]).how == "hit")
    }

    @Test("A body is stored up to its limit and only if it was read to its end", arguments: [9, 10, 11])
    func bodySize(_ size: Int) async throws {
        let cache = origin.cache(.init(maxBodySize: 10))
        origin.answer([.cacheControl: "max-age=100"], String(repeating: "x", count: size))
        let origin = origin
        let request = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/Orders")
        _ = try await cache.respond(to: request, body: nil) { try origin.send($0, $1) }
        #expect(try await get(cache).how == "sent", "nobody read the body")
        #expect(try await get(cache).how == (size <= 10 ? "hit" : "sent"))
    }

    @Test("An interrupted body is not stored")
    func truncated() async throws {
        struct Cut: Error {}
        let cache = origin.cache()
        let request = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/Orders")
        let (_, body) = try await cache.respond(to: request, body: nil) { _, _ in
            let chunks = Mutex([[UInt8(1)]])
            return (
                HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=100"]),
                ByteStream {
                    guard let chunk = chunks.withLock({ $0.popLast() }) else { throw Cut() }
                    return chunk
                }
            )
        }
        await #expect(throws: Cut.self) { try await body.collect(limit: 10) }
        #expect(try await get(cache).how == "sent")
    }

    @Test(
        "Only storable responses are kept",
        arguments: [(200, true), (203, true), (204, false), (206, false), (302, false), (404, true), (500, false)])
    func statuses(_ status: Int, _ isKept: Bool) async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=100"], status: .init(code: status))
        _ = try await get(cache)
        #expect(try await get(cache).how == (isKept ? "hit" : "sent"))
    }

    @Test("Requests with their own conditions, ranges or bodies bypass the cache")
    func through() async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=100"])
        _ = try await get(cache)
        for name in [HTTPField.Name.ifNoneMatch, .ifMatch, .range, .ifModifiedSince] {
            #expect(try await get(cache, "/Orders", [name: "x"]).how == "sent")
        }
        #expect(try await get(cache).how == "hit")
    }

    @Test("Cookies are not stored")
    func cookies() async throws {
        let cache = origin.cache()
        origin.answer([.cacheControl: "max-age=100", .setCookie: "a=b"])
        _ = try await get(cache)
        let origin = origin
        let request = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/Orders")
        let (head, _) = try await cache.respond(to: request, body: nil) { try origin.send($0, $1) }
        #expect(head.headerFields[.setCookie] == nil)
        #expect(head.headerFields[ResponseCache.statusField] == "hit")
    }

    @Test("An app can replace the store with its own")
    func foreignStore() async throws {
        let store = ForeignStore()
        let cache = origin.cache(store: store)
        origin.answer([.cacheControl: "max-age=100"], "one")
        _ = try await get(cache)
        #expect(await store.kept["http://host/Orders"]?.map { String(decoding: $0.body, as: UTF8.self) } == ["one"])
        #expect(try await get(cache).how == "hit")
        await cache.removeAll()
        #expect(try await get(cache).how == "sent")
    }

    @Test("Responses in memory stay within their limit, and the least recently used ones are removed")
    func memoryLimit() async throws {
        let store = MemoryResponseStore(capacity: 10_000)
        let cache = origin.cache(store: store)
        origin.answer([.cacheControl: "max-age=100"], String(repeating: "x", count: 1000))
        for number in 0..<3 { _ = try await get(cache, "/\(number)") }
        #expect(try await get(cache, "/0").how == "hit")
        for number in 3..<5 { _ = try await get(cache, "/\(number)") }
        #expect(await store.byteCount <= 10_000)
        #expect(try await get(cache, "/0").how == "hit")
        #expect(try await get(cache, "/1").how == "sent")
    }

    @Test("Stored responses are encrypted and limited, and a damaged one is requested again")
    func persistent() async throws {
        let folder = TemporaryFolder()
        let key = EncryptionKey.generate()
        func open() -> PersistentResponseStore {
            PersistentResponseStore(PersistentStore(folder: folder.path, key: .given(.key(key))), capacity: 12_000)
        }
        let text = "marker" + String(repeating: "x", count: 2000)
        origin.answer([.cacheControl: "max-age=100"], text)
        let first = origin.cache(store: open())
        for number in 0..<5 { _ = try await get(first, "/marker\(number)") }
        #expect(try folder.contains("marker") == false)
        let second = origin.cache(store: open())
        #expect(try await get(second, "/marker4").text == text)
        #expect(try await get(second, "/marker4").how == "hit")
        #expect(try await get(second, "/marker0").how == "sent", "the oldest went")
        for item in folder.items { try Data("rubbish".utf8).write(to: URL(fileURLWithPath: item)) }
        let third = origin.cache(store: open())
        #expect(try await get(third, "/marker4").how == "sent")
        #expect(try await get(third, "/marker4").how == "hit")
        await third.removeAll()
        #expect(try await get(third, "/marker4").how == "sent")
    }

    @Test("4.4 A change also removes responses of other objects and processes that were requested before")
    func forgettingWhatCameAtOnce() async throws {
        let folder = TemporaryFolder()
        let key = EncryptionKey.generate()
        let caches = (0..<2).map { _ in
            origin.cache(
                .init(serviceRoot: "http://host/svc/"),
                store: PersistentResponseStore(PersistentStore(folder: folder.path, key: .given(.key(key)))))
        }
        func getAll() async throws -> [String] {
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<8 {
                    group.addTask { try await get(caches[number % 2], "/svc/Orders(\(number))").text }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        origin.answer([.cacheControl: "max-age=3600"], "before")
        #expect(try await getAll() == Array(repeating: "before", count: 8))
        origin.answer([.cacheControl: "max-age=3600"], "after")
        #expect(try await getAll() == Array(repeating: "before", count: 8), "they are kept")
        _ = try await get(caches[0], "/svc/Orders", method: .post)
        #expect(try await getAll() == Array(repeating: "after", count: 8))
    }

    @Test("The number of concurrent entries is bounded")
    func boundingWhatCameAtOnce() async throws {
        let folder = TemporaryFolder()
        let store = PersistentResponseStore(
            PersistentStore(folder: folder.path, key: .given(.key(.generate()))), capacity: 12_000)
        let cache = origin.cache(store: store)
        origin.answer([.cacheControl: "max-age=3600"], String(repeating: "x", count: 2000))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 { group.addTask { _ = try await get(cache, "/\(number)") } }
            try await group.waitForAll()
        }
        #expect(folder.items.count <= 4, "three answers of 3,024 bytes and the index")
    }

    @Test("A response with a damaged index is not used")
    func damagedIndex() async throws {
        let folder = TemporaryFolder()
        let key = EncryptionKey.generate()
        let store = PersistentStore(folder: folder.path, key: .given(.key(key)))
        let cache = origin.cache(.init(serviceRoot: "http://host/svc/"), store: PersistentResponseStore(store))
        origin.answer([.cacheControl: "max-age=3600"], "before")
        _ = try await get(cache, "/svc/Orders")
        try await store.put("no index", for: "responses")
        origin.answer([.cacheControl: "max-age=3600"], "after")
        _ = try await get(cache, "/svc/Orders", method: .post)
        #expect(try await get(cache, "/svc/Orders").text == "after")
    }

    @Test(
        "Dates in the three standard forms are read, and other texts are refused",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0 as Double?),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("", nil), ("0", nil), ("-1", nil),
            ("Sun, 06 Nov 1994 08:49 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
            ("Sun, 99 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil),
        ])
    func dates(_ text: String, _ seconds: Double?) {
        #expect(HTTPTime.date(text)?.timeIntervalSince1970 == seconds)
    }
}
