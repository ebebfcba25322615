import ErrorCodes

/// The error for a URL or expression that is refused, with its position and the expected text.
///
/// ```swift
/// do {
///     let url = try ODataURL(parsing: "Orders?$filter=Freight gtt 100")
///     show(url)
/// } catch {
///     show(error.message, error.offset ?? 0, error.suggestions)
/// }
/// ```
public struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Kind: Hashable, Sendable {
        /// The text breaks the grammar.
        case syntax
        /// The model does not have a name.
        case unknownName
        /// The types of operands do not match.
        case type
        /// The standard allows the feature, but this implementation does not; the response is 501 with the name of
        /// the feature.
        case unsupported(feature: String)
        /// A documented limit was exceeded.
        case limit(name: String)
    }

    /// The kind of the error.
    public let kind: Kind
    /// A message in a full sentence, without the position.
    public let message: String
    /// The offset into ``text`` in Unicode code points; `nil` for a query built in code.
    public let offset: Int?
    /// The parsed text: a URL, the query part of a URL, or an expression.
    public var text: String?
    /// The query option, or `path`; `nil` if it is unknown.
    public var part: String?
    /// Names similar to an unknown one, nearest first.
    public var suggestions: [String]
    /// Advice as a sentence, such as `Write gt for >.`; `nil` if there is none.
    public var hint: String?

    /// Creates an error.
    public init(
        _ kind: Kind, _ message: String, offset: Int? = nil, text: String? = nil, part: String? = nil,
        suggestions: [String] = [], hint: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.offset = offset
        self.text = text
        self.part = part
        self.suggestions = suggestions
        self.hint = hint
    }

    /// The message, position, suggestions and advice on one line.
    public var description: String {
        var line = message
        if let part { line = "\(part): \(line)" }
        if let offset { line += " (at character \(offset + 1))" }
        if !suggestions.isEmpty { line += " Did you mean \(suggestions.joined(separator: " or "))?" }
        if let hint { line += " \(hint)" }
        return line
    }
}

extension QueryError {
    /// Returns the names nearest to a misspelt one, at most three, nearest first.
    ///
    /// - Parameters:
    ///   - name: the misspelt name.
    ///   - names: the existing names.
    public static func suggestions(for name: String, among names: some Sequence<String>) -> [String] {
        nearest(to: name, among: names)
    }
}

extension QueryError: CodedError {
    /// `query.…`.
    public var errorCode: ErrorCode {
        let name =
            switch kind {
            case .unsupported: "unsupported"
            case .unknownName: "unknown-name"
            case .syntax: "syntax"
            case .type: "type"
            case .limit: "limit"
            }
        return ErrorCode(rawValue: "query.\(name)")
    }
    /// The place.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}
