import GRDB
import ODataModel
import ODataSQL

/// The tables of a service: those of the offline layout, and tables for streams, the log of changes, repeatable
/// requests and the identity of the store.
struct ServiceSchema {
    static let metaTable = "outpost_service"
    static let requestTable = "outpost_request"
    /// The SQL function that returns the current time to triggers, in seconds since 1970.
    static let nowFunction = "outpost_now"

    let mapping: StorageMapping
    let changes: ChangeLog
    private let statements: [String]

    init(_ definition: ServiceDefinition) {
        let layout = OfflineLayout(model: definition.model)
        // A service has no downloads, so every row is visible and loaded.
        let tables = layout.mapping.tables.values.map { table in
            var table = table
            table.visibility = nil
            table.notLoaded = nil
            return table
        }
        var mapping = StorageMapping(model: definition.model, tables: tables)
        mapping.computedFunctions = ExpressionFunctions(definition).names
        self.mapping = mapping
        changes = ChangeLog(mapping: mapping)
        var statements = layout.statements
        statements.append("CREATE TABLE \(Self.metaTable) (name TEXT PRIMARY KEY, value) WITHOUT ROWID")
        statements += RememberedRequests.statements(table: Self.requestTable)
        statements += StreamStore.statements(mapping)
        statements += changes.statements
        statements += Self.uniqueIndexes(definition, mapping)
        self.statements = statements
    }

    /// Registers the functions that the triggers call.
    static func register(in database: Database, now: @escaping @Sendable () -> ODataDateTimeOffset) {
        StoredKey.register(in: database)
        database.add(function: DatabaseFunction(nowFunction, argumentCount: 0) { _ in now().seconds })
    }

    /// Creates the tables in an empty database, or checks that existing tables are those of the model.
    ///
    /// - Parameter path: the path of the file, for messages.
    /// - Returns: whether the tables were created.
    /// - Throws: ``StoreError``.
    func prepare(in database: Database, path: String) throws -> Bool {
        var hash = QueryHash()
        statements.forEach { hash.add($0) }
        switch try OfflineLayout.presence(in: database, path: path) {
        case .store:
            let found = try? String.fetchOne(
                database, sql: "SELECT value FROM \(Self.metaTable) WHERE name = 'layout'")
            guard found == hash.text else { throw StoreError.notAStore(path: path) }
            return false
        case .empty:
            for statement in statements { try database.execute(sql: statement) }
            try database.execute(
                sql: """
                    INSERT INTO \(Self.metaTable) VALUES ('layout', ?), ('etag', 0), ('instance', ?), ('horizon', 0);
                    """, arguments: [hash.text, String(UInt64.random(in: .min ... .max), radix: 36)])
            try database.mark(applicationID: OfflineLayout.applicationID, version: OfflineLayout.version)
            return true
        }
    }

    // MARK: Unique properties

    private static let alternateKeys = Vocabulary.core + "AlternateKeys"

    private static func uniqueIndexes(_ definition: ServiceDefinition, _ mapping: StorageMapping) -> [String] {
        var wanted = definition.uniquePaths
        for table in mapping.tables.values.sorted(by: { $0.set < $1.set }) {
            let set = mapping.model.entitySet(table.set)
            let stated =
                set?.annotations.annotation(alternateKeys) ?? table.shape.annotations.annotation(alternateKeys)
            guard case .collection(let keys)? = stated?.value else { continue }
            for key in keys {
                guard case .record(_, let properties) = key,
                    case .collection(let parts)? = properties.first(where: { $0.name == "Key" })?.value
                else { continue }
                let paths = parts.compactMap { part -> String? in
                    guard case .record(_, let fields) = part else { return nil }
                    switch fields.first(where: { $0.name == "Name" })?.value {
                    case .path(_, let text), .constant(_, let text): return text
                    default: return nil
                    }
                }
                if !paths.isEmpty { wanted.append((table.set, paths)) }
            }
        }
        return wanted.enumerated().compactMap { number, unique in
            guard let table = mapping.tables[unique.set] else { return nil }
            let columns = unique.paths.compactMap { table.column(at: $0)?.name }
            guard columns.count == unique.paths.count else { return nil }
            let parent = unique.set.contains("/") ? [OfflineLayout.parentColumn] : []
            return """
                CREATE UNIQUE INDEX \("unique$\(table.table)$\(number)".sqlIdentifier) ON \(table.table.sqlIdentifier) \
                (\((parent + columns).map(\.sqlIdentifier).joined(separator: ", ")))
                """
        }
    }
}
