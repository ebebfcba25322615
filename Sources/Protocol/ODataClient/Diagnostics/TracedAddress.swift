/// The address of a request as a trace shows it: names below the service root, but no keys, arguments or values of
/// options.
///
/// A segment is shown if it is certainly a name: the first one below the root, the one behind parentheses, or one that
/// the standard defines (OData URL Conventions 4.01, 4). All others may be keys (4.3.6).
struct TracedAddress {
    /// The path, with `…` in place of everything that may be a value.
    private(set) var path = ""
    /// The names of the query options.
    private(set) var options: [String] = []

    /// The text in place of a value.
    static let mark = "…"

    private static let standardSegments: Set<Substring> = [
        "$metadata", "$batch", "$count", "$value", "$ref", "$query", "$entity", "$crossjoin", "$all", "$filter",
        "$each",
        "$root", "$links",
    ]

    /// - Parameter root: The path of the service root, with a slash at both ends.
    init(_ text: String?, root: String) {
        let text = text ?? "/"
        let query = text.firstIndex(of: "?")
        guard text.hasPrefix(root) || text + "/" == root else {
            path = "/\(Self.mark)"
            return
        }
        var isBehindParentheses = true
        for segment in Self.segments(text[..<(query ?? text.endIndex)].dropFirst(root.count)) {
            let name = segment.prefix { $0 != "(" }
            let isName = isBehindParentheses && Self.isName(name) || Self.standardSegments.contains(name)
            isBehindParentheses = name.endIndex < segment.endIndex
            path += "/" + (isName ? String(name) : Self.mark) + (isBehindParentheses && isName ? "(\(Self.mark))" : "")
        }
        if path.isEmpty { path = "/" }
        guard let query else { return }
        options = text[query...].dropFirst().prefix { $0 != "#" }.split(separator: "&").map { option in
            guard let end = option.firstIndex(of: "="), Self.isName(option[..<end]) else { return Self.mark }
            return String(option[..<end])
        }
    }

    /// The path and the names of the options.
    var pathAndOptions: String { options.isEmpty ? path : "\(path)?\(options.joined(separator: "&"))" }

    private static func isName(_ text: Substring) -> Bool {
        let marks = "_.$@-"
        return !text.isEmpty && text.utf8.count <= 128
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil
                    || marks.unicodeScalars.contains($0)
            }
    }

    /// Returns the segments of a path. Slashes within parentheses and quotes belong to their segment.
    private static func segments(_ path: Substring) -> [Substring] {
        var segments: [Substring] = []
        var (start, depth, isQuoted) = (path.startIndex, 0, false)
        var index = path.startIndex
        while index < path.endIndex {
            switch path[index] {
            case "'": isQuoted.toggle()
            case "%" where path[index...].hasPrefix("%27"): isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth = max(0, depth - 1)
            case "/" where !isQuoted && depth == 0:
                segments.append(path[start..<index])
                start = path.index(after: index)
            default: break
            }
            index = path.index(after: index)
        }
        segments.append(path[start...])
        return segments.filter { !$0.isEmpty }
    }
}
