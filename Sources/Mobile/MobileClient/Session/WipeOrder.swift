import DataVault
import Foundation
import MobileProtocol
import ODataHTTP

/// An order to erase the data of a session, as a file that survives everything else.
///
/// The file is written before the first key goes, and removed last. A wipe that was interrupted therefore continues at
/// the next start, before anything else. The file holds the secret that confirms the wipe, which opens nothing
/// (`design-review.md` 9).
struct WipeOrder: Codable, Sendable {
    /// The slot of the session.
    var slot: String
    var profile: ConnectionProfile
    /// The id of the registration; `nil` if there is nothing to confirm.
    var registration: String?
    var version: Int64
    /// The secret of the order; `nil` for a wipe that the device has decided.
    var confirmation: String?
    /// Whether everything but this file is gone.
    var isErased = false
}

/// Erases the data of sessions and confirms it.
struct Wiping: Sendable {
    let configuration: MobileSession.Configuration

    private var files: SystemFiles { SystemFiles() }
    private var folder: String { configuration.directory + "/wipes" }

    /// Writes an order durably.
    func begin(_ order: WipeOrder) throws(MobileError) {
        do {
            let bytes = Array(try JSONEncoder().encode(order))
            try files.replace("\(order.slot).json", in: folder, with: bytes)
        } catch {
            throw .device(reason: "\(error)")
        }
        try configuration.note("wipe-order")
    }

    /// The orders that are not confirmed yet.
    func orders() throws(MobileError) -> [WipeOrder] {
        do throws(DataVaultError) {
            guard try files.isDirectoryThere(folder) else { return [] }
            return try files.names(in: folder).filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
                guard let bytes = try? files.read(folder + "/" + name, limit: 65_536) else { return nil }
                return try? JSONDecoder().decode(WipeOrder.self, from: Data(bytes))
            }
        } catch {
            throw MobileError(error)
        }
    }

    /// Erases the data of an order: keys first, then files. It can be repeated after any interruption.
    func erase(_ order: WipeOrder) async throws(MobileError) {
        guard !order.isErased else { return }
        let slot = SessionSlot(configuration, order.slot)
        // Without its vault, no key of a store exists any more. The vault of the device has id and device key.
        for name in [slot.secretsName, slot.deviceName] {
            do throws(DataVaultError) {
                try await configuration.vaults.delete(name)
            } catch .noVault {
                continue
            } catch {
                throw MobileError(error)
            }
            try configuration.note("wipe-vault")
        }
        try slot.removeFiles()
        try configuration.note("wipe-files")
        var order = order
        order.isErased = true
        try begin(order)
    }

    /// Confirms an order and removes its file.
    ///
    /// - Returns: Whether nothing is left to do. Without a network, the next start tries again.
    func confirm(_ order: WipeOrder, over transport: any HTTPTransport) async throws(MobileError) -> Bool {
        if let id = order.registration, let confirmation = order.confirmation {
            let wire = DeviceWire(order.profile, transport: transport, clock: configuration.clock)
            let body = JSONValue.bytes([
                "kind": .text("wiped"), "version": .number(order.version), "confirmation": .text(confirmation),
            ])
            let path = Registration.path(id) + "/Outpost.Mobile.Confirm"
            guard let answer = try? await wire.send(.post, path, body: body, isBare: true) else { return false }
            // 404: the server has the confirmation. 412: the operator has taken the order back, too late.
            guard [200, 204, 404, 412].contains(answer.status) else { return false }
        }
        do throws(DataVaultError) {
            _ = try files.remove(folder + "/\(order.slot).json")
            try files.syncDirectory(folder)
        } catch {
            throw MobileError(error)
        }
        return true
    }

    /// Continues all orders.
    func continueAll(over transport: any HTTPTransport) async throws(MobileError) {
        for order in try orders() {
            try await erase(order)
            _ = try await confirm(order, over: transport)
        }
    }
}
