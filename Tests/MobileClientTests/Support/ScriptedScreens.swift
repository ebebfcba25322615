import DataVault
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Secrets
import ServerState
import Synchronization

@testable import MobileClient

/// The user of a test: answers questions as a script says, and remembers them.
final class ScriptedScreens: OnboardingInteraction {
    struct Script: Sendable {
        var signIns: [SignInAnswer?] = [.basic(user: "ann", password: Secret("ann's password"))]
        var passcodes: [String?] = ["first passcode 1"]
        var captcha: @Sendable () -> String? = { nil }
    }

    private struct State {
        var script: Script
        var requests: [SignInRequest] = []
        var purposes: [PasscodePurpose] = []
    }

    private let state: Mutex<State>

    init(_ script: Script = Script()) { state = Mutex(State(script: script)) }

    var requests: [SignInRequest] { state.withLock { $0.requests } }
    var purposes: [PasscodePurpose] { state.withLock { $0.purposes } }

    /// Gives the next answers. The last one of each kind is repeated.
    func change(_ body: (inout Script) -> Void) { state.withLock { body(&$0.script) } }

    func signIn(_ request: SignInRequest) async throws -> SignInAnswer? {
        state.withLock { state in
            state.requests.append(request)
            guard state.script.signIns.count > 1 else { return state.script.signIns.first ?? nil }
            return state.script.signIns.removeFirst()
        }
    }

    func solve(_ image: CaptchaImage) async -> String? { state.withLock { $0.script.captcha }() }

    func passcode(_ purpose: PasscodePurpose, policy: PasswordPolicy) async -> Secret<String>? {
        state.withLock { state in
            state.purposes.append(purpose)
            let next: String?
            if state.script.passcodes.count > 1 {
                next = state.script.passcodes.removeFirst()
            } else {
                next = state.script.passcodes.first ?? nil
            }
            return next.map { Secret($0) }
        }
    }
}

/// A device that can end at any durable write: from then on, it writes and sends nothing.
final class MortalDevice: Sendable {
    struct Ended: Error {}

    private let state = Mutex((writes: [String](), end: Int.max))

    /// The durable writes so far.
    var writes: [String] { state.withLock { $0.writes } }
    var isDead: Bool { state.withLock { $0.writes.count >= $0.end } }

    /// Ends the device at a durable write, counted from 1.
    func end(at number: Int) { state.withLock { $0.end = number } }

    func note(_ write: String) throws {
        try state.withLock { state in
            guard state.writes.count < state.end else { throw Ended() }
            state.writes.append(write)
            guard state.writes.count < state.end else { throw Ended() }
        }
    }
}

/// Sends nothing for a device that has ended.
struct MortalTransport: HTTPTransport {
    let base: any HTTPTransport
    let device: MortalDevice

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard !device.isDead else { throw TransportError.cannotConnect(host: "", reason: "the device is off") }
        return try await base.send(request, body: body, options: options)
    }
}

extension MobileLab {
    /// The configuration of the sessions on the device of this test.
    func configuration(_ device: MortalDevice? = nil) throws -> MobileSession.Configuration {
        let transport: any HTTPTransport = device.map { MortalTransport(base: wire, device: $0) } ?? wire
        var configuration = MobileSession.Configuration(
            directory: directory + "/sessions", vaults: try vaults(), transport: transport, applicationVersion: "2.0",
            clock: clock.clock)
        if let device {
            configuration.afterWrite = { try device.note($0) }
            // Nobody moves the clock of a device that is off.
            configuration.registrationTimeout = .zero
        }
        configuration.openStores = { session in
            // A store: a file that only the key of the vault opens.
            let key = try await session.key(forStore: "orders")
            let folder = session.directory(ofStore: "orders")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let cipher = RecordCipher(key: key, purpose: "test")
            let path = folder + "/rows"
            if let sealed = FileManager.default.contents(atPath: path) {
                _ = try cipher.open(Array(sealed))
            } else {
                try Data(try cipher.seal(Array("rows".utf8))).write(to: URL(fileURLWithPath: path))
            }
        }
        return configuration
    }

    /// Every byte of every file on the device.
    func bytesOnDevice() throws -> [UInt8] {
        let files = FileManager.default.enumerator(atPath: directory)
        var bytes: [UInt8] = []
        while let name = files?.nextObject() as? String {
            bytes += Array(FileManager.default.contents(atPath: directory + "/" + name) ?? Data())
        }
        return bytes
    }

    /// Sets a policy of the application.
    func set(_ name: String, _ json: String) async throws {
        _ = try await state.registrations.setPolicy(
            PolicyRecord(scope: "application", target: "", name: name, body: Array(json.utf8)), of: application.id)
    }

    func lock(_ lock: DeviceLock, _ id: String, confirmation: [UInt8]? = nil) async throws {
        _ = try await state.registrations.setLock(
            lock, confirmation: confirmation, registration: id, of: application.id)
    }
}
