import Crypto
import Foundation
import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import ODataTransportNIO
import Secrets
import ServerState
import Synchronization

@testable import MobileServer

/// A device API with one application on a loopback port, with a clock that tests move.
final class DeviceLab: Sendable {
    let state: SQLiteServerState
    let keys: ServerKeys
    let services: NodeServices
    let part: DevicePart
    let application: ApplicationRecord
    let captcha = ReadableCaptcha()
    let destinations = EchoDestinations()
    let configurationForTest: ApplicationConfiguration
    private let offset: LabClock

    init(
        server: ListenerSettings = ListenerSettings(), limits: ServerLimits = LabLimits.high,
        keys: ServerKeys = .generate(), _ configure: (inout ApplicationConfiguration) -> Void = { _ in }
    ) async throws {
        let clock = LabClock()
        offset = clock
        self.keys = keys
        state = try SQLiteServerState.inMemory(keys: keys, clock: { clock.now })
        _ = try await state.migrate(dryRun: false)
        application = try await state.applications.add(
            named: "shop", title: "Shop", domain: "default", state: .active)
        var configuration = ApplicationConfiguration()
        configuration.security = ["users": SecurityConfiguration(kind: .basic)]
        configure(&configuration)
        configurationForTest = configuration
        var settings = ServerConfiguration()
        settings.server = server
        settings.limits = limits
        services = NodeServices(
            state: state, keys: keys, configuration: settings, dataFolder: NSTemporaryDirectory(),
            clock: { clock.now })
        part = try DevicePart(
            services: services, applications: FixedApplications(record: application, configuration: configuration),
            destinations: destinations, transport: nil, captcha: captcha)
        for (name, password) in [("ann", "ann's password"), ("bob", "bob's password")] {
            try await state.registrations.setDirectoryUser(
                DirectoryUserRecord(
                    application: application.id, name: name, password: try Self.digest(of: password), roles: ["buyer"]))
        }
    }

    /// A digest of the least cost, so that tests are fast.
    static func digest(of password: String) throws -> String {
        try PasswordHash(
            of: password, parameters: try ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)
        ).text
    }

    func advance(by time: Duration) { offset.advance(by: time) }

    var now: Int64 { offset.now.rawValue / 1_000_000 }

    /// Runs the API for the duration of a test.
    func run<Result>(
        _ configuration: ODataServer.Configuration = .init(), _ body: (LabServer) async throws -> Result
    ) async throws -> Result {
        var configuration = configuration
        configuration.addressLimits = .none
        let server = try await ODataServer(configuration: configuration, mounts: part.mounts(of: .devices)).start()
        let transport = try NIOTransport()
        do {
            let result = try await body(LabServer(server: server, transport: transport, lab: self))
            try await transport.shutdown()
            await server.stop()
            await part.stop()
            return result
        } catch {
            try await transport.shutdown()
            await server.stop()
            await part.stop()
            throw error
        }
    }
}

enum LabLimits {
    static var high: ServerLimits {
        var limits = ServerLimits()
        limits.devicePerMinute = 10_000
        limits.registrationsPerHour = 1000
        return limits
    }
}

final class LabClock: Sendable {
    private let offset = Mutex(Duration.zero)
    private let stopped: ServerInstant?

    /// - Parameter stands: whether only ``advance(by:)`` moves the time, so that a slow machine changes nothing.
    init(stands: Bool = false) { stopped = stands ? ServerInstant.current() : nil }

    var now: ServerInstant { (stopped ?? ServerInstant.current()) + offset.withLock { $0 } }

    func advance(by time: Duration) { offset.withLock { $0 += time } }
}

struct FixedApplications: ActiveApplications {
    var record: ApplicationRecord
    var configuration: ApplicationConfiguration

    func application(named name: String) async throws(ServerStateError) -> ActiveApplication? {
        name == record.name ? ActiveApplication(record: record, configuration: configuration) : nil
    }

    func all() async throws(ServerStateError) -> [ActiveApplication] {
        [ActiveApplication(record: record, configuration: configuration)]
    }
}

/// A CAPTCHA that tells its texts to the test.
final class ReadableCaptcha: CaptchaIssuer {
    private let texts = Mutex<[String]>([])

    var last: String { texts.withLock { $0.last ?? "" } }

    func image(of text: String) -> [UInt8] {
        texts.withLock { $0.append(text) }
        return DotCaptcha().image(of: text)
    }
}

/// Destinations that answer with the name of the caller.
final class EchoDestinations: DestinationService {
    func answer(
        _ request: HTTPRequest, _ body: ByteStream, destination name: String, root: String, caller: DeviceCaller
    ) async -> (HTTPResponse, ByteStream) {
        let text = "\(name) \(root) \(caller.principal.name) \(caller.registration?.id ?? "-")"
        return (HTTPResponse(status: .ok), ByteStream(Array(text.utf8)))
    }

    func summaries(of application: ActiveApplication) async -> [DestinationSummary] {
        [
            DestinationSummary(
                name: "northwind", dialect: "v4",
                queries: [
                    QuerySummary(
                        name: "Orders", query: "Orders?$filter=Open", group: "default", visibility: .user,
                        refreshInterval: .seconds(900), hasStreams: true)
                ], options: StoreOptionSettings())
        ]
    }
}

/// A running device API with a client.
struct LabServer: Sendable {
    let server: RunningServer
    let transport: NIOTransport
    let lab: DeviceLab

    struct Answer: Sendable {
        var response: HTTPResponse
        var bytes: [UInt8]

        var status: Int { response.status.code }
        var text: String { String(decoding: bytes, as: UTF8.self) }
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
        }
        var error: [String: Any] { json["error"] as? [String: Any] ?? [:] }
        var code: String { error["code"] as? String ?? "" }
        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { response.headerFields[$0] } }
    }

    var root: String { "http://127.0.0.1:\(server.port)" }
    var api: String { "/m/v1/shop/" }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], body: String? = nil,
        type: String = "application/json"
    ) async throws -> Answer {
        try await send(method, path, fields, bytes: body.map { Array($0.utf8) }, type: type)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String], bytes: [UInt8]?, type: String
    ) async throws -> Answer {
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        if bytes != nil { request.headerFields[.contentType] = type }
        let (response, stream) = try await transport.send(request, body: bytes.map { ByteStream($0) })
        return Answer(response: response, bytes: try await stream.collect(limit: 4 << 20))
    }

    /// A nonce of the server, as any answer brings it.
    func nonce() async throws -> String {
        try await send(.get, api + "$metadata").field(MobileFieldNames.proofNonce) ?? ""
    }
}

extension LabServer {
    /// Returns the answer of another node without a listener.
    static func answer(
        of part: DevicePart, _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String], body: String,
        authority: String, context: MountContext = MountContext()
    ) async throws -> Answer {
        var request = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        request.headerFields[.contentType] = "application/json"
        let (response, stream) = await part.answer(request, ByteStream(Array(body.utf8)), in: context)
        return Answer(response: response, bytes: try await stream.collect(limit: 1 << 20))
    }
}

enum ServerKeysForTest {
    static func make() -> ServerKeys { ServerKeys.generate() }
}

/// A device with a key, a user and an id.
struct LabDevice: Sendable {
    let key = P256.Signing.PrivateKey()
    var id = "device-\(UUID().uuidString)"
    var authorization: String? = LabDevice.basic("ann", "ann's password")
    /// The difference of the device's clock in seconds.
    var clockOffset: Int64 = 0

    static func basic(_ name: String, _ password: String) -> String {
        "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"
    }

    /// Parts of a proof that a test changes.
    struct ProofChange {
        var method: String?
        var url: String?
        var credentials: String??
        var id = UUID().uuidString
        var issuedAt: Int64?
        var header: String?
    }

    func proof(
        _ method: String, _ url: String, nonce: String?, now: Int64, _ change: ProofChange = ProofChange()
    ) throws -> String {
        let coordinates = DeviceKey(key.publicKey).coordinates
        let header =
            change.header
                ?? """
                {"typ":"dpop+jwt","alg":"ES256",\
                "jwk":{"kty":"EC","crv":"P-256","x":"\(coordinates.x)","y":"\(coordinates.y)"}}
                """
        var claims: [String] = [
            #""jti":"\#(change.id)""#, #""htm":"\#(change.method ?? method)""#, #""htu":"\#(change.url ?? url)""#,
            #""iat":\#((change.issuedAt ?? now) + clockOffset)"#,
        ]
        if let text = change.credentials ?? authorization {
            claims.append(#""ath":"\#(DeviceProof.credentialsHash(of: text))""#)
        }
        if let nonce { claims.append(#""nonce":"\#(nonce)""#) }
        let body = "{\(claims.joined(separator: ","))}"
        let signed = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(body.utf8)))"
        let signature = try key.signature(for: Array(signed.utf8))
        return "\(signed).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }

    /// Sends a request with credentials, id and a fresh proof.
    func send(
        _ server: LabServer, _ method: HTTPRequest.Method, _ resource: String, body: String? = nil,
        fields: [String: String] = [:], named: Bool = true, _ change: ProofChange = ProofChange()
    ) async throws -> LabServer.Answer {
        let all = try await self.fields(server, method, resource, named: named, change).merging(fields) { $1 }
        return try await server.send(method, server.api + resource, all, body: body)
    }

    /// The fields of a request: credentials, id and a fresh proof.
    func fields(
        _ server: LabServer, _ method: HTTPRequest.Method, _ resource: String, named: Bool = true,
        _ change: ProofChange = ProofChange()
    ) async throws -> [String: String] {
        let url = server.root + server.api + resource.prefix { $0 != "?" }
        var fields = [
            MobileFieldNames.proof: try proof(
                method.rawValue, url, nonce: try await server.nonce(), now: server.lab.now, change)
        ]
        if let authorization { fields["Authorization"] = authorization }
        if named { fields[MobileFieldNames.registration] = id }
        return fields
    }

    /// Registers the device.
    @discardableResult
    func register(
        _ server: LabServer, security: String? = nil, fields: [String: String] = [:], more: String = ""
    ) async throws -> LabServer.Answer {
        let name = security.map { #","SecurityConfiguration":"\#($0)""# } ?? ""
        return try await send(
            server, .post, "Registrations", body: #"{"ID":"\#(id)"\#(name)\#(more)}"#, fields: fields, named: false)
    }
}
