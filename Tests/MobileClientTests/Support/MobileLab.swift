import DataVault
import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Secrets
import ServerState
import Synchronization

@testable import MobileClient
@testable import MobileServer

/// A mobile server with the application `shop` on a loopback port, and the disk and network of a device.
final class MobileLab: Sendable {
    let state: SQLiteServerState
    let application: ApplicationRecord
    let wire: FaultyWire
    let clock = VirtualClock()
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)").path
    private let part: DevicePart
    private let server: RunningServer
    private let network: NIOTransport

    private init(
        state: SQLiteServerState, application: ApplicationRecord, part: DevicePart, server: RunningServer,
        network: NIOTransport, captcha: LegibleCaptcha
    ) {
        self.state = state
        self.application = application
        self.part = part
        self.server = server
        self.network = network
        wire = FaultyWire(network)
        texts = captcha
    }

    private let texts: LegibleCaptcha
    /// The text of the last image.
    var captchaText: String { texts.last }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Runs a server for the duration of a test.
    static func run(
        _ configure: (inout ApplicationConfiguration) -> Void = { _ in },
        _ body: (MobileLab) async throws -> Void
    ) async throws {
        let keys = ServerKeys.generate()
        let state = try SQLiteServerState.inMemory(keys: keys, clock: { .current() })
        _ = try await state.migrate(dryRun: false)
        let application = try await state.applications.add(
            named: "shop", title: "Shop", domain: "default", state: .active)
        var configuration = ApplicationConfiguration()
        configuration.security = ["users": SecurityConfiguration(kind: .basic)]
        configure(&configuration)
        var settings = ServerConfiguration()
        settings.limits.devicePerMinute = 10_000
        settings.limits.registrationsPerHour = 1000
        let services = NodeServices(
            state: state, keys: keys, configuration: settings, dataFolder: NSTemporaryDirectory(),
            clock: { .current() })
        let captcha = LegibleCaptcha()
        let part = try DevicePart(
            services: services, applications: OneApplication(record: application, configuration: configuration),
            destinations: NoDestinations(), transport: nil, captcha: captcha)
        for name in ["ann", "bob"] {
            let password = try PasswordHash(
                of: "\(name)'s password",
                parameters: try ScryptParameters(costExponent: 10, blockSize: 8, parallelization: 1)
            ).text
            try await state.registrations.setDirectoryUser(
                DirectoryUserRecord(application: application.id, name: name, password: password, roles: ["buyer"]))
        }
        var listener = ODataServer.Configuration()
        listener.addressLimits = .none
        let server = try await ODataServer(configuration: listener, mounts: part.mounts(of: .devices)).start()
        let network = try NIOTransport()
        let lab = MobileLab(
            state: state, application: application, part: part, server: server, network: network, captcha: captcha)
        var failure: (any Error)?
        do {
            try await body(lab)
        } catch {
            failure = error
        }
        try await network.shutdown()
        await server.stop()
        await part.stop()
        if let failure { throw failure }
    }

    var url: String { "http://127.0.0.1:\(server.port)" }

    func profile(_ security: String? = nil) throws -> ConnectionProfile {
        try ConnectionProfile(url: url, application: "shop", securityConfiguration: security)
    }

    /// The registrations that the server knows.
    func registrations() async throws -> [RegistrationRecord] {
        try await state.registrations.registrations(RegistrationFilter(application: application.id))
    }

    func vaults() throws -> VaultFolder {
        try VaultFolder(
            directory: directory + "/vaults", keys: FileSecretStore(directory: directory + "/vaults/keys"),
            derivation: ScryptParameters(costExponent: 10, blockSize: 1, parallelization: 1))
    }
}

struct OneApplication: ActiveApplications {
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
final class LegibleCaptcha: CaptchaIssuer {
    private let texts = Mutex<[String]>([])

    var last: String { texts.withLock { $0.last ?? "" } }

    func image(of text: String) -> [UInt8] {
        texts.withLock { $0.append(text) }
        return DotCaptcha().image(of: text)
    }
}

/// A destination that answers with 403 and the code of an order, as a hostile back end does.
final class NoDestinations: DestinationService {
    func answer(
        _ request: HTTPRequest, _ body: ByteStream, destination name: String, root: String, caller: DeviceCaller
    ) async -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .forbidden)
        response.headerFields[.contentType] = "application/json"
        return (response, ByteStream(Array(#"{"error":{"code":"DeviceWiped","message":"wipe"}}"#.utf8)))
    }

    func summaries(of application: ActiveApplication) async -> [DestinationSummary] {
        [
            DestinationSummary(
                name: "back", dialect: "v4",
                queries: [
                    QuerySummary(
                        name: "Open orders", query: "Orders?$filter=Open", group: "default", visibility: .user,
                        refreshInterval: .seconds(900))
                ], options: StoreOptionSettings())
        ]
    }
}

/// The network of a device, which a test cuts.
final class FaultyWire: HTTPTransport {
    enum Fault: Sendable, Hashable {
        /// No connection is made: nothing leaves the device.
        case noNetwork
        /// The request is executed, and its answer is lost.
        case lostAnswer
        /// The request is lost after its first byte.
        case lostRequest
    }

    private let base: any HTTPTransport
    private let state = Mutex((faults: [(prefix: String, fault: Fault, times: Int)](), paths: [String]()))

    init(_ base: any HTTPTransport) { self.base = base }

    /// Breaks requests with a text in method and path, so many times; all requests with an empty text.
    func breakRequests(_ fault: Fault, to text: String = "", times: Int = .max) {
        state.withLock { $0.faults.append((text, fault, times)) }
    }

    func mend() { state.withLock { $0.faults = [] } }

    /// The requests that reached the wire, as method and path.
    var requests: [String] { state.withLock { $0.paths } }

    private func fault(_ request: HTTPRequest) -> Fault? {
        let line = "\(request.method.rawValue) \(request.path ?? "")"
        return state.withLock { state in
            state.paths.append(line)
            let index = state.faults.firstIndex { line.contains($0.prefix) || $0.prefix.isEmpty }
            guard let index else { return nil }
            let found = state.faults[index]
            if found.times != .max { state.faults[index].times -= 1 }
            if state.faults[index].times == 0 { state.faults.remove(at: index) }
            return found.fault
        }
    }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let host = request.authority ?? ""
        switch fault(request) {
        case .noNetwork: throw TransportError.cannotConnect(host: host, reason: "there is no network")
        case .lostRequest: throw TransportError.connectionLost(host: host, reason: "the network is gone")
        case .lostAnswer:
            let (_, stream) = try await base.send(request, body: body, options: options)
            _ = try await stream.collect(limit: 1 << 20)
            throw TransportError.connectionLost(host: host, reason: "the answer was lost")
        case nil: return try await base.send(request, body: body, options: options)
        }
    }
}

/// A clock that a test moves.
final class VirtualClock: Sendable {
    private struct Sleeper {
        var deadline: Double
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed = 1000.0
        var wall = Date().timeIntervalSince1970.rounded(.down)
        var boot = "first"
        var sleepers: [UInt64: Sleeper] = [:]
        var last: UInt64 = 0
        var cancelled: Set<UInt64> = []
    }

    private let state = Mutex(State())

    var clock: MobileClock {
        MobileClock(
            now: { self.state.withLock { $0.wall } }, elapsed: { self.state.withLock { $0.elapsed } },
            boot: { self.state.withLock { $0.boot } }, sleep: { try await self.sleep($0) }, random: { 0.5 })
    }

    var sleeping: Int { state.withLock { $0.sleepers.count } }

    /// Lets time pass on both clocks.
    func advance(by seconds: Double) {
        let due = state.withLock { state in
            state.elapsed += seconds
            state.wall += seconds
            let due = state.sleepers.filter { $0.value.deadline <= state.elapsed }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Sets the wall clock back or forth, as a user can.
    func setWall(by seconds: Double) { state.withLock { $0.wall += seconds } }

    /// Starts the device anew after a time in which it was off.
    func restart(after seconds: Double, wall: Double) {
        state.withLock {
            $0.boot = UUID().uuidString
            $0.elapsed = 5
            $0.wall += wall
        }
    }

    private func sleep(_ duration: Duration) async throws {
        let seconds = duration / .seconds(1)
        if seconds <= 0 { return }
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    guard state.cancelled.remove(number) == nil else { return true }
                    state.sleepers[number] = Sleeper(
                        deadline: state.elapsed + seconds, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// Waits until a condition holds, for at most ten seconds of real time.
func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return false
}
