/// A value of a vault, by its name and type; not the value itself.
public struct VaultItem: Hashable, Sendable {
    /// The name.
    public let name: String
    /// What ``Vault/setString(_:named:)`` and ``Vault/setData(_:named:)`` made of it.
    public let type: ValueType

    /// The types of values.
    public enum ValueType: String, Hashable, Sendable {
        /// A text.
        case string
        /// Bytes.
        case binary
        /// Written by an older product that kept no types: read it as text first, then as bytes.
        case unknown

        var code: UInt8 {
            switch self {
            case .string: 1
            case .binary: 2
            case .unknown: 3
            }
        }

        init?(code: UInt8) {
            switch code {
            case 1: self = .string
            case 2: self = .binary
            case 3: self = .unknown
            default: return nil
            }
        }
    }
}
