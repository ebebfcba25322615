/// Resolution of relative links in a payload (RFC 3986, 5.2). They are relative to the context URL, which is
/// relative to the request URL (OData JSON Format 4.01, 4.5.1).
enum LinkResolution {
    /// Returns a link as an absolute URL. Absolute links are returned unchanged.
    static func resolve(_ link: String, context: String?, request: String) -> String {
        if isAbsolute(link) { return link }
        let base = context.map { resolve($0, base: request) } ?? request
        return resolve(link, base: base)
    }

    /// Resolves a reference against an absolute URL.
    static func resolve(_ reference: String, base: String) -> String {
        if isAbsolute(reference) { return reference }
        guard let scheme = base.firstRange(of: "://") else { return reference }
        let afterScheme = base[scheme.upperBound...]
        let authorityEnd = afterScheme.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? base.endIndex
        let origin = base[..<authorityEnd]
        let withoutFragment = base[authorityEnd...].prefix { $0 != "#" }
        let path = withoutFragment.prefix { $0 != "?" }
        if reference.hasPrefix("//") { return base[..<scheme.lowerBound] + ":" + reference }
        if reference.hasPrefix("/") { return origin + withoutDots(reference) }
        if reference.hasPrefix("#") { return origin + withoutFragment + reference }
        if reference.hasPrefix("?") { return origin + path + reference }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return origin + withoutDots(folder + reference)
    }

    private static func isAbsolute(_ text: String) -> Bool {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return !scheme.isEmpty && text.dropFirst(scheme.count).hasPrefix("://")
    }

    private static func withoutDots(_ text: some StringProtocol) -> String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        let rest = text.dropFirst(path.count)
        var segments: [Substring] = []
        let parts = String(path).split(separator: "/", omittingEmptySubsequences: false).map { Substring(String($0)) }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { segments.append("") }
            case "..":
                if segments.count > 1 { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return segments.joined(separator: "/") + rest
    }
}
