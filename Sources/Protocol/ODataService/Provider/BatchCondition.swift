import ODataModel
import ODataQuery

/// The condition under which a request of a batch is executed (`if`; OData JSON Format 4.01, 19.1).
///
/// ```swift
/// let condition = try BatchCondition("$1/$succeeded and $2/Price gt 100")
/// ```
///
/// `$ID/$succeeded` is true if an earlier request succeeded. `$ID` is the body of its response, and `$ID/PATH` a
/// property of the body.
public struct BatchCondition: Hashable, Sendable {
    /// The text of the condition.
    public let text: String
    private let expression: CommonExpression
    private let references: [Reference]
    /// The requests that failed before the batch was executed.
    private var failed: Set<String> = []

    /// A reference to an earlier request, which is a parameter alias in the expression.
    private struct Reference: Hashable, Sendable {
        var alias: String
        var value: BatchValueReference

        var asksForSuccess: Bool { value.path == ["$succeeded"] }
    }

    /// Parses a condition.
    ///
    /// - Throws: ``QueryError`` if the text is not an expression.
    public init(_ text: String) throws(QueryError) {
        var references: [Reference] = []
        var plain = ""
        var rest = text.unicodeScalars[...]
        var isQuoted = false
        func isWord(_ scalar: Unicode.Scalar) -> Bool { Character(scalar).isLetter || Character(scalar).isNumber }
        while let scalar = rest.popFirst() {
            if scalar == "'" { isQuoted.toggle() }
            guard scalar == "$", !isQuoted, rest.first.map(isWord) == true else {
                plain.unicodeScalars.append(scalar)
                continue
            }
            let reference = rest.prefix { isWord($0) || "-._~/$".unicodeScalars.contains($0) }
            rest = rest.dropFirst(reference.count)
            let parts = reference.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
            let alias = "batch\(references.count)"
            references.append(
                Reference(alias: alias, value: BatchValueReference(id: parts[0], path: Array(parts.dropFirst()))))
            plain += "@\(alias)"
        }
        self.text = text
        self.references = references
        expression = try CommonExpression(parsing: plain, options: ParsingOptions())
    }

    /// The ids of the requests to whose responses the condition refers.
    public var ids: Set<String> { Set(references.map(\.value.id)) }

    /// Returns the same condition with additional failed requests.
    public func assuming(failed ids: some Sequence<String>) -> BatchCondition {
        var condition = self
        condition.failed.formUnion(ids)
        return condition
    }

    /// Returns whether the condition holds.
    ///
    /// - Parameters:
    ///   - outcomes: the responses so far, by the ids of their requests and change sets.
    ///   - model: the model of the service.
    /// - Throws: ``ODataError`` 400 for a reference to an unknown request, 424 for a reference to a missing part of
    ///   a response.
    public func holds(
        after outcomes: [String: Result<ODataResponse, ODataError>], model: EntityDataModel
    ) throws -> Bool {
        var aliases: [String: CommonExpression] = [:]
        for reference in references {
            aliases[reference.alias] = .literal(Literal(try value(of: reference, outcomes)))
        }
        let none = TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: [])
        do {
            let bound = try Binder(model: model).bind(expression, shape: none, set: nil, aliases: aliases)
            let evaluator = Evaluator(model: model, source: NothingStored(), now: ODataDateTimeOffset(seconds: 0))
            return try evaluator.evaluate(bound, on: ODataEntity(shape: none)) == .boolean(true)
        } catch let error as QueryError {
            throw ODataError(status: 400, code: "InvalidBatch", message: "if: \(error.description)", target: "if")
        } catch let error as EvaluationError {
            throw ODataError(status: 400, code: "InvalidBatch", message: "if: \(error.description)", target: "if")
        }
    }

    private func value(
        of reference: Reference, _ outcomes: [String: Result<ODataResponse, ODataError>]
    ) throws -> ODataValue {
        if failed.contains(reference.value.id) {
            guard reference.asksForSuccess else { throw reference.value.missing("if") }
            return .boolean(false)
        }
        guard reference.asksForSuccess, let outcome = outcomes[reference.value.id] else {
            return try reference.value.value(after: outcomes, target: "if")
        }
        if case .success = outcome { return .boolean(true) }
        return .boolean(false)
    }
}

/// An empty data source, since conditions refer to responses only.
private struct NothingStored: EvaluationSource {
    func rows(of set: String) throws -> [any EvaluationRow] { throw ODataError.notImplemented("$root/\(set) in if") }

    func singleton(_ name: String) throws -> (any EvaluationRow)? {
        throw ODataError.notImplemented("$root/\(name) in if")
    }
}
