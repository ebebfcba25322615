import Foundation
import Secrets

/// What a store says of itself: a small file beside its items.
///
/// The envelope opens only together with how items are kept, so that nobody without the key has an encrypted store take plain
/// items for its own. In version 1 it was bound to nothing of the kind; such a marker is replaced at the next change.
struct StoreMarker: Codable, Equatable {
    /// The version of the format.
    var format = Self.version
    /// How items are kept.
    var policy: StoragePolicy
    /// How they are going to be kept, while they are being converted.
    var target: StoragePolicy?
    /// The data key, wrapped; nothing for a store that was never encrypted.
    var envelope: Data?

    static let version = 2
    static let name = "store"
    static let maximumByteCount = 4096

    init(policy: StoragePolicy) { self.policy = policy }

    init?(bytes: [UInt8]) {
        guard let marker = try? JSONDecoder().decode(StoreMarker.self, from: Data(bytes)),
            (1...Self.version).contains(marker.format), !marker.isEncrypted || marker.envelope != nil,
            marker.format > 1 || !marker.takesPlainItemsIn
        else { return nil }
        self = marker
    }

    /// What the envelope is bound to.
    var context: [UInt8] {
        guard format > 1 else { return Array("outpost persistence 1".utf8) }
        return Array("outpost persistence \(format) \(policy.rawValue) \(target?.rawValue ?? "-")".utf8)
    }

    /// Whether any items are encrypted.
    var isEncrypted: Bool { holdsItems(areSealed: true) }

    /// Whether plain items are being encrypted, so that they count as the store's own until then. Of a marker of version 1
    /// anybody can have said that.
    private var takesPlainItemsIn: Bool { !policy.isEncrypted && target?.isEncrypted == true }

    /// Whether the store's own items are encrypted, or plain; both while they are being converted from one to the other.
    func holdsItems(areSealed: Bool) -> Bool {
        policy.isEncrypted == areSealed || target?.isEncrypted == areSealed
    }

    var bytes: [UInt8] {
        // Texts and numbers can always be written.
        (try? JSONEncoder().encode(self)).map { Array($0) } ?? []
    }
}

/// A store whose key is at hand.
struct OpenedStore {
    var marker: StoreMarker
    var cipher: RecordCipher?
    /// What the names of items are made into names of files with.
    var names: RecordCipher?

    init(marker: StoreMarker, dataKey: EncryptionKey?) {
        self.marker = marker
        cipher = dataKey.map { RecordCipher(key: $0, purpose: "outpost persistence 1 items") }
        names = dataKey.map { RecordCipher(key: $0, purpose: "outpost persistence 1 names") }
    }

    /// How new items are written.
    var writingPolicy: StoragePolicy { marker.target ?? marker.policy }

    /// The cipher of new items; `nil` for plain ones.
    var writingCipher: RecordCipher? { writingPolicy.isEncrypted ? cipher : nil }
}
