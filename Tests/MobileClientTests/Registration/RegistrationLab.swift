import DataVault
import Foundation
import ODataClient
import Synchronization

@testable import MobileClient

/// A registration with its records on the disk of a device, and the codes of its changes.
final class RegistrationLab: Sendable {
    let registration: Registration
    let settings: AppSettings
    let wire: DeviceWire
    let records: SessionRecords
    private let codes: CodeList
    private let watch: Task<Void, Never>

    /// - Parameter vault: The name of the vault with the records, which another object may have made.
    init(_ lab: MobileLab, user: String? = "ann", security: String? = nil, vault name: String = "device") async throws {
        let vaults = try lab.vaults()
        let vault = vaults.contains(name) ? try vaults.open(name) : try await vaults.create(name)
        records = SessionRecords(vault, in: vaults)
        wire = DeviceWire(try lab.profile(security), transport: lab.wire, clock: lab.clock.clock)
        if let user { wire.authentication = .basic(user: user, password: "\(user)'s password") }
        settings = AppSettings(wire: wire, records: records, clock: lab.clock.clock)
        registration = Registration(wire: wire, records: records, settings: settings, clock: lab.clock.clock)
        let changes = registration.changes
        let codes = CodeList()
        self.codes = codes
        watch = Task { [codes] in
            for await event in changes {
                let name =
                    switch event {
                    case .registration: "R"
                    case .connection: "C"
                    }
                codes.list.withLock { $0.append("\(name)\(event.code)") }
            }
        }
        try await registration.load()
    }

    deinit { watch.cancel() }

    /// The codes since the last call of ``clear()``.
    var sequence: String { codes.list.withLock { $0.joined(separator: " ") } }

    func clear() async throws {
        _ = try await eventually { codes.list.withLock { $0.count } == registration.states.changes.sent }
        codes.list.withLock { $0 = [] }
    }

    /// Waits for a sequence; returns the one that came.
    func sequence(expecting expected: String) async throws -> String {
        _ = try await eventually { sequence == expected }
        return sequence
    }
}

private final class CodeList: Sendable {
    let list = Mutex<[String]>([])
}
