/// The address of this app at a push service, which the platform gives to the app.
///
/// ```swift
/// try await session.registration.setPushTarget(PushTarget(.apns, token: Array(deviceToken)))
/// ```
public struct PushTarget: Sendable, Hashable {
    /// The kinds of push services.
    public enum Kind: String, Sendable, Hashable {
        /// The service of Apple.
        case apns
        /// Web push (RFC 8030).
        case webPush = "webpush"
        /// No push service.
        case none
    }

    /// The kind of the service.
    public let kind: Kind
    /// The address: a token of Apple as lower-case hexadecimal digits, or a URL.
    public let address: String

    /// Creates a target from an address.
    public init(_ kind: Kind, address: String) {
        self.kind = kind
        self.address = address
    }

    /// Creates a target from the bytes of a token.
    public init(_ kind: Kind, token: [UInt8]) {
        self.kind = kind
        address = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
