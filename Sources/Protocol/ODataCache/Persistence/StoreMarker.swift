import Foundation
import Secrets

/// The description of a store: a small file beside its items.
///
/// The envelope is bound to the policy. Therefore nobody without the key can make an encrypted store accept
/// unencrypted items. In version 1 it was not bound; such a marker is replaced at the next change.
struct StoreMarker: Codable, Equatable {
    var format = Self.version
    /// The policy of items.
    var policy: StoragePolicy
    /// The new policy during a conversion.
    var target: StoragePolicy?
    /// The wrapped data key; `nil` for a store that was never encrypted.
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

    /// The context to which the envelope is bound.
    var context: [UInt8] {
        guard format > 1 else { return Array("outpost persistence 1".utf8) }
        return Array("outpost persistence \(format) \(policy.rawValue) \(target?.rawValue ?? "-")".utf8)
    }

    var isEncrypted: Bool { holdsItems(areSealed: true) }

    /// Whether unencrypted items are being encrypted, so that they count as the store's own until then. In
    /// version 1, anyone could have written such a marker.
    private var takesPlainItemsIn: Bool { !policy.isEncrypted && target?.isEncrypted == true }

    /// Returns whether the store contains encrypted, or unencrypted, items. During a conversion it may contain
    /// both.
    func holdsItems(areSealed: Bool) -> Bool {
        policy.isEncrypted == areSealed || target?.isEncrypted == areSealed
    }

    var bytes: [UInt8] {
        // Encoding texts and numbers never fails.
        (try? JSONEncoder().encode(self)).map { Array($0) } ?? []
    }
}

/// A store with its decrypted key.
struct OpenedStore {
    var marker: StoreMarker
    var cipher: RecordCipher?
    /// The cipher that derives file names from the names of items.
    var names: RecordCipher?

    init(marker: StoreMarker, dataKey: EncryptionKey?) {
        self.marker = marker
        cipher = dataKey.map { RecordCipher(key: $0, purpose: "outpost persistence 1 items") }
        names = dataKey.map { RecordCipher(key: $0, purpose: "outpost persistence 1 names") }
    }

    var writingPolicy: StoragePolicy { marker.target ?? marker.policy }

    /// The cipher of new items; `nil` for unencrypted ones.
    var writingCipher: RecordCipher? { writingPolicy.isEncrypted ? cipher : nil }
}
