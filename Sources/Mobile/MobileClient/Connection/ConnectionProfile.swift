import Foundation
import ODataHTTP

/// The address of an application at a mobile server, as an app, a QR code or an operator gives it.
///
/// Host, port, relay template and farm become one base URL, the same as if the URL was given as a whole.
///
/// ```swift
/// let profile = try ConnectionProfile(url: "https://mobile.example", application: "shop")
/// let relay = try ConnectionProfile(
///     host: "edge.example", relayTemplate: "/client/rs_client.dll", farm: "shop.Farm", application: "shop")
/// print(relay.baseURL)  // https://edge.example/client/rs_client.dll/shop.Farm/
/// ```
public struct ConnectionProfile: Sendable, Hashable, Codable {
    /// The base URL with a slash at its end. Relay template and farm are part of its path.
    public let baseURL: String
    /// The name of the application.
    public let application: String
    /// The security domain.
    public let domain: String
    /// The name of the security configuration; `nil` if the application has only one.
    public let securityConfiguration: String?
    /// Whether credentials may leave this machine without TLS.
    public let allowsPlainHTTP: Bool

    /// Creates a profile from a URL: scheme, host, optional port, and the path of a reverse proxy or of a relay with a
    /// farm.
    ///
    /// - Parameter url: The URL. Without a scheme, `https` is used. The path of the device API may follow.
    /// - Throws: ``MobileError``: `invalidAddress`, `emptyParameter`, `plainHTTP`.
    public init(
        url: String, application: String, domain: String = "default", securityConfiguration: String? = nil,
        allowsPlainHTTP: Bool = false
    ) throws(MobileError) {
        guard !application.isEmpty else { throw .emptyParameter("the application") }
        guard !domain.isEmpty else { throw .emptyParameter("the domain") }
        if let securityConfiguration, securityConfiguration.isEmpty {
            throw .emptyParameter("the security configuration")
        }
        guard application.utf8.allSatisfy(Self.isPlain) else { throw .invalidAddress(application) }
        baseURL = try RelayAddress.normalized(url, application: application)
        self.application = application
        self.domain = domain
        self.securityConfiguration = securityConfiguration
        self.allowsPlainHTTP = allowsPlainHTTP
        guard let origin else { throw .invalidAddress(url) }
        guard !origin.isPlain || allowsPlainHTTP else { throw .plainHTTP(host: origin.host) }
    }

    /// Creates a profile from the parts of the older products.
    ///
    /// - Parameters:
    ///   - host: The host name or address.
    ///   - port: The port; `nil` for none in the URL.
    ///   - relayTemplate: The path of a relay; `nil` without a relay.
    ///   - farm: The farm of the relay.
    ///   - isSecure: Whether TLS is used.
    /// - Throws: ``MobileError``: `invalidAddress`, `emptyParameter`, `plainHTTP`.
    public init(
        host: String, port: Int? = nil, relayTemplate: String? = nil, farm: String? = nil, application: String,
        domain: String = "default", securityConfiguration: String? = nil, isSecure: Bool = true,
        allowsPlainHTTP: Bool = false
    ) throws(MobileError) {
        guard !host.isEmpty else { throw .emptyParameter("the host") }
        let url = try RelayAddress.url(
            host: host, port: port, template: relayTemplate, farm: farm, isSecure: isSecure)
        try self.init(
            url: url, application: application, domain: domain, securityConfiguration: securityConfiguration,
            allowsPlainHTTP: allowsPlainHTTP)
    }

    /// The host of the base URL.
    public var host: String { origin?.host ?? "" }

    /// The URL of the device API of the application, with a slash at its end.
    public var deviceAPI: String { "\(baseURL)m/v1/\(application)/" }

    /// The URL of the discovery document.
    public var discoveryURL: String { "\(baseURL).well-known/outpost" }

    var origin: Origin? { (try? ServiceRoot(baseURL))?.origin }

    /// Returns the profile with the security configuration of a method.
    func naming(_ method: String?) -> ConnectionProfile {
        ConnectionProfile(self, securityConfiguration: method ?? securityConfiguration)
    }

    private init(_ other: ConnectionProfile, securityConfiguration: String?) {
        baseURL = other.baseURL
        application = other.application
        domain = other.domain
        self.securityConfiguration = securityConfiguration
        allowsPlainHTTP = other.allowsPlainHTTP
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
