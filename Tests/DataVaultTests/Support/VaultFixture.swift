import Foundation
import Secrets
import Synchronization

@testable import DataVault

/// A temporary folder of vaults with a manual clock, which is removed with this object.
final class VaultFixture: Sendable {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("vaults-\(UUID().uuidString)").path
    let clock = ManualClock()
    let folder: VaultFolder

    init() throws {
        folder = try VaultFolder(
            directory: directory, keys: FileSecretStore(directory: directory + "/keys"),
            derivation: VaultFixture.cheap(), clock: clock.clock)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Returns the lowest cost that scrypt allows, which is enough for tests.
    static func cheap() throws -> ScryptParameters {
        try ScryptParameters(costExponent: 10, blockSize: 1, parallelization: 1)
    }

    func path(_ name: String) -> String { directory + "/" + name }
}

extension VaultCredentials {
    static let old = VaultCredentials(password: "old password")
    static let new = VaultCredentials(password: "new password", salt: "with a salt")
    static let wrong = VaultCredentials(password: "wrong")
}

/// A clock that a test advances.
final class ManualClock: Sendable {
    private let state = Mutex((elapsed: 1000.0, now: 1_800_000_000.0))

    var clock: VaultClock {
        VaultClock(
            elapsed: { self.state.withLock { $0.elapsed } }, now: { self.state.withLock { $0.now } },
            sleep: { seconds in
                let end = self.state.withLock { $0.elapsed } + seconds
                while self.state.withLock({ $0.elapsed }) < end { try await Task.sleep(for: .milliseconds(1)) }
            })
    }

    /// Advances both clocks.
    func advance(_ seconds: Double) {
        state.withLock {
            $0.elapsed += seconds
            $0.now += seconds
        }
    }

    /// Sets the wall clock forward or back, without changing the other clock.
    func setWallClock(by seconds: Double) { state.withLock { $0.now += seconds } }
}
