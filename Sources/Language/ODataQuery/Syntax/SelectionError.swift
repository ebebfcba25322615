import ErrorCodes

/// The error for a ``Selection`` that is refused, with the place of the fault.
///
/// ```swift
/// do {
///     show(try binder.bind(selection))
/// } catch {
///     show(error.place, error.description, error.suggestions)
/// }
/// ```
public struct SelectionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Kind: Hashable, Sendable {
        /// The JSON form breaks its grammar.
        case syntax(String)
        /// The model has no entity set, and no type with one set, of the name.
        case noSuchEntity(String)
        /// The type is abstract and has no set of its own.
        case abstractEntity(String)
        /// Several sets have entities of the type.
        case severalSets(String)
        /// The model does not allow dynamic queries over the type.
        case dynamicQueriesOff(String)
        /// No source has the alias.
        case noSuchAlias(String)
        /// The alias is not a letter or underscore with letters, digits and underscores.
        case invalidAlias(String)
        /// Two sources have the alias.
        case duplicateAlias(String)
        /// The source has no attribute of the name, or no attribute with a single value.
        case noSuchAttribute(String)
        /// Several sources have the attribute.
        case ambiguousAttribute(String)
        /// The attribute has a large value, which no test and no column can hold.
        case largeAttributeInPredicate(String)
        /// The store knows no state of the name.
        case noSuchState(String)
        /// The text or value is not one of the type.
        case invalidType(String, expected: String)
        /// The types of operands do not fit.
        case wrongType(String)
        /// The aggregate is not defined for the type.
        case aggregateType(String, type: String)
        /// The attribute is neither grouped nor aggregated.
        case notGrouped(String)
        /// The combined queries have different numbers or types of columns.
        case unequalShapes(String)
        /// Two columns of the result have the name.
        case duplicateColumn(String)
        /// An operand or clause stands where it has no meaning, or lacks.
        case misplaced(String)
        /// A documented limit was exceeded; the value is the name of its constant.
        case limit(String)
    }

    /// The kind of the fault.
    public let kind: Kind
    /// The place in the query, such as `join[0].on` or `where.all[1].value`; empty for the query as a whole.
    public let place: String
    /// Names similar to an unknown one, nearest first.
    public let suggestions: [String]

    /// Creates an error.
    public init(_ kind: Kind, at place: String, suggestions: [String] = []) {
        self.kind = kind
        self.place = place
        self.suggestions = suggestions
    }

    private var message: String {
        switch kind {
        case .syntax(let reason), .wrongType(let reason), .unequalShapes(let reason), .misplaced(let reason): reason
        case .noSuchEntity(let name): "The model has no entity set \(name)."
        case .abstractEntity(let name): "\(name) is abstract and has no entity set. Name a derived type or a set."
        case .severalSets(let name): "Several entity sets have entities of \(name). Name one of the sets."
        case .dynamicQueriesOff(let name): "The model does not allow dynamic queries over \(name)."
        case .noSuchAlias(let name): "No source has the alias \(name)."
        case .invalidAlias(let name):
            "\u{201C}\(name)\u{201D} is no alias. Use a letter, then letters, digits and underscores."
        case .duplicateAlias(let name): "Two sources have the alias \(name). Give each source its own."
        case .noSuchAttribute(let name): "There is no attribute \(name) with a single value."
        case .ambiguousAttribute(let name): "Several sources have \(name). Write its alias before it."
        case .largeAttributeInPredicate(let name):
            "\(name) is a large attribute. Read it through its own reader."
        case .noSuchState(let name): "The store knows no state \(name)."
        case .invalidType(let value, let expected): "\u{201C}\(value)\u{201D} is no value of \(expected)."
        case .aggregateType(let aggregate, let type): "\(aggregate) is not defined for values of \(type)."
        case .notGrouped(let name): "\(name) is neither grouped nor aggregated. Add it to the groups, or aggregate it."
        case .duplicateColumn(let name): "Two columns have the name \(name). Name one of them differently."
        case .limit(let name): "The query exceeds the limit \(name)."
        }
    }

    /// The place, the message and the suggestions on one line.
    public var description: String {
        var line = place.isEmpty ? message : "\(place): \(message)"
        if !suggestions.isEmpty { line += " Did you mean \(suggestions.joined(separator: " or "))?" }
        return line
    }
}

extension SelectionError: CodedError {
    /// `query.…`, as for the queries of URLs.
    public var errorCode: ErrorCode {
        let name =
            switch kind {
            case .syntax: "syntax"
            case .noSuchEntity, .abstractEntity, .severalSets, .noSuchAlias, .noSuchAttribute, .ambiguousAttribute,
                .noSuchState:
                "unknown-name"
            case .dynamicQueriesOff: "unsupported"
            case .limit: "limit"
            case .invalidAlias, .duplicateAlias, .largeAttributeInPredicate, .invalidType, .wrongType, .aggregateType,
                .notGrouped, .unequalShapes, .duplicateColumn, .misplaced:
                "type"
            }
        return ErrorCode(rawValue: "query.\(name)")
    }
    /// The place and the reason.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }

    /// The class of the predecessor's Object API; `nil` if it had none.
    public var legacyName: String? {
        switch kind {
        case .noSuchEntity, .severalSets: "SUPNoSuchClassException"
        case .abstractEntity: "SUPAbstractClassException"
        case .noSuchAlias, .noSuchAttribute, .ambiguousAttribute: "SUPNoSuchAttributeException"
        case .invalidType: "SUPInvalidDataTypeException"
        case .wrongType: "SUPWrongDataTypeException"
        case .aggregateType, .unequalShapes, .largeAttributeInPredicate, .duplicateAlias, .dynamicQueriesOff:
            "SUPPersistenceException"
        case .syntax, .invalidAlias, .noSuchState, .notGrouped, .duplicateColumn, .misplaced, .limit: nil
        }
    }
}
