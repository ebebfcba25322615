import ODataModel

/// A preference in `Prefer` or `Preference-Applied` (OData Protocol 4.01, 8.2.8; RFC 7240).
///
/// ```swift
/// let preferences = try Preference.list(parsing: "respond-async, odata.maxpagesize=50")
/// ```
///
/// The names are those of 4.01. The prefix `odata.` of 4.0 is accepted too.
public enum Preference: Hashable, Sendable {
    /// `allow-entityreferences`: the response may have references in place of entities.
    case allowEntityReferences
    /// `callback`: the URL that the service calls.
    case callback(url: String)
    /// `continue-on-error`: whether requests after a failed one are executed.
    case continueOnError(Bool)
    /// `include-annotations`: the annotations to include.
    case includeAnnotations([AnnotationPattern])
    /// `maxpagesize`: the maximum number of rows per page, 1 or more.
    case maxPageSize(Int)
    /// `omit-values`: the properties to omit.
    case omitValues(OmittedValues)
    /// `respond-async`: the service may respond asynchronously.
    case respondAsync
    /// `return`: the content of the response to a change.
    case returns(Return)
    /// `track-changes`: a delta link is requested.
    case trackChanges
    /// `wait`: the number of seconds in which the service should respond.
    case wait(seconds: Int)
    /// Any other preference of RFC 7240: the name in lower case, the value, and parameters.
    case other(String, String?, parameters: [Parameter])

    /// The values of `return`.
    public enum Return: String, Hashable, Sendable {
        /// The entity after the change.
        case representation
        /// No content.
        case minimal
    }

    /// The values of `omit-values`.
    public enum OmittedValues: String, Hashable, Sendable {
        /// Properties that are null.
        case nulls
        /// Properties that have their default value.
        case defaults
    }

    /// A parameter after a semicolon.
    public struct Parameter: Hashable, Sendable {
        /// The name in lower case.
        public var name: String
        /// The value, unquoted; `nil` without one.
        public var value: String?

        /// Creates a parameter.
        public init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    /// An item of `include-annotations`: `*`, `Namespace.*` or a term, after a `-` if it is excluded.
    public struct AnnotationPattern: Hashable, Sendable, CustomStringConvertible {
        /// Whether matching annotations are excluded.
        public var isExcluded: Bool
        /// The namespace; `nil` for all.
        public var namespace: String?
        /// The name of the term; `nil` for all terms of the namespace.
        public var term: String?
        /// The qualifier; `nil` for any.
        public var qualifier: String?

        /// Creates an item.
        public init(
            isExcluded: Bool = false, namespace: String? = nil, term: String? = nil, qualifier: String? = nil
        ) {
            self.isExcluded = isExcluded
            self.namespace = namespace
            self.term = term
            self.qualifier = qualifier
        }

        /// The item in the notation of the field.
        public var description: String {
            let name = namespace.map { "\($0).\(term ?? "*")" } ?? "*"
            return (isExcluded ? "-" : "") + name + (qualifier.map { "#\($0)" } ?? "")
        }
    }

    /// Parses a preference.
    ///
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar.
    public init(parsing text: String) throws(QueryError) {
        var scanner = HeaderScanner(text)
        self = try scanner.preference()
        try scanner.requireEnd()
    }

    /// Parses the value of `Prefer`: preferences separated by commas. Empty items are skipped.
    ///
    /// - Throws: ``QueryError`` with kind `syntax` if the text breaks the grammar.
    public static func list(parsing text: String) throws(QueryError) -> [Preference] {
        var scanner = HeaderScanner(text)
        return try scanner.preferences()
    }
}

extension HeaderScanner {
    mutating func preferences() throws(QueryError) -> [Preference] {
        var items: [Preference] = []
        while true {
            skipSpace()
            if isAtEnd, !items.isEmpty { return items }
            if take(",") { continue }
            items.append(try preference())
            skipSpace()
            if isAtEnd { return items }
            try require(",")
        }
    }

    /// Scans `name [= value] *( ; [parameter] )`.
    fileprivate mutating func preference() throws(QueryError) -> Preference {
        let name = try token(expected: "a preference").lowercased()
        let known = name.hasPrefix("odata.") ? String(name.dropFirst(6)) : name
        // Each preference scans its own value, so that an error has the right position.
        let result: Preference
        switch known {
        case "allow-entityreferences": result = .allowEntityReferences
        case "respond-async" where known == name: result = .respondAsync
        case "track-changes": result = .trackChanges
        case "continue-on-error": result = .continueOnError(try takeEquals() ? try boolean() : true)
        case "maxpagesize": result = .maxPageSize(try pageSize())
        case "wait" where known == name: result = .wait(seconds: try number())
        case "return" where known == name:
            result = .returns(try oneOf(["representation": .representation, "minimal": .minimal]))
        case "omit-values" where known == name:
            result = .omitValues(try oneOf(["nulls": .nulls, "defaults": .defaults], isCaseSensitive: false))
        case "include-annotations": result = .includeAnnotations(try annotations())
        case "callback": return try callback()
        default:
            let value = try takeEquals() ? try self.value() : nil
            return .other(name, value, parameters: try parameters())
        }
        _ = try parameters()
        return result
    }

    private mutating func takeEquals() throws(QueryError) -> Bool {
        let start = position
        skipSpace()
        guard take("=") else {
            position = start
            return false
        }
        skipSpace()
        return true
    }

    private mutating func requireEquals() throws(QueryError) {
        guard try takeEquals() else { throw failure(expected: "\u{201C}=\u{201D} and a value") }
    }

    private mutating func value() throws(QueryError) -> String {
        current == "\"" ? try quotedString() : try token(expected: "a value")
    }

    private mutating func parameters() throws(QueryError) -> [Preference.Parameter] {
        var parameters: [Preference.Parameter] = []
        while true {
            let start = position
            skipSpace()
            guard take(";") else {
                position = start
                return parameters
            }
            skipSpace()
            guard let next = current, Self.isTokenCharacter(next) else { continue }
            let name = try token().lowercased()
            parameters.append(.init(name, try takeEquals() ? try value() : nil))
        }
    }

    // MARK: Values

    private mutating func boolean() throws(QueryError) -> Bool {
        let start = position
        switch try token(expected: "true or false").lowercased() {
        case "true": return true
        case "false": return false
        default:
            position = start
            throw failure(expected: "true or false")
        }
    }

    private mutating func number() throws(QueryError) -> Int {
        try requireEquals()
        let start = position
        guard let number = Int(try digits()) else {
            position = start
            throw failure(expected: "a smaller number")
        }
        return number
    }

    private mutating func pageSize() throws(QueryError) -> Int {
        try requireEquals()
        guard current != "0" else { throw failure(expected: "a number from 1") }
        let start = position
        guard let number = Int(try digits()) else {
            position = start
            throw failure(expected: "a smaller number")
        }
        return number
    }

    private mutating func oneOf<Value>(
        _ values: [String: Value], isCaseSensitive: Bool = true
    ) throws(QueryError) -> Value {
        try requireEquals()
        let start = position
        let names = values.keys.sorted().joined(separator: " or ")
        let isQuoted = current == "\""
        let word = isQuoted ? try quotedString() : try token(expected: names)
        guard let value = values[isCaseSensitive ? word : word.lowercased()] else {
            position = start
            throw failure(expected: names)
        }
        return value
    }

    private mutating func callback() throws(QueryError) -> Preference {
        skipSpace()
        guard take(";") else { throw failure(expected: "\u{201C};\u{201D} and url=") }
        skipSpace()
        let start = position
        guard try token(expected: "url").lowercased() == "url" else {
            position = start
            throw failure(expected: "url")
        }
        try requireEquals()
        let first = position
        let url = try quotedString()
        // A URL has a scheme.
        let scheme = url.prefix { $0 != ":" }.unicodeScalars
        guard scheme.count < url.unicodeScalars.count, let letter = scheme.first, letter.properties.isAlphabetic,
            letter.isASCII,
            scheme.allSatisfy({
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || "+-.".unicodeScalars.contains($0))
            })
        else {
            position = first + 1
            throw failure(expected: "an absolute URL")
        }
        return .callback(url: url)
    }

    private mutating func annotations() throws(QueryError) -> [Preference.AnnotationPattern] {
        try requireEquals()
        try require("\"")
        var items: [Preference.AnnotationPattern] = []
        repeat { items.append(try annotation()) } while take(",")
        try require("\"")
        return items
    }

    private mutating func annotation() throws(QueryError) -> Preference.AnnotationPattern {
        var item = Preference.AnnotationPattern(isExcluded: take("-"))
        if !takeStar() {
            var names = [try identifier(expected: "a namespace or *")]
            while names.count == 1 || current == "." {
                try require(".")
                if takeStar() {
                    names.append("*")
                    break
                }
                names.append(try identifier(expected: "a term or *"))
            }
            let term = names.removeLast()
            item.term = term == "*" ? nil : term
            item.namespace = names.joined(separator: ".")
        }
        if take("#") { item.qualifier = try identifier(expected: "a qualifier") }
        return item
    }

    /// Scans `*`, which may also be percent-encoded.
    private mutating func takeStar() -> Bool {
        if take("*") { return true }
        guard scalars[position...].starts(with: "%2A".unicodeScalars) else { return false }
        position += 3
        return true
    }

    private mutating func identifier(expected: String) throws(QueryError) -> String {
        let start = position
        while let next = current,
            next == "_" || next.properties.isAlphabetic
                || (position > start && next.properties.numericType != nil)
        {
            position += 1
        }
        guard position > start else { throw failure(expected: expected) }
        return text(from: start)
    }
}

extension Preference: CustomStringConvertible {
    /// The preference in the notation of 4.01.
    public var description: String { description(prefixed: false) }

    /// Returns the preference in the notation of `Prefer`.
    ///
    /// - Parameter prefixed: whether OData's own preferences get the prefix `odata.`, which 4.0 requires.
    public func description(prefixed: Bool) -> String {
        let prefix = prefixed ? "odata." : ""
        switch self {
        case .allowEntityReferences: return prefix + "allow-entityreferences"
        case .callback(let url): return "\(prefix)callback; url=\(Self.quoted(url))"
        case .continueOnError(let isWanted): return "\(prefix)continue-on-error\(isWanted ? "" : "=false")"
        case .includeAnnotations(let items):
            return "\(prefix)include-annotations=\"\(items.map(\.description).joined(separator: ","))\""
        case .maxPageSize(let size): return "\(prefix)maxpagesize=\(size)"
        case .omitValues(let values): return "omit-values=\(values.rawValue)"
        case .respondAsync: return "respond-async"
        case .returns(let returns): return "return=\(returns.rawValue)"
        case .trackChanges: return prefix + "track-changes"
        case .wait(let seconds): return "wait=\(seconds)"
        case .other(let name, let value, let parameters):
            let all = [Parameter(name, value)] + parameters
            return all.map { $0.value.map { [name = $0.name] in "\(name)=\(Self.quotedIfNeeded($0))" } ?? $0.name }
                .joined(separator: "; ")
        }
    }

    private static func quotedIfNeeded(_ text: String) -> String {
        !text.isEmpty && text.unicodeScalars.allSatisfy(HeaderScanner.isTokenCharacter) ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        let backslash = UInt8(ascii: "\\")
        return "\"" + text.escaping([backslash, UInt8(ascii: "\"")], with: backslash) + "\""
    }
}
