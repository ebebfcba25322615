import HTTPTypes
import ODataHTTP

/// Prevents web pages of other origins from changing data with requests that a browser sends without a
/// preflight (WHATWG Fetch, 2.2.2 and 3.1; W3C Fetch Metadata).
///
/// `Sec-Fetch-Site` is used if the browser sends it; otherwise `Origin`, which every browser sends with a
/// change. A client that sends neither is not a browser.
struct CrossSiteRule: Sendable {
    let policy: CrossOriginPolicy?

    /// Returns a refusal of a change that a page of another origin requests.
    func refusal(of head: HTTPRequest) -> Refusal? {
        guard ![.get, .head, .options].contains(head.method), isForeign(head), !isAllowed(head) else { return nil }
        return Refusal(
            status: .forbidden, code: "CrossOriginRequest",
            message: "A page of another origin may not change anything here, unless the server allows that origin.")
    }

    private func isForeign(_ head: HTTPRequest) -> Bool {
        if let site = head.headerFields[.secFetchSite] { return site != "same-origin" && site != "none" }
        guard let origin = head.headerFields[.origin] else { return false }
        // The scheme is ignored, because a proxy in front of the server may handle TLS.
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
        // A browser sends a simple request with credentials and without a preflight, so `any` does not allow
        // it.
        case .any: return !Self.isSimple(head)
        }
    }

    /// Returns whether a browser sends a request of this media type without a preflight.
    private static func isSimple(_ head: HTTPRequest) -> Bool {
        guard head.method == .post else { return false }
        guard let text = head.headerFields[.contentType] else { return true }
        guard let type = MediaType(text) else { return true }
        return type.matches("text", "plain") || type.matches("multipart", "form-data")
            || type.matches("application", "x-www-form-urlencoded")
    }
}

extension HTTPField.Name {
    /// `Sec-Fetch-Site` (W3C Fetch Metadata, 2.3). The fallback is never reached, but avoids a trap.
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
    /// `Referrer-Policy` (W3C Referrer Policy, 4.1). The fallback is never reached, but avoids a trap.
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .origin
}
