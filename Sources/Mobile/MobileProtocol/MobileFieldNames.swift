/// The names of the header fields between a device and the mobile server.
///
/// ```swift
/// request.headerFields[HTTPField.Name(MobileFieldNames.registration)!] = id
/// ```
public enum MobileFieldNames {
    /// The id of the registration that sends the request.
    public static let registration = "Outpost-Registration"
    /// The proof of possession of the device key (RFC 9449, 4).
    public static let proof = "DPoP"
    /// The nonce for the next proof (RFC 9449, 8). Every node of the server accepts it.
    public static let proofNonce = "DPoP-Nonce"
    /// The activation code of a new registration.
    public static let activation = "Outpost-Activation"
    /// The solution of a CAPTCHA: challenge, semicolon, text.
    public static let captcha = "Outpost-Captcha"
    /// The version of `Policies`. A device that knows another version reads the resource.
    public static let policies = "Outpost-Policies"
    /// The version of the registration's settings. A device that knows another version reads them.
    public static let settings = "Outpost-Settings"
    /// The highest number in `Messages`.
    public static let messages = "Outpost-Messages"
}

/// The path of the discovery document (RFC 8615) on the listener of the device API.
public let discoveryPath = "/.well-known/outpost"
