import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The functions by which queries ask of a row what became of its changes, under our namespace and the older one:
/// `outpost.isLocal()` is `sap.islocal()`.
///
/// | function | true where |
/// |---|---|
/// | `isLocal` | the entity or a relation of it has changes that no download has brought back yet, sent or not |
/// | `hasPendingChanges` | changes of these wait in the queue or in the error archive |
/// | `inErrorState` | a change of these was refused or is in doubt |
/// | `upsertedLastDownload` | the last download brought the entity or changed it |
/// | `entityExists(path)` | a to-one navigation property leads to an entity |
enum StateFunctions {
    private static let hasRequest = """
        EXISTS (SELECT 1 FROM outpost_queue WHERE entity_set = :set AND row_id = :row)
        OR :row IN (SELECT end_row FROM (\(QueueTable.relationEndsQuery)))
        """

    /// What the last download brought in SQL, of the row `:row` of the set `:set` that the query `:owner` owns.
    static let upsertedLastDownload = """
        EXISTS (SELECT 1 FROM outpost_upserted WHERE entity_set = :set AND row_id = :row)
        OR EXISTS (SELECT 1 FROM outpost_query WHERE is_fresh = 1 AND (id = :owner
            OR EXISTS (SELECT 1 FROM outpost_member AS member
                WHERE member.entity_set = :set AND member.row_id = :row AND member.query_id = outpost_query.id)))
        """

    private static let meanings = [
        "isLocal": """
        \(hasRequest) OR EXISTS (SELECT 1 FROM outpost_uploaded WHERE entity_set = :set AND row_id = :row)
        """,
        "hasPendingChanges": hasRequest,
        "inErrorState": """
        EXISTS (SELECT 1 FROM outpost_queue
            WHERE entity_set = :set AND row_id = :row AND state IN ('refused', 'inDoubt'))
        OR :row IN (SELECT end_row FROM (\(QueueTable.relationEndsQuery)) WHERE state IN ('refused', 'inDoubt'))
        """,
        "upsertedLastDownload": upsertedLastDownload,
    ]

    /// How a function may be written.
    private static func spellings(of name: String) -> [String] {
        [name, name.lowercased()].flatMap { ["outpost.\($0)", "sap.\($0)"] }
    }

    /// What the functions mean in SQL.
    static let conditions: [String: RowCondition] = Dictionary(
        uniqueKeysWithValues: meanings.flatMap { name, sql in
            spellings(of: name).map { ($0, RowCondition(sql: sql)) }
        })

    /// The functions for the binder, with how texts are compared. What is not a row of the store has no changes.
    static func registry(_ forms: TextForms?) -> FunctionRegistry {
        let functions = conditions.keys.map { name in
            ScalarFunction(name, [], returns: .primitive(.boolean)) { _ in .boolean(false) }
        }
        return FunctionRegistry(scalar: functions, textForms: forms)
    }

    /// What queries may say besides the standard, by the functions of a ``registry(_:)``.
    ///
    /// - Parameter address: where a resource is found that a URL leads to by way of the engine's own sets.
    static func language(
        _ functions: FunctionRegistry, address: (@Sendable (ODataURL) async throws -> ODataURL?)? = nil
    ) -> QueryLanguage {
        QueryLanguage(functions: functions, meaning: { rewriting($0) }, address: address)
    }

    // MARK: entityExists

    private static let entityExists = Set(spellings(of: "entityExists"))

    /// A request with `entityExists(path)` as the comparison that it stands for.
    static func rewriting(_ request: ODataRequest) -> ODataRequest {
        guard request.method == .read, request.link == nil else { return request }
        var request = request
        rewrite(&request.url.options)
        return request
    }

    /// A URL with `entityExists(path)` as the comparison that it stands for.
    static func rewriting(_ url: ODataURL) -> ODataURL {
        var url = url
        rewrite(&url.options)
        return url
    }

    private static func rewrite(_ options: inout QueryOptions) {
        if let filter = options.filter { options.filter = rewritten(filter) }
        for index in options.expand.indices { rewrite(&options.expand[index].options) }
    }

    private static func rewritten(_ expression: Expression) -> Expression {
        switch expression {
        case .call(let name, let arguments) where entityExists.contains(name.text) && arguments.count == 1:
            return .binary(.notEqual, arguments[0], .literal(Literal(.null)))
        case .call(let name, let arguments): return .call(name, arguments.map(rewritten))
        case .unary(let op, let operand): return .unary(op, rewritten(operand))
        case .binary(let op, let left, let right): return .binary(op, rewritten(left), rewritten(right))
        case .path(let steps):
            return .path(
                steps.map { step in
                    switch step {
                    case .any(let variable, let predicate):
                        .any(variable: variable, predicate: predicate.map(rewritten))
                    case .all(let variable, let predicate): .all(variable: variable, predicate: rewritten(predicate))
                    default: step
                    }
                })
        default: return expression
        }
    }
}
