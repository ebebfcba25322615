import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The query functions for the state of an entity's changes, in our namespace and the older one:
/// `outpost.isLocal()` is `sap.islocal()`.
///
/// | function | is true if |
/// |---|---|
/// | `isLocal` | the entity or a relation of it has changes, sent or not, that no download has brought back yet |
/// | `hasPendingChanges` | such changes are in the queue or in the error archive |
/// | `inErrorState` | such a change was refused or has an unknown outcome |
/// | `isCreated` | the entity was created here, and the service has not accepted it yet |
/// | `isUpdated` | the entity, a stream or a relation of it was changed here, and the service has not accepted that |
/// | `isSubmitted` | such a change waits for an upload or is sent |
/// | `hasLogRecords` | a log record is about the entity |
/// | `upsertedLastDownload` | the last download brought or changed the entity |
/// | `entityExists(path)` | a to-one navigation property leads to an entity |
enum StateFunctions {
    private static let hasRequest = """
        EXISTS (SELECT 1 FROM outpost_queue WHERE entity_set = :set AND row_id = :row)
        OR :row IN (SELECT end_row FROM (\(QueueTable.relationEndsQuery)))
        """

    /// SQL for rows of the last download, for the row `:row` of the set `:set` with the owner `:owner`.
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
        "hasLogRecords": """
        EXISTS (SELECT 1 FROM outpost_log_record WHERE entity_set = :set AND row_id = :row)
        """,
        "upsertedLastDownload": upsertedLastDownload,
    ]

    /// The spellings of a function.
    private static func spellings(of name: String) -> [String] {
        [name, name.lowercased()].flatMap { ["outpost.\($0)", "sap.\($0)"] }
    }

    /// The SQL conditions of the functions.
    static let conditions: [String: RowCondition] = Dictionary(
        uniqueKeysWithValues: meanings.flatMap { name, sql in
            spellings(of: name).map { ($0, RowCondition(sql: sql)) }
        })

    /// The functions for the binder, with the comparison of texts. An entity without a row in the store has no
    /// changes.
    static func registry(_ forms: TextForms?) -> FunctionRegistry {
        let functions = conditions.keys.map { name in
            ScalarFunction(name, [], returns: .primitive(.boolean)) { _ in .boolean(false) }
        }
        return addingEntityExists(to: FunctionRegistry(scalar: functions, textForms: forms))
    }

    /// Returns a registry with `entityExists` too, which does not depend on changes.
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
