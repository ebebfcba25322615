import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// Keys of rows before the service assigned final keys (rule 11).
struct Aliases {
    let mapping: StorageMapping

    /// Stores a key as an alias of a row.
    func add(set: String, key: EntityKey, rowID: Int64, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO outpost_alias(entity_set, entity_key, row_id) VALUES (?, ?, ?)",
            arguments: [set, KeyURL.url(set: set, key: key, mapping).description, rowID])
    }

    /// The row that had a key; `nil` if no row had it, or if the key is current for the row.
    func rowID(set: String, key: EntityKey, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database, sql: "SELECT row_id FROM outpost_alias WHERE entity_set = ? AND entity_key = ?",
            arguments: [set, KeyURL.url(set: set, key: key, mapping).description])
    }

    /// The current key of a row, found by a former key; `nil` if there is a row under the given key.
    func key(set: String, formerly key: EntityKey, in database: Database) throws -> EntityKey? {
        guard let rowID = try rowID(set: set, key: key, in: database) else { return nil }
        let loader = try BulkLoader(set: set, mapping: mapping, in: database)
        guard try loader.find(key) == nil else { return nil }
        return try loader.read(rowID)?.key
    }

    /// A path with the current keys of the entities that it names by former keys.
    ///
    /// - Returns: `nil` if the path has no former keys.
    func present(_ path: ResourcePath, in database: Database) throws -> ResourcePath? {
        var result = path
        var isOther = false
        var set = ""
        var container: Int64?
        for (position, segment) in path.segments.enumerated() {
            guard case .name(let name, let arguments) = segment else { break }
            set += position == 0 ? name.text : "/\(name.text)"
            guard let table = mapping.tables[set] else { break }
            if arguments == .none {
                guard let only = try Containment(mapping: mapping).onlyRow(of: table, in: container, database) else {
                    break
                }
                container = only
                continue
            }
            let known = ODataURL(path: ResourcePath(Array(result.segments[...position])))
            guard case .key(let key)? = try? Binder(model: mapping.model).bind(known).resource.steps.last else { break }
            let loader = try BulkLoader(table: table, in: database)
            if let rowID = try loader.find(key, parent: container) {
                container = rowID
                continue
            }
            guard let rowID = try rowID(set: set, key: key, in: database),
                try Containment(mapping: mapping).parent(of: rowID, table, in: database) == container || position == 0,
                let now = try loader.read(rowID)?.key, now.parts.count == key.parts.count
            else { break }
            result.segments[position] = .name(name, .key(KeyPredicate(now, shape: table.shape, model: mapping.model)))
            isOther = true
            container = rowID
        }
        return isOther ? result : nil
    }

    /// The foreign key properties of an entity that hold a former key, with the current values.
    func references(of entity: ODataEntity, table: TableStorage, in database: Database) throws -> [String: ODataValue] {
        var replaced: [String: ODataValue] = [:]
        for navigation in entity.shape.navigationProperties where !navigation.isCollection {
            guard let set = table.navigation[navigation.name]?.target, let target = mapping.tables[set],
                mapping.model.entitySet(set) != nil
            else { continue }
            var properties: [String: String] = [:]
            for constraint in navigation.constraints {
                properties[constraint.referencedProperty] = constraint.property
            }
            let parts = target.shape.key.compactMap { part -> EntityKey.Part? in
                guard let name = properties[part.path], let value = entity[name], !value.isNull else { return nil }
                return EntityKey.Part(name: part.name, value: value)
            }
            guard !parts.isEmpty, parts.count == target.shape.key.count,
                let current = try key(set: set, formerly: EntityKey(parts), in: database)
            else { continue }
            for part in target.shape.key {
                if let name = properties[part.path], let value = current[part.name] { replaced[name] = value }
            }
        }
        return replaced
    }
}
