import ODataHTTP

/// Makes one base URL of the forms in which addresses of mobile servers are given.
///
/// The functions are pure: nothing is asked on the network.
enum RelayAddress {
    /// The suffix that older servers replaced by the id of the connection.
    private static let legacySuffixes = ["%cid%/tm", "%CID%/tm"]

    /// Returns the URL of a host, a relay and a farm.
    ///
    /// - Throws: ``MobileError/emptyParameter(_:)`` for a farm without a template or the other way round;
    ///   ``MobileError/invalidAddress(_:)``.
    static func url(
        host: String, port: Int?, template: String?, farm: String?, isSecure: Bool
    ) throws(MobileError) -> String {
        guard !host.contains("/"), !host.contains("@") else { throw .invalidAddress(host) }
        if let port, !(1...65_535).contains(port) { throw .invalidAddress("\(host):\(port)") }
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        var url = "\(isSecure ? "https" : "http")://\(isAddress ? "[\(host)]" : host)"
        if let port { url += ":\(port)" }
        let path = segments(template ?? "")
        switch (path.isEmpty, farm?.isEmpty ?? true) {
        case (true, true): return url + "/"
        case (true, false): throw .emptyParameter("the relay template")
        case (false, true): throw .emptyParameter("the farm")
        case (false, false): break
        }
        let name = farm ?? ""
        guard !name.contains("/"), !name.contains("?") else { throw .invalidAddress(name) }
        return "\(url)/\((path + [name]).joined(separator: "/"))/"
    }

    /// Returns a URL with a scheme, a path without doubled slashes, and a slash at its end.
    ///
    /// The path of the device API or of the discovery document, and the suffix `%cid%/tm`, are removed.
    ///
    /// - Throws: ``MobileError/invalidAddress(_:)``.
    static func normalized(_ text: String, application: String) throws(MobileError) -> String {
        var url = text.trimmed
        if !url.contains("://") { url = "https://" + url }
        for suffix in legacySuffixes where url.hasSuffix(suffix) || url.hasSuffix(suffix + "/") {
            url = String(url[..<(url.range(of: suffix)?.lowerBound ?? url.endIndex)])
        }
        guard let mark = url.range(of: "://") else { throw .invalidAddress(text) }
        let scheme = url[..<mark.lowerBound].lowercased()
        let rest = url[mark.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash].lowercased()
        var path = segments(String(rest[slash...]))
        if path.suffix(3).elementsEqual(["m", "v1", application]) { path.removeLast(3) }
        if path.suffix(2).elementsEqual([".well-known", "outpost"]) { path.removeLast(2) }
        let whole = "\(scheme)://\(authority)/" + path.map { $0 + "/" }.joined()
        guard ["http", "https"].contains(scheme), let root = try? ServiceRoot(whole), root.origin != nil else {
            throw .invalidAddress(text)
        }
        return withoutDefaultPort(whole, scheme: scheme)
    }

    private static func withoutDefaultPort(_ url: String, scheme: String) -> String {
        let start = scheme.count + 3
        let rest = url.dropFirst(start)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let port = scheme == "https" ? ":443" : ":80"
        guard rest[..<slash].hasSuffix(port) else { return url }
        return "\(url.prefix(start))\(rest[..<slash].dropLast(port.count))\(rest[slash...])"
    }

    private static func segments(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }
}

extension String {
    /// The text without spaces and line breaks at its ends.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...end])
    }
}
