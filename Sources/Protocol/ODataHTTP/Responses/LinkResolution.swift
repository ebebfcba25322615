import ODataModel

/// Resolves relative links of a payload (RFC 3986, 5.2; OData JSON Format 4.01, 4.5.1: relative to the
/// context URL, which is itself relative to the request URL).
enum LinkResolution {
    /// Returns a link as an absolute URL. Absolute links are returned unchanged.
    ///
    /// Services that send a query alone mean another page of the request, and not of the metadata document to which
    /// the context URL leads.
    static func resolve(_ link: String, context: String?, request: String) -> String {
        if isAbsolute(link) { return link }
        if link.begins(with: "?") { return resolve(link, base: request) }
        let base = context.map { resolve($0, base: request) } ?? request
        return resolve(link, base: base)
    }

    /// Resolves a reference against an absolute URL.
    static func resolve(_ reference: String, base: String) -> String {
        if isAbsolute(reference) { return reference }
        guard let scheme = base.firstRange(of: "://") else { return reference }
        let afterScheme = base[scheme.upperBound...]
        let authorityEnd = afterScheme.unicodeScalars.firstIndex { "/?#".unicodeScalars.contains($0) } ?? base.endIndex
        let origin = base[..<authorityEnd]
        let rest = base[authorityEnd...]
        let withoutFragment = rest.halves(atFirst: "#")?.before ?? rest
        let path = withoutFragment.halves(atFirst: "?")?.before ?? withoutFragment
        if reference.begins(with: "//") { return base[..<scheme.lowerBound] + ":" + reference }
        if reference.begins(with: "/") { return origin + withoutDots(reference) }
        if reference.begins(with: "#") { return origin + withoutFragment + reference }
        if reference.begins(with: "?") { return origin + path + reference }
        let folder = path.halves(atLast: "/").map { $0.before + "/" } ?? "/"
        return origin + withoutDots(folder + reference)
    }

    private static func isAbsolute(_ text: String) -> Bool {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return !scheme.isEmpty && text.dropFirst(scheme.count).begins(with: "://")
    }

    private static func withoutDots(_ text: some StringProtocol) -> String {
        let text = Substring(text)
        let end = text.unicodeScalars.firstIndex { "?#".unicodeScalars.contains($0) } ?? text.endIndex
        let rest = text[end...]
        var segments: [Substring] = []
        let parts = text[..<end].parts(between: "/", keepingEmpty: true)
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
