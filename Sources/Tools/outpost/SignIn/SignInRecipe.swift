import Foundation
import ODataClient
import ODataHTTP

/// The facts about the sign-in that follow from the address of a well-known service.
///
/// They come from the documentation of the vendors.
struct SignInRecipe {
    /// The authorization server; `nil` if its endpoints are at the service itself.
    var issuer: String?
    /// The endpoints at the service itself.
    var server: OAuth2Server?
    /// The scopes that give access to the service and allow renewals.
    var scopes: [String]
    /// The host name in the redirect address. Microsoft Entra ID registers `localhost` only.
    var redirectHost = RedirectListener.address

    /// The issuer for work and school accounts of any organization.
    private static let anyOrganization = "https://login.microsoftonline.com/organizations/v2.0"

    /// - Parameter root: The address of the service.
    /// - Returns: `nil` for a service that is not known.
    init?(_ root: URLComponents, origin: Origin) {
        let host = origin.host
        if host == "graph.microsoft.com" || host.hasSuffix(".dynamics.com") {
            // The scope names the service itself: the token is of no use elsewhere.
            issuer = Self.anyOrganization
            scopes = ["\(origin)/.default", "offline_access"]
            redirectHost = RedirectListener.name
        } else if root.path.hasPrefix("/sap/opu/odata") {
            // The AS ABAP is an authorization server itself. The scope of a V2 service is its technical name and its
            // version.
            server = try? OAuth2Server(
                authorizationEndpoint: "\(origin)/sap/bc/sec/oauth2/authorize",
                tokenEndpoint: "\(origin)/sap/bc/sec/oauth2/token")
            guard server != nil else { return nil }
            scopes = []
            let segments = root.path.split(separator: "/")
            if segments.count > 4, segments[2] == "odata" {
                let service = segments[4].prefix { $0 != ";" }
                scopes = ["\(service)_0001"]
            }
        } else {
            return nil
        }
    }

    /// The issuer that a challenge of Microsoft Entra ID names, as `authorization_uri` of its version 1.
    ///
    /// - Returns: `nil` for any other host: the address comes from the service.
    static func entraIssuer(_ authorizationURI: String) -> String? {
        let hosts: Set = ["login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn"]
        guard let url = URLComponents(string: authorizationURI), url.scheme == "https", let host = url.host,
            hosts.contains(host), url.port == nil, url.user == nil,
            let tenant = url.path.split(separator: "/").first,
            tenant.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") })
        else { return nil }
        return "https://\(host)/\(tenant == "common" ? "organizations" : String(tenant))/v2.0"
    }
}
