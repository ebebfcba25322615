import Foundation
import HTTPTypes
import ODataServer
import ODataService
import ODataTransportNIO
import Secrets
import ServerState

@testable import MobileServer

/// An operators' API on a loopback port, with an application and a registration.
final class OperatorLab: Sendable {
    static let password = "a long password"

    let state: SQLiteServerState
    let keys = ServerKeys.generate()
    let services: NodeServices
    let part: OperatorsPart
    let application: ApplicationRecord
    private let clock: LabClock

    init(_ configure: (inout ServerConfiguration) -> Void = { _ in }) async throws {
        let clock = LabClock(stands: true)
        self.clock = clock
        state = try SQLiteServerState.inMemory(keys: keys, clock: { clock.now })
        _ = try await state.migrate(dryRun: false)
        application = try await state.applications.add(
            named: "shop", title: "Shop", domain: "default", state: .active)
        var configuration = ServerConfiguration()
        configure(&configuration)
        services = NodeServices(
            state: state, keys: keys, configuration: configuration, dataFolder: NSTemporaryDirectory(),
            clock: { clock.now })
        part = try OperatorsPart(services: services)
    }

    func advance(by time: Duration) { clock.advance(by: time) }

    var now: Int64 { clock.now.rawValue / 1_000_000 }

    /// Adds an operator with password and TOTP.
    func add(_ name: String, _ role: OperatorRole) async throws -> [UInt8] {
        let secret = OneTimePassword.makeSecret()
        _ = try await state.operators.add(
            OperatorRecord(
                name: name, password: try DeviceLab.digest(of: Self.password), totp: secret, role: role))
        return secret
    }

    /// Registers devices of a user.
    func addDevices(_ ids: [String], of user: String = "ann") async throws {
        let record = try await state.registrations.user(
            of: application.id, issuer: "basic:users", subject: user, makingWith: user)
        guard let record else { return }
        for id in ids {
            var device = DeviceProperties()
            device.deviceModel = "Pad \(id)"
            _ = try await state.registrations.register(
                NewRegistration(
                    application: application.id, id: id, user: record.id, security: "users", device: device,
                    settings: [SettingRecord(name: "Colour", value: "blue", isReadOnly: true)]))
        }
    }

    func run<Result>(_ body: (OperatorServer) async throws -> Result) async throws -> Result {
        var configuration = ODataServer.Configuration()
        configuration.addressLimits = .none
        let server = try await ODataServer(configuration: configuration, mounts: part.mounts(of: .operators)).start()
        let transport = try NIOTransport()
        do {
            let result = try await body(OperatorServer(server: server, transport: transport, lab: self))
            try await transport.shutdown()
            await server.stop()
            return result
        } catch {
            try await transport.shutdown()
            await server.stop()
            throw error
        }
    }
}

/// A running operators' API with a client.
struct OperatorServer: Sendable {
    let server: RunningServer
    let transport: NIOTransport
    let lab: OperatorLab

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], body: String? = nil
    ) async throws -> LabServer.Answer {
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        if body != nil { request.headerFields[.contentType] = "application/json" }
        let (response, stream) = try await transport.send(request, body: body.map { ByteStream(Array($0.utf8)) })
        return LabServer.Answer(response: response, bytes: try await stream.collect(limit: 4 << 20))
    }

    /// Signs in, and returns the session's cookie and form token.
    func signIn(_ name: String, _ secret: [UInt8]) async throws -> OperatorSessionFields {
        let code = OneTimePassword(secret: secret).password(step: lab.now / OneTimePassword.period)
        let answer = try await send(
            .post, "/operator/v1/session",
            body: #"{"name":"\#(name)","password":"\#(OperatorLab.password)","code":"\#(code)"}"#)
        return OperatorSessionFields(server: self, answer)
    }
}

/// The fields of requests of a session.
struct OperatorSessionFields: Sendable {
    let server: OperatorServer
    let status: Int
    let cookie: String
    let csrf: String

    init(server: OperatorServer, _ answer: LabServer.Answer) {
        self.server = server
        status = answer.status
        cookie = String((answer.response.headerFields[.setCookie] ?? "").prefix { $0 != ";" })
        csrf = answer.json["csrf"] as? String ?? ""
    }

    func send(
        _ method: HTTPRequest.Method, _ resource: String, body: String? = nil, _ fields: [String: String] = [:]
    ) async throws -> LabServer.Answer {
        var all = ["Cookie": cookie]
        if method != .get { all["X-CSRF-Token"] = csrf }
        return try await server.send(
            method, "/operator/v1/" + resource, all.merging(fields) { $1 }, body: body)
    }
}
