import GRDB
import ODataModel
import ODataSQL

/// The table of the service's values that could not be read.
struct UnreadableValues {
    /// The most rows without a readable key that are listed for each query.
    static let maxRows = 100

    let set: String
    let database: Database
    /// Whether the set has any records: hardly ever. If there are none, no row is looked up.
    let hasAny: Bool

    init(set: String, in database: Database) throws {
        self.set = set
        self.database = database
        hasAny =
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_unreadable WHERE entity_set = ?)", arguments: [set])
            ?? false
    }

    /// Records the unreadable values of a row.
    func note(_ values: [String: UnreadableValue], of rowID: Int64) throws {
        for (property, value) in values {
            try database.cachedStatement(
                sql: """
                    INSERT INTO outpost_unreadable(entity_set, row_id, property, text, reason) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET text = excluded.text, reason = excluded.reason
                    """
            ).execute(arguments: [set, rowID, property, value.text, value.reason])
        }
    }

    /// Records a row without a readable key.
    func noteRow(_ entity: ODataEntity, broughtBy query: Int64) throws {
        let names = entity.shape.key.map(\.path)
        let lost = names.lazy.compactMap { name in entity.control.unreadable[name].map { (name, $0) } }.first
        let known = entity.shape.properties.indices.compactMap { ordinal -> String? in
            guard let text = entity.values[ordinal]?.lexicalText else { return nil }
            return "\(entity.shape.properties[ordinal].name)=\(text)"
        }
        let value =
            lost?.1
            ?? UnreadableValue(
                text: known.joined(separator: ", "),
                reason: "expected an entity with a value for \(names.joined(separator: ", "))")
        let count =
            try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM outpost_unreadable WHERE query_id = ?", arguments: [query]) ?? 0
        guard count < Self.maxRows else { return }
        try database.execute(
            sql: "INSERT INTO outpost_unreadable(entity_set, property, text, reason, query_id) VALUES (?, ?, ?, ?, ?)",
            arguments: [set, lost?.0, value.text, value.reason, query])
    }

    /// Removes the records of a row for the values that an entity has brought.
    ///
    /// - Parameter entity: the entity with the values that could be read and stored.
    func forget(_ entity: ODataEntity, _ rowID: Int64) throws {
        guard hasAny else { return }
        for property in try properties(of: rowID).keys where entity.control.unreadable[property] == nil {
            let name = String(property.prefix { $0 != "/" })
            guard entity[name] != nil || entity.shape.navigationProperty(name) != nil else { continue }
            try database.execute(
                sql: "DELETE FROM outpost_unreadable WHERE entity_set = ? AND row_id = ? AND property = ?",
                arguments: [set, rowID, property])
        }
    }

    /// The recorded values of a row, by property.
    func properties(of rowID: Int64) throws -> [String: UnreadableValue] {
        guard hasAny else { return [:] }
        let rows = try Row.fetchAll(
            database, sql: "SELECT property, text, reason FROM outpost_unreadable WHERE entity_set = ? AND row_id = ?",
            arguments: [set, rowID])
        return Dictionary(
            rows.map { row -> (String, UnreadableValue) in
                (row["property"], UnreadableValue(text: row["text"], reason: row["reason"]))
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// Removes the records of rows without a readable key that a query has brought.
    static func forgetRows(of query: Int64, in database: Database) throws {
        try database.execute(sql: "DELETE FROM outpost_unreadable WHERE query_id = ?", arguments: [query])
    }

    /// All records of existing rows, and of rows that are not stored.
    static func all(_ mapping: StorageMapping, in database: Database) throws -> [UnreadableProperty] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT entity_set, row_id, property, text, reason FROM outpost_unreadable "
                + "ORDER BY entity_set, row_id, property, id")
        var loaders: [String: BulkLoader] = [:]
        return try rows.compactMap { row -> UnreadableProperty? in
            let (set, property): (String, String?) = (row["entity_set"], row["property"])
            var entity: String?
            if let rowID: Int64 = row["row_id"] {
                guard mapping.tables[set] != nil else { return nil }
                let loader = try loaders[set] ?? BulkLoader(set: set, mapping: mapping, in: database)
                loaders[set] = loader
                // The row may be gone, or the app may have given the property another value.
                guard let stored = try loader.read(rowID) else { return nil }
                if let property, !property.contains("/"), stored[property] != nil { return nil }
                entity = stored.key.map { KeyURL.url(set: set, key: $0, mapping).description } ?? set
            }
            return UnreadableProperty(
                entitySet: set, entity: entity, property: property, text: row["text"], reason: row["reason"])
        }
    }
}
