import HTTPTypes
import ODataHTTP

/// Keeps web pages of other origins from changing data with requests that a browser sends without asking first
/// (WHATWG Fetch, 2.2.2 and 3.1; W3C Fetch Metadata).
///
/// `Sec-Fetch-Site` counts where a browser sends it, else `Origin`, which every browser sends with a request that changes
/// something. A client that sends neither is no browser.
struct CrossSiteRule: Sendable {
    /// Which other origins may use the service; none if `nil`.
    let policy: CrossOriginPolicy?

    /// The objection to a request that would change something for a page of another origin.
    func refusal(of head: HTTPRequest) -> Refusal? {
        guard ![.get, .head, .options].contains(head.method), isForeign(head), !isAllowed(head) else { return nil }
        return Refusal(
            status: .forbidden, code: "CrossOriginRequest",
            message: "A page of another origin may not change anything here, unless the server allows that origin.")
    }

    private func isForeign(_ head: HTTPRequest) -> Bool {
        if let site = head.headerFields[.secFetchSite] { return site != "same-origin" && site != "none" }
        guard let origin = head.headerFields[.origin] else { return false }
        // The scheme does not count: a proxy before the server may speak TLS in its place.
        guard let target = AbsoluteTarget(origin), target.path == "/", let own = head.authority,
            let foreign = Authority(target.authority), let local = Authority(own)
        else { return true }
        let port = target.isSecure ? 443 : 80 as UInt16
        return foreign.host != local.host || foreign.port ?? port != local.port ?? port
    }

    private func isAllowed(_ head: HTTPRequest) -> Bool {
        guard let policy, let origin = head.headerFields[.origin] else { return false }
        switch policy.origins {
        case .these(let origins): return origins.contains(origin)
        // Passwords and cookies go along with a simple request, and nobody asked whether they may.
        case .any: return !Self.isSimple(head)
        }
    }

    /// Whether a browser sends a request of this media type without asking first.
    private static func isSimple(_ head: HTTPRequest) -> Bool {
        guard head.method == .post else { return false }
        guard let text = head.headerFields[.contentType] else { return true }
        guard let type = MediaType(text) else { return true }
        return type.matches("text", "plain") || type.matches("multipart", "form-data")
            || type.matches("application", "x-www-form-urlencoded")
    }
}

extension HTTPField.Name {
    /// `Sec-Fetch-Site` (W3C Fetch Metadata, 2.3); the fallback can never be reached, but nothing may trap.
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
    /// `Referrer-Policy` (W3C Referrer Policy, 4.1).
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .origin
}
