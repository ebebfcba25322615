/// Replaces the part of qualified names before the last dot. Aliases are replaced by namespaces when a document is
/// read, and namespaces by aliases when a document is written (OData CSDL 4.01, 5.1).
struct CSDLNameMap {
    private let replacements: [String: String]

    init(_ replacements: [String: String] = [:]) { self.replacements = replacements }

    /// Returns a dotted name with its namespace replaced, if there is a replacement.
    func name(_ name: some StringProtocol) -> String {
        let name = Substring(name)
        guard !replacements.isEmpty, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")),
            let replacement = replacements[String(name[..<dot])]
        else { return String(name) }
        return replacement + name[dot...]
    }

    /// Returns the name of a type in metadata, such as `Collection(NS.Type)`, with its namespace replaced.
    func type(_ text: String) -> String {
        text.collectionElement.map { "Collection(\(name($0)))" } ?? name(text)
    }

    /// Returns a path with the namespaces in its segments replaced: those of type casts, terms and argument types
    /// of operation overloads.
    func path(_ text: String) -> String {
        // Most paths are simple names, and comparing bytes is faster than comparing characters.
        guard !replacements.isEmpty, text.utf8.contains(UInt8(ascii: ".")) else { return text }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "(") }) else {
            return segment(text)
        }
        var result = ""
        for (index, part) in Self.segments(text).enumerated() {
            if index > 0 { result += "/" }
            result += segment(String(part))
        }
        return result
    }

    /// Returns the segments of a path; a slash within parentheses or quotation marks belongs to its segment.
    static func segments(_ text: String) -> [Substring] {
        var result: [Substring] = []
        var depth = 0
        var isQuoted = false
        let bytes = text.utf8
        var start = bytes.startIndex
        var index = start
        while index != bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "'"): isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: depth += 1
            case UInt8(ascii: ")") where !isQuoted: depth -= 1
            case UInt8(ascii: "/") where depth <= 0 && !isQuoted:
                result.append(text[start..<index])
                start = bytes.index(after: index)
            default: break
            }
            index = bytes.index(after: index)
        }
        result.append(text[start...])
        return result
    }

    private func segment(_ text: String) -> String {
        if let at = text.utf8.firstIndex(of: UInt8(ascii: "@")) {
            // The text is split by bytes because a term may begin with a combining character.
            let start = text.utf8.index(after: at)
            let (term, qualifier) = text[start...].termAndQualifier
            return text[..<start] + name(term) + (qualifier.map { "#\($0)" } ?? "")
        }
        guard let parenthesis = text.utf8.firstIndex(of: UInt8(ascii: "(")), text.ends(with: ")") else {
            return name(text)
        }
        let arguments = text[text.utf8.index(after: parenthesis)...].utf8.dropLast()
        let types = arguments.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            type(String(Substring($0)))
        }
        return "\(name(text[..<parenthesis]))(\(types.joined(separator: ",")))"
    }
}
