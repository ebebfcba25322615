/// The syntax of other languages that people write in queries, with its counterpart in OData.
///
/// The hints are only made for errors, so that they cost nothing in a correct query.
enum ForeignSyntax {
    /// A piece of foreign syntax.
    struct Finding: Equatable {
        /// The foreign symbol or word.
        let found: String
        /// The advice, as a sentence.
        let hint: String
    }

    /// The operators of SQL, C and their relatives that consist of symbols; a symbol precedes its prefixes.
    private static let symbols: [(symbol: String, word: String)] = [
        ("===", "eq"), ("!==", "ne"), ("==", "eq"), ("!=", "ne"), ("<>", "ne"), (">=", "ge"), ("<=", "le"),
        ("=>", "ge"), ("=<", "le"), ("&&", "and"), ("||", "or"), ("≥", "ge"), ("≤", "le"), ("≠", "ne"), ("=", "eq"),
        (">", "gt"), ("<", "lt"), ("&", "and"), ("|", "or"), ("+", "add"), ("-", "sub"), ("*", "mul"), ("×", "mul"),
        ("/", "div"), ("÷", "div"), ("%", "mod"),
    ]

    /// The foreign words for operators and directions.
    private static let words: [String: String] = [
        "equals": "eq", "equal": "eq", "is": "eq", "eql": "eq", "unequal": "ne", "neq": "ne", "greater": "gt",
        "less": "lt", "gte": "ge", "lte": "le", "plus": "add", "minus": "sub", "times": "mul", "over": "div",
        "modulo": "mod", "descending": "desc", "ascending": "asc",
    ]

    /// The foreign words between a text and a pattern, with the function that replaces them.
    private static let textWords: [String: String] = [
        "like": "contains", "ilike": "contains", "contains": "contains", "includes": "contains",
        "containing": "contains", "startswith": "startswith", "starts": "startswith", "endswith": "endswith",
        "ends": "endswith", "matches": "matchespattern", "matchespattern": "matchespattern",
        "regexp": "matchespattern", "rlike": "matchespattern", "similar": "matchespattern",
    ]

    /// The clauses of SQL, with the query option that replaces them.
    private static let clauses: [String: String] = [
        "where": "$filter=", "order": "$orderby=", "sort": "$orderby=", "limit": "$top=", "offset": "$skip=",
        "group": "$apply=groupby((…),aggregate(…))", "having": "$apply=…/filter(…)",
        "join": "$expand=", "from": "the entity set at the start, as in Orders?$select=",
    ]

    /// The functions of other languages in lower case.
    private static let functions: [String: String] = [
        "lower": "tolower", "lcase": "tolower", "lowercase": "tolower", "upper": "toupper", "ucase": "toupper",
        "uppercase": "toupper", "len": "length", "size": "length", "char_length": "length", "substr": "substring",
        "mid": "substring", "instr": "indexof", "position": "indexof", "charindex": "indexof", "locate": "indexof",
        "like": "contains", "includes": "contains", "starts_with": "startswith", "ends_with": "endswith",
        "regexp_like": "matchespattern", "matches": "matchespattern", "ceil": "ceiling", "getdate": "now",
        "current_timestamp": "now", "sysdate": "now", "today": "date(now())", "datepart": "year, month or day",
        "extract": "year, month or day", "convert": "cast", "typeof": "isof",
    ]

    /// The names that people give to query options, without `$` and in lower case.
    private static let options: [String: String] = [
        "limit": "$top", "take": "$top", "first": "$top", "max": "$top", "pagesize": "$top", "per_page": "$top",
        "offset": "$skip", "start": "$skip", "page": "$top and $skip", "where": "$filter",
        "having": "$apply=…/filter(…)",
        "sort": "$orderby", "order": "$orderby", "sortby": "$orderby", "order_by": "$orderby", "fields": "$select",
        "columns": "$select", "properties": "$select", "include": "$expand", "join": "$expand", "with": "$expand",
        "embed": "$expand", "distinct": "$apply=groupby((…))", "unique": "$apply=groupby((…))",
        "group": "$apply=groupby((…))", "groupby": "$apply=groupby((…))", "group_by": "$apply=groupby((…))",
        "aggregate": "$apply=aggregate(…)", "sum": "$apply=aggregate(…)", "total": "$count=true", "q": "$search",
        "query": "$search", "find": "$search", "contains": "$filter=contains(…)",
    ]

    /// The words that other languages have for null.
    private static let nullWords: Set<String> = ["null", "nil", "none", "nothing", "undefined"]

    /// Returns the advice for text that follows an operand but is no operator.
    ///
    /// - Parameters:
    ///   - rest: the text from the first character that is not white space.
    ///   - left: the text before it.
    static func afterOperand(_ rest: String, after left: String) -> Finding? {
        if let quote = innerQuote(rest, after: left) { return quote }
        if let first = rest.first, first == ",", left.last?.isNumber ?? false {
            let digits = rest.dropFirst().prefix { $0.isNumber }
            let whole = left.reversed().prefix { $0.isNumber }.reversed()
            if !digits.isEmpty {
                return Finding(found: ",", hint: "Write a decimal point: \(String(whole)).\(digits).")
            }
        }
        if let (symbol, word) = symbols.first(where: { rest.hasPrefix($0.symbol) }) {
            return Finding(found: symbol, hint: "Write \(word) for \(symbol).")
        }
        let word = String(rest.prefix { $0.isLetter || $0 == "_" || $0.isNumber })
        guard !word.isEmpty else { return nil }
        let tail = rest.dropFirst(word.count)
        return foreignWord(word, tail: tail, left: operand(endOf: left)).map { Finding(found: word, hint: $0) }
    }

    private static func foreignWord(_ word: String, tail: Substring, left: String) -> String? {
        let isSpaced = tail.first == " " || tail.first == "\t"
        let tail = tail.drop { $0 == " " || $0 == "\t" }
        let next = tail.prefix { $0.isLetter }.lowercased()
        switch word.lowercased() {
        case "is" where next == "not": return "Write ne for is not, as in \(left) ne null."
        case "is" where next == "null": return "Write \(left) eq null."
        case "isnull": return "Write \(left) eq null."
        case "notnull": return "Write \(left) ne null."
        case "not": return "Write not before the condition, as in not (\(left) in (…))."
        case "between":
            let parts = tail.split(separator: " ", maxSplits: 3)
            let isWhole = parts.count > 2 && parts[1].lowercased() == "and"
            let (low, high) = isWhole ? (String(parts[0]), String(parts[2])) : ("…", "…")
            return "Write \(left) ge \(low) and \(left) le \(high)."
        case let word:
            if let function = textWords[word] {
                return "Write \(function)(\(left),\(pattern(tail)))."
            }
            if let operation = words[word] { return "Write \(operation) for \(word)." }
            if let option = clauses[word] { return "Write \(option) for \(word)." }
            guard BinaryOperator(rawValue: word) != nil || word == "in" else { return nil }
            if tail.isEmpty { return "A value must follow \(word)." }
            return isSpaced ? nil : "Write a space after \(word)."
        }
    }

    /// Returns the advice for text at a place that needs an operand.
    static func operandPlace(_ rest: String) -> Finding? {
        guard let first = rest.first else { return nil }
        switch first {
        case "\"", "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{201A}", "\u{AB}", "\u{BB}":
            let content = rest.dropFirst().prefix { !"\"\u{201C}\u{201D}\u{2018}\u{2019}\u{AB}\u{BB}".contains($0) }
            return Finding(
                found: String(first),
                hint: "A text stands in single quotes: '\(content.replacing("'", with: "''"))'.")
        case "`", "´":
            return Finding(found: String(first), hint: "A name stands without quotes, a text in single quotes.")
        case "!": return Finding(found: "!", hint: "Write not for !.")
        default: return nil
        }
    }

    /// Returns the advice for a quote within a text that is not doubled, as in `'O'Reilly'`.
    private static func innerQuote(_ rest: String, after left: String) -> Finding? {
        guard left.last == "'", let first = rest.first, first.isLetter || first.isNumber,
            let open = left.dropLast().lastIndex(of: "'")
        else { return nil }
        let before = left[left.index(after: open)...].dropLast()
        let after = rest.prefix { $0 != "'" }
        let word = rest.prefix { $0.isLetter || $0.isNumber }
        return Finding(found: String(word), hint: "Double the quote in a text: '\(before)''\(after)'.")
    }

    /// Returns the name or path at the end of a text; an ellipsis if there is none.
    private static func operand(endOf left: String) -> String {
        let text = left.reversed().drop { $0 == " " || $0 == "\t" }
        let name = String(text.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "/" || $0 == "." }.reversed())
        return name.isEmpty ? "…" : name
    }

    /// Returns the text in quotes at the start, without the wildcards of SQL; an ellipsis in quotes if there is none.
    private static func pattern(_ tail: Substring) -> String {
        guard let quote = tail.first(where: { $0 == "'" || $0 == "\"" }) else { return "'…'" }
        let parts = tail.split(separator: quote, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return "'…'" }
        return "'\(parts[1].filter { $0 != "%" && $0 != "*" })'"
    }

    /// Returns the advice for a path that begins like a command of SQL or goes on with a clause or another bracket.
    ///
    /// - Parameter text: the text of the first segment.
    /// - Returns: the finding and its offset in the text; `nil` if the text looks like nothing else.
    static func path(_ text: String) -> (found: String, offset: Int, hint: String)? {
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard !name.isEmpty else { return nil }
        let rest = text.dropFirst(name.count)
        if name.lowercased() == "select", rest.first == " " {
            return (String(name), 0, "Begin with the entity set, as in Orders?$select=ShipName.")
        }
        if rest.first == "[" {
            return (
                "[", name.count, "A key stands in parentheses, as in \(name)(\(rest.dropFirst().prefix { $0 != "]" }))."
            )
        }
        if rest.first == "&" || rest.first == "$" {
            return (String(rest.prefix(1)), name.count, "Write ? before the first query option.")
        }
        let blanks = rest.prefix { $0 == " " }.count
        let word = String(rest.dropFirst(blanks).prefix(while: \.isLetter))
        guard blanks > 0, let option = clauses[word.lowercased()] else { return nil }
        return (word, name.count + blanks, "Write \(name)?\(option) for \(word).")
    }

    /// Returns the advice for the name of an unknown query option.
    ///
    /// - Parameter name: the name, with or without `$`.
    static func option(_ name: String) -> String? {
        let name = (name.hasPrefix("$") ? String(name.dropFirst()) : name).lowercased()
        return options[name].map { "Write \($0) instead." }
    }

    /// Returns the advice for the name of an unknown function.
    static func function(_ name: String) -> String? {
        switch name.lowercased() {
        case "isnull", "ifnull", "coalesce", "nvl": "Compare with null: Name eq null."
        case "count": "Write Items/$count in a condition, or $apply=aggregate($count as Count)."
        case "sum", "avg", "average", "min", "max": "Write $apply=aggregate(Name with \(aggregate(name)) as Total)."
        case let word: functions[word].map { "Write \($0) for \(word)." }
        }
    }

    private static func aggregate(_ name: String) -> String {
        let name = name.lowercased()
        return name == "avg" ? "average" : name
    }

    /// Returns the advice for a word that stands as a value but is the name of no property.
    static func value(_ word: String) -> String {
        nullWords.contains(word.lowercased()) ? "Write null." : "A text stands in single quotes: '\(word)'."
    }
}
