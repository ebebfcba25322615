import Foundation
import HTTPTypes
import Logging
import MobileServer
import ODataDatabases
import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataStore
import ODataTransportNIO
import Secrets
import ServerState
import Synchronization

@testable import MobileServer

/// A node with destinations alone, on a socket, without the device API: every caller is the same user.
final class DestinationSite: Sendable {
    /// The changes that a test makes to the application.
    typealias Arrangement = @Sendable (inout ApplicationConfiguration) -> Void

    let state: SQLiteServerState
    let services: NodeServices
    let part: DestinationsPart
    /// The URL of the destination `shop`.
    let url: String
    let application: RecordNumber
    private let server: RunningServer
    private let worker: Task<Void, Never>
    /// The credentials and roles of the caller, which a test may change.
    let caller: Mutex<(credentials: String?, principal: Principal)>

    /// The greatest size of a body, in bytes.
    static let uploadLimit = ServerLimits().upload

    /// Starts a node with the application `shop` and its destination `shop`.
    static func run(
        _ backEnd: String, keys: ServerKeys = .generate(), state: SQLiteServerState? = nil,
        transport: (any HTTPTransport)? = nil, _ change: @escaping Arrangement = { _ in },
        _ body: (DestinationSite) async throws -> Void
    ) async throws {
        let site = try await DestinationSite(backEnd, keys: keys, state: state, transport: transport, change)
        do {
            try await body(site)
        } catch {
            await site.stop()
            throw error
        }
        await site.stop()
    }

    init(
        _ backEnd: String, keys: ServerKeys = .generate(), state given: SQLiteServerState? = nil,
        transport: (any HTTPTransport)? = nil, _ change: Arrangement = { _ in }
    ) async throws {
        let state = try given ?? .inMemory(keys: keys)
        _ = try await state.migrate(dryRun: false)
        var configuration = ApplicationConfiguration()
        configuration.destinations["shop"] = DestinationConfiguration(url: backEnd)
        change(&configuration)
        var record = try await state.applications.application(named: "shop")
        if record == nil {
            record = try await state.applications.add(
                named: "shop", title: "Shop", domain: "default", state: .active)
        }
        guard let record else { throw ServerStateError.missing(kind: "application", name: "shop") }
        let version = try await state.applications.addConfiguration(
            configuration.canonicalJSON(), to: record.id, by: "test")
        _ = try await state.applications.activate(version.version, of: record.id, ifActive: nil)
        application = record.id
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        services = NodeServices(
            state: state, keys: keys, configuration: ServerConfiguration(), nodeName: "test", dataFolder: folder,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        self.state = state
        let part = try DestinationsPart(services: services, transport: transport) { path in
            try await ServedDatabase.open(path: path)
        }
        self.part = part
        let user = Principal(name: "ann", roles: ["sales"])
        caller = Mutex((nil, user))
        let services = services
        let box = CallerBox()
        let mount = Mount(path: "/m/v1/", authentication: .byHandler) { request, body, context in
            let application: ActiveApplication?
            do {
                application = try await services.applications.application(named: "shop")
            } catch {
                // The text of the error stands in the failure of the test.
                return (HTTPResponse(status: .internalServerError), ByteStream(Array("\(error)".utf8)))
            }
            guard let application, let (credentials, principal) = box.read() else {
                return (HTTPResponse(status: .internalServerError), ByteStream([]))
            }
            let user = UserRecord(
                id: 1, application: application.record.id, issuer: "basic:test", subject: principal.name,
                name: principal.name, isLocked: false, change: 0, createdAt: .current())
            let name = (request.path ?? "").split(separator: "/").dropFirst(4).first.map(String.init) ?? ""
            return await part.answer(
                request, body, destination: String(name.prefix { $0 != "?" }), root: "/m/v1/shop/d/\(name)/",
                caller: DeviceCaller(
                    application: application, user: user, registration: nil, security: "test", principal: principal,
                    credentials: credentials.map { Secret($0) }, context: context))
        }
        server = try await ODataServer(configuration: .init(), mounts: [mount]).start()
        url = "http://127.0.0.1:\(server.port)/m/v1/shop/d/shop/"
        worker = Task {
            while !Task.isCancelled {
                await Self.runJobs(part, state)
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        box.site.withLock { $0 = self }
    }

    /// Reads the caller of a site that may not be there yet.
    private final class CallerBox: Sendable {
        let site = Mutex<DestinationSite?>(nil)
        func read() -> (String?, Principal)? {
            site.withLock { $0?.caller.withLock { ($0.credentials, $0.principal) } }
        }
    }

    /// Carries out the due jobs once.
    static func runJobs(_ part: DestinationsPart, _ state: SQLiteServerState) async {
        guard let jobs = try? await state.jobs.claim([.refresh], limit: 10, lease: .seconds(30), owner: "test") else {
            return
        }
        for job in jobs {
            do {
                let outcome = try await part.workers[job.kind]?.run(job) ?? .done
                _ = try await state.jobs.finish(job, outcome)
            } catch {
                _ = try? await state.jobs.finish(job, .failed(reason: "\(error)", retryAfter: .milliseconds(50)))
            }
        }
    }

    func stop() async {
        worker.cancel()
        await worker.value
        await server.stop()
    }

    /// The only feed of the application.
    func feed() async throws -> FeedRecord? { try await state.feeds.feeds(of: application).first }

    /// Makes the only feed refresh, and waits for it.
    func refresh() async throws {
        guard let feed = try await feed() else { return }
        let before = feed.checkedAt
        try await part.refresher.demand(feed)
        for _ in 0..<500 {
            if let now = try await self.feed(), now.checkedAt != before || now.state == .suspended { return }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// A response to a test's request.
struct SiteAnswer: Sendable {
    let response: HTTPResponse
    let bytes: [UInt8]

    var status: Int { response.status.code }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }
    /// The code of an OData error.
    var code: String? { (json["error"] as? [String: Any])?["code"] as? String }
    /// The reason within an error 410.
    var reason: String? {
        ((json["error"] as? [String: Any])?["innererror"] as? [String: Any])?["reason"] as? String
    }
    /// The rows of a collection.
    var rows: [[String: Any]] { json["value"] as? [[String: Any]] ?? [] }

    func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { response.headerFields[$0] } }
}

/// Requests over sockets, without any feature of the clients of this package.
enum Wire {
    static let transport = try? NIOTransport()

    static func send(
        _ method: String = "GET", _ url: String, _ fields: [String: String] = [:], body: String? = nil
    ) async throws -> SiteAnswer {
        try await send(method, url, fields, bytes: body.map { Array($0.utf8) })
    }

    static func send(
        _ method: String, _ url: String, _ fields: [String: String], bytes: [UInt8]?
    ) async throws -> SiteAnswer {
        guard let transport else { throw TransportError.invalidURL(url) }
        var request = try ServiceRoot("/").request(HTTPRequest.Method(method) ?? .get, url: url)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        let (response, stream) = try await transport.send(request, body: bytes.map { ByteStream($0) })
        return SiteAnswer(response: response, bytes: try await stream.collect(limit: 64 << 20))
    }
}

/// A back end that notes requests and answers as a test says.
final class ScriptedBackEnd: Sendable {
    struct Seen: Sendable {
        let method: String
        let path: String
        let fields: HTTPFields
        let body: String

        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
    }

    struct Answer: Sendable {
        var status = 200
        var fields: [String: String] = ["Content-Type": "application/json"]
        var body = ""
    }

    let url: String
    private let server: RunningServer
    private let log: Log

    private final class Log: Sendable {
        let seen = Mutex<[Seen]>([])
    }

    /// Starts a back end. The closure gets its URL too. Requests for metadata are answered with 404 and not noted.
    init(_ answer: @escaping @Sendable (Seen, String) async throws -> Answer) async throws {
        let log = Log()
        self.log = log
        server = try await ODataServer(configuration: .init()) { request, body in
            let bytes = (try? await body.collect(limit: 64 << 20)) ?? []
            let seen = Seen(
                method: request.method.rawValue, path: request.path ?? "", fields: request.headerFields,
                body: String(decoding: bytes, as: UTF8.self))
            if seen.path.hasSuffix("$metadata") { return (HTTPResponse(status: .notFound), ByteStream([])) }
            log.seen.withLock { $0.append(seen) }
            let own = "http://\(request.authority ?? "")"
            let given = (try? await answer(seen, own)) ?? Answer(status: 500)
            var response = HTTPResponse(status: .init(code: given.status))
            for (name, value) in given.fields {
                if let name = HTTPField.Name(name) { response.headerFields[name] = value }
            }
            return (response, ByteStream(Array(given.body.utf8)))
        }.start()
        url = "http://127.0.0.1:\(server.port)"
    }

    /// The requests so far.
    var seen: [Seen] { log.seen.withLock { $0 } }

    func stop() async { await server.stop() }

    /// Runs a test with a back end at `/svc/` and a node in front of it.
    static func run(
        _ change: @escaping DestinationSite.Arrangement = { _ in },
        answer: @escaping @Sendable (Seen, String) async throws -> Answer,
        _ body: (DestinationSite, ScriptedBackEnd) async throws -> Void
    ) async throws {
        let backEnd = try await ScriptedBackEnd(answer)
        do {
            try await DestinationSite.run(backEnd.url + "/svc/", change) { try await body($0, backEnd) }
        } catch {
            await backEnd.stop()
            throw error
        }
        await backEnd.stop()
    }
}
