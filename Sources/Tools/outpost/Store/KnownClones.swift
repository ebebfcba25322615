import DataVault
import Foundation
import OfflineOData
import Secrets
import ToolLanguage

/// A directory that was used as a clone on this machine.
struct KnownClone: Encodable {
    /// The place of the key.
    enum Key: Encodable {
        case generated(String)
        case passphrase
        case file
        case unknown

        var text: String {
            switch self {
            case .generated(let name): name
            case .passphrase: translated("passphrase")
            case .file: translated("key file")
            case .unknown: translated("unknown")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    var directory: String
    var key: Key
    /// Whether the store is there.
    var exists: Bool
    /// Whether the store was opened, so that the rest is known.
    var isOpened = false
    var service: String?
    var user: String?
    var rows: Int?
    var pending: Int?
    var failed: Int?

    /// The clones at all places that were noted when clones were made or opened.
    ///
    /// Only stores with generated keys are opened: nobody is asked for a passphrase.
    static func all() async -> [KnownClone] {
        var clones: [KnownClone] = []
        for place in KeyUses.allPlaces() { clones.append(await KnownClone(at: place)) }
        return clones
    }

    private init(at place: String) async {
        directory = place
        exists = FileManager.default.fileExists(atPath: place + "/store.db")
        key = .unknown
        guard exists, let file = try? CloneFile.read(in: place) else { return }
        switch file.key {
        case .vault(let name): key = .generated(name)
        case .passphrase: key = .passphrase
        case .file: key = .file
        }
        guard case .generated(let name) = key, let secret = try? KeyKeeper.key(named: name),
            let store = try? await OfflineStore.open(at: place, protection: .encrypted(.key(secret)))
        else { return }
        defer { try? store.close() }
        isOpened = true
        service = store.serviceRoot
        user = try? await store.users.current()
        guard let status = try? await store.observe.status() else { return }
        rows = status.queries.reduce(0) { $0 + $1.rows }
        pending = status.pending.count
        failed = status.failed.count
    }

    /// The state as a person is told of it.
    var state: String {
        guard exists else { return translated("missing") }
        guard isOpened else { return "" }
        let waiting = (pending ?? 0) + (failed ?? 0)
        return translated(waiting == 0 ? "nothing to push" : "\(Terminal.plural(waiting, "change")) not pushed")
    }
}
