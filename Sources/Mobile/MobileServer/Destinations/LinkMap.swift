import ODataHTTP

/// The mapping of absolute URLs between a back end and the address under which devices see it.
///
/// Links of responses lead from the back end to the server, those of requests the other way. A relative link is the same
/// on both sides. A link to another place is left as it is.
struct LinkMap: Sendable {
    /// The root of the links that are replaced.
    let from: ServiceRoot
    /// The root that takes its place.
    let to: ServiceRoot

    /// Returns the link on the other side, or `nil` if the link stays as it is.
    func mapped(_ link: String) -> String? {
        // Context URLs have a fragment.
        let end = link.firstIndex(of: "#") ?? link.endIndex
        guard Self.isAbsolute(link), let rest = from.relative(String(link[..<end])) else { return nil }
        return (link.hasPrefix("/") ? to.path : to.description) + rest + link[end...]
    }

    /// Returns whether a link of a request may be sent: it is relative, or lies below the root. Segments that lead out
    /// of the root are refused.
    func isInside(_ link: String) -> Bool {
        let rest: String
        if Self.isAbsolute(link) {
            guard let relative = from.relative(link) else { return false }
            rest = relative
        } else {
            rest = link
        }
        return Self.isPlain(path: rest)
    }

    /// Returns whether a text is an absolute URL, or a path from the root of its host.
    static func isAbsolute(_ link: String) -> Bool {
        if link.utf8.first == UInt8(ascii: "/") { return true }
        let start = link.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    /// Returns whether a path below a root stays below it: no `..`, also encoded, no backslash, no empty segment at its
    /// start, no scheme and no control character.
    static func isPlain(path: String) -> Bool {
        let whole = path.prefix { $0 != "#" }
        guard whole.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let bare = whole.prefix { $0 != "?" }
        guard !bare.hasPrefix("/"), !bare.contains("\\") else { return false }
        let lower = bare.lowercased()
        guard !lower.contains("%5c"), !lower.contains("%00"), !lower.contains("%0a"), !lower.contains("%0d") else {
            return false
        }
        if let colon = lower.firstIndex(of: ":"), lower[colon...].hasPrefix("://") { return false }
        return lower.replacing("%2e", with: ".").replacing("%2f", with: "/").split(
            separator: "/", omittingEmptySubsequences: false
        ).allSatisfy { $0 != ".." && $0 != "." }
    }
}
