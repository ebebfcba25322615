/// The name and the type of a value in a vault, without the value.
///
/// ```swift
/// for item in try await vault.items { show(item.name, item.type) }
/// ```
public struct VaultItem: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The type that ``Vault/setString(_:named:)`` or ``Vault/setData(_:named:)`` assigned.
    public let type: ValueType

    /// The types of values.
    public enum ValueType: String, Hashable, Sendable {
        /// A text value.
        case string
        /// A binary value.
        case binary
        /// A value from an older product without types: read it as text first, then as bytes.
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
