import ErrorCodes

/// Why a URL or expression is refused: the place, what was found and what was expected there.
public struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The classes of refusal.
    public enum Kind: Hashable, Sendable {
        /// The text breaks the grammar.
        case syntax
        /// A name that the model does not have.
        case unknownName
        /// Operand types that do not go together.
        case type
        /// Right by the standard, but not answered here: the response is 501 with this feature's name.
        case unsupported(feature: String)
        /// Beyond a documented limit.
        case limit(name: String)
    }

    /// The class.
    public let kind: Kind
    /// A full sentence without the position.
    public let message: String
    /// The offset into ``text`` in characters (Unicode code points); `nil` when the query was made in code.
    public let offset: Int?
    /// The text that was given to the parser: a URL, the query part of one, or an expression.
    public var text: String?
    /// The query option or `path`, where known.
    public var part: String?
    /// Names near to an unknown one, nearest first.
    public var suggestions: [String]

    /// Makes an error.
    public init(
        _ kind: Kind, _ message: String, offset: Int? = nil, text: String? = nil, part: String? = nil,
        suggestions: [String] = []
    ) {
        self.kind = kind
        self.message = message
        self.offset = offset
        self.text = text
        self.part = part
        self.suggestions = suggestions
    }

    /// Message, position and suggestions on one line.
    public var description: String {
        var line = message
        if let part { line = "\(part): \(line)" }
        if let offset { line += " (at character \(offset + 1))" }
        if !suggestions.isEmpty { line += " Did you mean \(suggestions.joined(separator: " or "))?" }
        return line
    }
}

extension QueryError {
    /// The names nearest to a misspelt one, at most three, nearest first.
    ///
    /// - Parameters:
    ///   - name: the name as it was written.
    ///   - names: the names that exist.
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
