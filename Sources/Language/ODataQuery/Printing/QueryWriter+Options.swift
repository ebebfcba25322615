import ODataModel

/// Writing of system query options, their items and `$search`.
extension QueryWriter {
    /// Writes all options that are set, in a fixed order.
    mutating func write(_ options: QueryOptions) {
        var isFirst = true
        func separator(_ writer: inout QueryWriter) {
            if !isFirst { writer.delimiter("&") }
            isFirst = false
        }
        forEach(options, isNested: false) { writer, name, body in
            separator(&writer)
            writer.write(name)
            writer.delimiter("=")
            body(&writer)
        }
        for custom in options.custom {
            separator(&self)
            write(name: custom.name)
            delimiter("=")
            write(data: custom.value)
        }
    }

    /// Writes `(name=value;…)`, or no text if no option is set.
    mutating func writeNested(_ options: QueryOptions) {
        var isFirst = true
        forEach(options, isNested: true) { writer, name, body in
            writer.write(isFirst ? "(" : ";")
            isFirst = false
            writer.write("\(name)=")
            body(&writer)
        }
        if !isFirst { write(")") }
    }

    /// Writes the name of a custom option, in which an equals sign is encoded.
    private mutating func write(name: String) {
        for scalar in name.unicodeScalars {
            if scalar == "=" { write(encoded: UInt8(ascii: "=")) } else { write(data: String(scalar)) }
        }
    }

    private mutating func forEach(
        _ options: QueryOptions, isNested: Bool,
        _ body: (inout QueryWriter, String, (inout QueryWriter) -> Void) -> Void
    ) {
        if let levels = options.levels {
            body(&self, "$levels") { writer in
                if case .exactly(let number) = levels { writer.write("\(number)") } else { writer.write("max") }
            }
        }
        if !options.apply.isEmpty { body(&self, "$apply") { $0.write(options.apply) } }
        if !options.compute.isEmpty { body(&self, "$compute") { $0.list(options.compute) { $0.write($1) } } }
        if let filter = options.filter { body(&self, "$filter") { $0.write(filter) } }
        if let search = options.search { body(&self, "$search") { $0.write(search) } }
        if !options.orderBy.isEmpty { body(&self, "$orderby") { $0.list(options.orderBy) { $0.write($1) } } }
        if let skip = options.skip { body(&self, "$skip") { $0.write(number: skip) } }
        if let top = options.top { body(&self, "$top") { $0.write(number: top) } }
        if let count = options.count {
            // V2 has no nested options; nested ones keep the notation of V4.
            if dialect == .v2, !isNested {
                body(&self, "$inlinecount") { $0.write(count ? "allpages" : "none") }
            } else {
                body(&self, "$count") { $0.write(count ? "true" : "false") }
            }
        }
        if !options.select.isEmpty { body(&self, "$select") { $0.list(options.select) { $0.write($1) } } }
        if !options.expand.isEmpty { body(&self, "$expand") { $0.list(options.expand) { $0.write($1) } } }
        if let token = options.skipToken { body(&self, "$skiptoken") { $0.write(token: token) } }
        if let token = options.deltaToken { body(&self, "$deltatoken") { $0.write(token: token) } }
        if let format = options.format { body(&self, "$format") { $0.write(data: format) } }
        if let id = options.id { body(&self, "$id") { $0.write(data: id) } }
        if let index = options.index { body(&self, "$index") { $0.write("\(index)") } }
        if let version = options.schemaVersion { body(&self, "$schemaversion") { $0.write(data: version) } }
        for (name, value) in options.temporal.sorted(by: { $0.key < $1.key }) { body(&self, name) { $0.write(value) } }
        for (name, value) in options.aliases.sorted(by: { $0.key < $1.key }) {
            body(&self, "@\(name)") { $0.write(value) }
        }
    }

    private mutating func write(number: Int) {
        if !lift(.integer(Int64(number))) { write("\(number)") }
    }

    private mutating func write(token: String) {
        if !lift(.string(token)) { write(data: token) }
    }

    // MARK: Items

    mutating func write(_ item: OrderItem) {
        write(item.expression)
        if item.isDescending { write(" desc") }
    }

    mutating func write(_ item: ComputeItem) {
        write(item.expression)
        write(" as \(item.name)")
    }

    mutating func write(_ item: SelectItem) {
        switch item.kind {
        case .all: write("*")
        case .operations(let namespace): write("\(namespace).*")
        case .path(let path): write(Self.joined(path))
        case .operation(let path, let parameters):
            write("\(Self.joined(path))(\(parameters.map(\.text).joined(separator: ",")))")
        }
        writeNested(item.options)
    }

    mutating func write(_ item: ExpandItem) {
        write(Self.joined(item.path))
        let suffix =
            switch item.form {
            case .entities: ""
            case .references: "$ref"
            case .count: "$count"
            case .value: "$value"
            }
        if !suffix.isEmpty { write(item.path.isEmpty ? suffix : "/" + suffix) }
        writeNested(item.options)
    }

    static func joined(_ path: [Identifier]) -> String { path.map(\.text).joined(separator: "/") }

    // MARK: $search

    /// Writes a search expression.
    ///
    /// - Parameters:
    ///   - search: the expression.
    ///   - minimum: the least precedence without parentheses, -1 for a whole expression. The left operand of `OR`
    ///     has 0. The right operand of `OR` and the left one of `AND` have 1. The right operand of `AND` and the
    ///     operand of `NOT` have 2.
    mutating func write(_ search: SearchExpression, minimum: Int = -1) {
        let precedence =
            switch search {
            case .or: 0
            case .and: 1
            case .not: 2
            case .word, .phrase: 3
            }
        let isOperatorWord =
            if case .word(let word) = search { minimum >= 0 && ["AND", "OR", "NOT"].contains(word) } else { false }
        let isNeeded = precedence < minimum || isOperatorWord
        if isNeeded { write("(") }
        switch search {
        case .word(let word): write(word: word)
        case .phrase(let phrase): write(phrase: phrase)
        case .not(let inner):
            write("NOT ")
            write(inner, minimum: 2)
        case .and(let left, let right):
            write(left, minimum: 1)
            write(" AND ")
            write(right, minimum: 2)
        case .or(let left, let right):
            write(left, minimum: 0)
            write(" OR ")
            write(right, minimum: 1)
        }
        if isNeeded { write(")") }
    }

    private mutating func write(word: String) {
        let isPlain = word.utf8.allSatisfy { $0 > 32 && $0 != 34 && $0 != 40 && $0 != 41 && $0 != 59 }
        let hasOnlySemicolons = word.utf8.allSatisfy { $0 > 32 && $0 != 34 && $0 != 40 && $0 != 41 }
        guard !word.isEmpty, word.utf8.first != UInt8(ascii: "'"), isPlain || (hasOnlySemicolons && form != .text)
        else {
            write(phrase: word)
            return
        }
        for part in word.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { write(encoded: UInt8(ascii: ";")) }
            write(data: String(part.element))
        }
    }

    private mutating func write(phrase: String) {
        var escaped = ""
        for character in phrase.unicodeScalars {
            if character == "\"" || character == "\\" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(character)
        }
        write(data: "\"\(escaped)\"")
    }
}
