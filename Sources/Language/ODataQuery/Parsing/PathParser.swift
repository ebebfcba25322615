import ODataModel

/// Parses a resource path segment by segment (OData URL Conventions 4.01, 4; ABNF section 1).
struct PathParser {
    let bytes: ArraySlice<UInt8>
    let settings: ParsingOptions
    /// The number of expression nodes so far.
    var nodes = 0

    init(bytes: ArraySlice<UInt8>, settings: ParsingOptions) {
        self.bytes = bytes
        self.settings = settings
    }

    mutating func path() throws(QueryError) -> ResourcePath {
        var result = ResourcePath()
        guard !bytes.isEmpty else { return result }
        var start = bytes.startIndex
        var offset = 0
        while true {
            let end = endOfSegment(from: start)
            let segment = bytes[start..<end]
            guard !segment.isEmpty else {
                throw QueryError(
                    .syntax,
                    start == bytes.startIndex
                        ? "The path is relative to the service root and does not begin with a slash."
                        : "Expected a path segment after the slash.", offset: offset)
            }
            guard result.segments.count < QueryLimits.maxDepth else {
                throw QueryError(
                    .limit(name: "maxDepth"), "The path has more than \(QueryLimits.maxDepth) segments.",
                    offset: offset)
            }
            try parse(segment, offset: offset, into: &result.segments)
            guard end < bytes.endIndex else { return result }
            offset += segment.characterCount + 1
            start = end + 1
        }
    }

    /// Returns the end of a segment: the next slash, except for slashes within `$filter(…)`.
    private func endOfSegment(from start: Int) -> Int {
        var index = start
        guard bytes[start...].starts(with: "$filter(".utf8) else {
            return bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        }
        var depth = 0
        var isQuoted = false
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "'"): isQuoted.toggle()
            case UInt8(ascii: "%") where bytes[index...].starts(with: "%27".utf8): isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: depth += 1
            case UInt8(ascii: ")") where !isQuoted: depth -= 1
            case UInt8(ascii: "/") where !isQuoted && depth <= 0: return index
            default: break
            }
            index += 1
        }
        return bytes.endIndex
    }

    private mutating func parse(
        _ segment: ArraySlice<UInt8>, offset: Int, into segments: inout [PathSegment]
    ) throws(QueryError) {
        let source = try SourceText(segment, base: offset, isPercentEncoded: true)
        var parser = QueryParser(source, dialect: settings.dialect, nodes: nodes)
        defer { nodes = parser.nodes }
        if parser.current == UInt8(ascii: "$"), segments.isEmpty || parser.isAtSystemSegment {
            segments.append(try parser.systemSegment(isFirst: segments.isEmpty))
            try parser.requireEnd(expected: "\u{201C}/\u{201D}, \u{201C}?\u{201D} or the end")
            return
        }
        if parser.isNameStart(at: 0) {
            let name = try parser.qualifiedName()
            if parser.isAtEnd {
                segments.append(.name(name, .none))
                return
            }
            if parser.current == UInt8(ascii: "(") {
                segments.append(.name(name, try parser.pathArguments()))
                while parser.current == UInt8(ascii: "("), !parser.isAtEnd {
                    let start = parser.position
                    switch try parser.pathArguments() {
                    case .key(let key): segments.append(.key(key))
                    case .named(let parts): segments.append(.key(.compound(parts)))
                    case .none, .empty: throw parser.failure("Expected a key.", at: start)
                    }
                }
                try parser.requireEnd(expected: "\u{201C}/\u{201D}, \u{201C}?\u{201D} or the end")
                return
            }
        }
        // Other texts can only be keys by the key-as-segment convention, which needs a collection before them.
        guard !segments.isEmpty else {
            if let finding = ForeignSyntax.path(parser.text(0..<min(parser.source.bytes.count, 200))) {
                throw QueryError(
                    .syntax, "Expected the path of a resource, found \u{201C}\(finding.found)\u{201D}.",
                    offset: offset + finding.offset, hint: finding.hint)
            }
            throw parser.failure(expected: "an entity set, a singleton, an operation or a system resource")
        }
        segments.append(.literal(Identifier(String(decoding: source.bytes, as: UTF8.self), at: offset)))
    }
}

extension PathSegment {
    /// The names of the segments that the standard defines.
    static let systemNames = [
        "$metadata", "$batch", "$entity", "$all", "$crossjoin", "$count", "$value", "$ref", "$each", "$query",
        "$filter",
    ]
}

extension QueryParser {
    /// Whether the current segment is one that the standard defines. Other segments after a collection are keys
    /// (OData URL Conventions 4.01, 4.3.6).
    fileprivate var isAtSystemSegment: Bool {
        guard let end = try? endOfName(from: position + 1) else { return false }
        let name = text(position..<end)
        return PathSegment.systemNames.contains(name) || name == "$links" && dialect == .v2
    }

    /// Parses a segment that begins with `$`; these segments are case-sensitive.
    fileprivate mutating func systemSegment(isFirst: Bool) throws(QueryError) -> PathSegment {
        let start = position
        position += 1
        if isFirst, current.isDigit { return contentReference(at: start) }
        position = try endOfName(from: position)
        switch text(start..<position) {
        case "$metadata": return .metadata
        case "$batch": return .batch
        case "$entity": return .entity
        case "$all": return .all
        case "$count": return .count
        case "$value": return .value
        case "$ref": return .reference
        case "$each": return .each
        case "$query": return .query
        case "$links" where dialect == .v2: return .links
        case "$crossjoin":
            try require("(")
            skipSpace()
            var names: [Identifier] = []
            repeat { names.append(try name(expected: "an entity set")) } while takeSeparator(",")
            try close()
            return .crossJoin(names)
        case "$filter":
            try require("(")
            skipSpace()
            let condition = try expression()
            try close()
            return .filter(condition)
        default:
            position = start
            let names = PathSegment.systemNames
            throw failure(expected: names.dropLast().joined(separator: ", ") + " or $filter", among: names)
        }
    }

    /// Parses the content id of another request, which may have all characters that RFC 3986 allows in a segment.
    ///
    /// An id that starts with a letter could be a misspelt system segment, so only ids with an initial digit are
    /// accepted.
    private mutating func contentReference(at start: Int) -> PathSegment {
        position = source.bytes.count
        return .name(Identifier(text(start..<position), at: source.offset(at: start)), .none)
    }

    /// Parses a key or parameters in parentheses.
    fileprivate mutating func pathArguments() throws(QueryError) -> PathArguments {
        position += 1
        skipSpace()
        if take(")") { return .empty }
        var tallest = 0
        let start = position
        if let named = try namedArguments(&tallest) {
            for argument in named { try requireValue(argument.value, at: start) }
            return .named(named)
        }
        position = start
        guard current != UInt8(ascii: "(") else { throw failure(expected: "a literal or a parameter alias") }
        let value = try value()
        try requireValue(value, at: start)
        skipSpace()
        guard take(")") else { throw failure(expected: "\u{201C})\u{201D}") }
        return .key(.single(value))
    }

    /// Checks that a key or parameter in a path does not depend on a current instance.
    ///
    /// Only literals, aliases, arrays, objects and paths from `$root` are allowed.
    private func requireValue(_ value: CommonExpression, at start: Int) throws(QueryError) {
        switch value {
        case .literal, .alias, .list, .json: return
        case .path(let steps):
            if case .variable(let variable)? = steps.first, variable.text == "$root" { return }
            var place = source.offset(at: start)
            if case .name(let name)? = steps.first { place = name.offset ?? place }
            throw QueryError(.syntax, "Expected a literal or a parameter alias.", offset: place)
        default: throw failure("Expected a literal or a parameter alias.", at: start)
        }
    }
}
