import Foundation
import Secrets

/// What a store says of itself: a small file beside its items.
struct StoreMarker: Codable, Equatable {
    /// The version of the format.
    var format = Self.version
    /// How items are kept.
    var policy: StoragePolicy
    /// How they are going to be kept, while they are being converted.
    var target: StoragePolicy?
    /// The data key, wrapped; nothing for a store that was never encrypted.
    var envelope: Data?

    static let version = 1
    static let name = "store"
    static let maximumByteCount = 4096
    static let context = Array("outpost persistence 1".utf8)

    init(policy: StoragePolicy, envelope: KeyEnvelope?) {
        self.policy = policy
        self.envelope = envelope.map { Data($0.bytes) }
    }

    init?(bytes: [UInt8]) {
        guard let marker = try? JSONDecoder().decode(StoreMarker.self, from: Data(bytes)),
            marker.format == Self.version, !marker.policy.isEncrypted || marker.envelope != nil,
            !(marker.target?.isEncrypted ?? false) || marker.envelope != nil
        else { return nil }
        self = marker
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
