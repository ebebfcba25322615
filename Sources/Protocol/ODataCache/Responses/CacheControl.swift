import HTTPTypes

/// The directives of `Cache-Control` (RFC 9111, 5.2).
struct CacheControl {
    /// The directives in lower case with their unquoted arguments.
    private(set) var directives: [String: String] = [:]

    init(_ fields: HTTPFields) {
        for text in fields[values: .cacheControl] { read(text) }
        // `Pragma: no-cache` is an older form of the directive (RFC 9111, 5.4).
        if fields[.cacheControl] == nil, fields[values: Self.pragma].joined(separator: ",").contains("no-cache") {
            directives["no-cache"] = ""
        }
    }

    private static let pragma = HTTPField.Name("Pragma") ?? .cacheControl

    private mutating func read(_ text: String) {
        var parts: [String] = [""]
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        for part in parts {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard let name = sides.first?.trimmed.lowercased(), !name.isEmpty else { continue }
            var argument = sides.count > 1 ? sides[1].trimmed : ""
            if argument.count >= 2, argument.hasPrefix("\""), argument.hasSuffix("\"") {
                argument = String(argument.dropFirst().dropLast())
            }
            // Of two contradicting directives, the stricter one counts, which has the smaller number.
            if let old = directives[name].flatMap({ Int64($0) }), let new = Int64(argument), old < new { continue }
            directives[name] = argument
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    /// Returns the seconds of a directive, or `nil` without it. A text that is not a number counts as 0.
    func seconds(_ name: String) -> Double? {
        guard let text = directives[name] else { return nil }
        return Double(Int64(text).map { max(0, $0) } ?? (text.allSatisfy(\.isNumber) && !text.isEmpty ? 1 << 31 : 0))
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
