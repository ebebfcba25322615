import DataVault
import Foundation

/// The place of a session on the device: its vaults and its folder.
struct SessionSlot: Sendable {
    let name: String
    private let configuration: MobileSession.Configuration

    private static let devicePrefix = "device-"

    init(_ configuration: MobileSession.Configuration, _ name: String) {
        self.configuration = configuration
        self.name = name
    }

    /// A new place.
    init(new configuration: MobileSession.Configuration) {
        self.init(configuration, String(UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(16)))
    }

    /// The vault with the state of the device, which the platform's key opens.
    var deviceName: String { Self.devicePrefix + name }
    /// The vault with the secrets of the user, which the passcode opens.
    var secretsName: String { "secrets-" + name }
    /// The folder of the session: stores and files.
    var directory: String { configuration.directory + "/" + name }

    /// The places of all sessions.
    static func all(_ configuration: MobileSession.Configuration) throws(MobileError) -> [SessionSlot] {
        do throws(DataVaultError) {
            return try configuration.vaults.names().filter { $0.hasPrefix(devicePrefix) }.map {
                SessionSlot(configuration, String($0.dropFirst(devicePrefix.count)))
            }
        } catch {
            throw MobileError(error)
        }
    }

    /// Opens the records of the device, and makes them for a new session.
    func records() async throws(MobileError) -> SessionRecords {
        let (vaults, note) = (configuration.vaults, configuration.afterWrite)
        do throws(DataVaultError) {
            let vault = vaults.contains(deviceName) ? try vaults.open(deviceName) : try await vaults.create(deviceName)
            return SessionRecords(vault, in: vaults, afterWrite: note)
        } catch {
            throw MobileError(error)
        }
    }

    /// Removes the files of the session.
    func removeFiles() throws(MobileError) {
        guard FileManager.default.fileExists(atPath: directory) else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            throw .device(reason: "\(error)")
        }
    }

    /// Removes everything of the session on this device, its stores too.
    func remove() async throws(MobileError) {
        for vault in [secretsName, deviceName] {
            do throws(DataVaultError) {
                try await configuration.vaults.delete(vault)
            } catch .noVault {
                continue
            } catch {
                throw MobileError(error)
            }
        }
        try removeFiles()
    }
}
