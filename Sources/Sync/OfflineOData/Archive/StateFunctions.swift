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
/// | `isCreated` | the entity was made here, and the service has not taken it yet |
/// | `isUpdated` | the entity, a stream or a relation of it was changed here, and the service has not taken that yet |
/// | `isSubmitted` | a change of these waits for an upload or is on its way |
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
        "isCreated": """
        EXISTS (SELECT 1 FROM outpost_queue WHERE entity_set = :set AND row_id = :row AND kind = 'create')
        """,
        "isUpdated": """
        EXISTS (SELECT 1 FROM outpost_queue
            WHERE entity_set = :set AND row_id = :row AND kind IN ('update', 'stream'))
        OR :row IN (SELECT end_row FROM (\(QueueTable.relationEndsQuery)))
        """,
        "isSubmitted": """
        EXISTS (SELECT 1 FROM outpost_queue
            WHERE entity_set = :set AND row_id = :row AND state IN ('pending', 'sending'))
        OR :row IN (SELECT end_row FROM (\(QueueTable.relationEndsQuery)) WHERE state IN ('pending', 'sending'))
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
        return addingEntityExists(to: FunctionRegistry(scalar: functions, textForms: forms))
    }

    /// Returns a registry that has `entityExists` too, which needs to know nothing of changes.
    static func addingEntityExists(to functions: FunctionRegistry) -> FunctionRegistry {
        let entityExists = ExpressionFunction(parameterCount: 1) { arguments in
            .binary(.notEqual, arguments[0], .literal(Literal(.null)))
        }
        var functions = functions
        functions.register(
            Dictionary(uniqueKeysWithValues: spellings(of: "entityExists").map { ($0, entityExists) }))
        return functions
    }
}
