import Foundation
import GRDB

/// The digest behind ``ETagStorage/contentDigest``: FNV-1a of 128 bits over a row's stored values, each with
/// its type and length.
///
/// It tells that a row was changed. It is not meant to withstand somebody who makes two rows with one digest
/// on purpose.
public struct ContentDigest: Sendable {
    private var state = UInt128(0x6C62_272E_07BB_0142) << 64 | 0x62B8_2175_6295_C58D
    private static let prime = UInt128(1) << 88 | 0x13B

    /// Starts a digest.
    public init() {}

    /// Takes in the next value.
    public mutating func update(_ value: DatabaseValue) {
        switch value.storage {
        case .null: mix(0)
        case .int64(let number):
            mix(1)
            mixNumber(UInt64(bitPattern: number))
        case .double(let number):
            mix(2)
            mixNumber(number.bitPattern)
        case .string(let text):
            mix(3)
            mixNumber(UInt64(text.utf8.count))
            for byte in text.utf8 { mix(byte) }
        case .blob(let data):
            mix(4)
            mixNumber(UInt64(data.count))
            for byte in data { mix(byte) }
        }
    }

    private mutating func mix(_ byte: UInt8) { state = (state ^ UInt128(byte)) &* Self.prime }

    private mutating func mixNumber(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// The digest as 32 hexadecimal digits.
    public var text: String {
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    /// The weak ETag of a row's values, in the order of ``TableStorage/digestColumns``: what the SQL function
    /// `outpost_digest` returns for them.
    public static func etag(of values: some Sequence<DatabaseValue>) -> String {
        var digest = ContentDigest()
        for value in values { digest.update(value) }
        return "W/\"\(digest.text)\""
    }
}

extension TableStorage {
    /// The columns that a ``ETagStorage/contentDigest`` covers, in order: every property's column, the presence
    /// columns of complex values, the discriminator and the dynamic properties.
    public var digestColumns: [String] {
        var names = columns.map(\.name)
        var seen = Set(names)
        func add(_ name: String?) {
            if let name, seen.insert(name).inserted { names.append(name) }
        }
        func addPresence(_ storage: PropertyStorage) {
            guard case .complex(_, let properties, let presence) = storage else { return }
            add(presence)
            properties.forEach(addPresence)
        }
        properties.forEach(addPresence)
        for (_, storages) in derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
            storages.forEach(addPresence)
        }
        add(discriminator)
        add(dynamicProperties)
        return names
    }
}
