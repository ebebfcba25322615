import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Converts constraint violations of SQLite to OData errors with the property as target, if it is known. The
/// constraints are those of an existing database, and the unique keys of all tables.
struct ConstraintRefusal {
    let plan: WritePlan
    let mapping: StorageMapping

    /// Returns the OData error; `nil` if the error is not a constraint violation.
    func refusal(_ error: DatabaseError, values: [DatabaseValue?], in database: Database) -> ODataError? {
        guard error.resultCode == .SQLITE_CONSTRAINT else { return nil }
        let message = error.message ?? ""
        let detail = message.split(separator: ":", maxSplits: 1).last.map {
            $0.trimmingPrefix(while: { $0 == " " })
        }
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
            // Columns without a property, such as the row id of the containing entity, would mean nothing to a
            // client.
            let names = (detail ?? "").split(separator: ",").compactMap { property(of: column(String($0))) }
            let same = names.isEmpty ? "unique values" : names.joined(separator: ", ")
            return ODataError(
                status: 409, code: "AlreadyExists", message: "An entity with the same \(same) exists already.",
                target: names.count == 1 ? names[0] : names.isEmpty ? nil : plan.storage.set)
        case .SQLITE_CONSTRAINT_NOTNULL:
            let column = column(String(detail ?? ""))
            let name = property(of: column) ?? column
            return ODataError(status: 400, code: "InvalidValue", message: "\(name) must have a value.", target: name)
        case .SQLITE_CONSTRAINT_FOREIGNKEY:
            let reference = brokenReference(values, in: database)
            let message =
                reference.map { "\($0.name) leads to \($0.entity), which does not exist." }
                ?? referrer(values, in: database).map { "\($0.set) has entities that refer to this one by \($0.name)." }
                ?? "Another entity refers to this one, or this one to one that does not exist."
            return ODataError(status: 409, code: "BrokenReference", message: message, target: reference?.name)
        case .SQLITE_CONSTRAINT_CHECK:
            let mentioned = plan.slots.filter { (detail ?? "").contains($0.name) }
            return ODataError(
                status: 400, code: "CheckFailed", message: "The database's rule \(detail ?? "") is broken.",
                target: mentioned.count == 1 ? property(of: mentioned[0].name) : nil)
        default:
            return ODataError(status: 400, code: "ConstraintFailed", message: "The database refuses: \(message).")
        }
    }

    /// Returns the column of a name such as `Order Details.OrderID`, without the table.
    private func column(_ text: String) -> String {
        let text = String(text.trimmingPrefix(while: { $0 == " " }))
        let prefix = plan.storage.table + "."
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    /// Returns the path of the property in a column.
    private func property(of column: String) -> String? { plan.path(ofColumn: column) }

    /// Returns the navigation property with a foreign key to a missing entity, and the address of that entity.
    private func brokenReference(
        _ values: [DatabaseValue?], in database: Database
    ) -> (name: String, entity: String)? {
        for (name, navigation) in plan.storage.navigation.sorted(by: { $0.key < $1.key }) {
            guard case .join(let target, let pairs) = navigation,
                plan.storage.shape.navigationProperty(name)?.constraints.isEmpty == false,
                let table = mapping.tables[target]?.table, let arguments = arguments(pairs.map(\.source), values),
                isThere(table, pairs.map(\.target), arguments, in: database) == false
            else { continue }
            return (name, address(of: name, in: target, pairs.map(\.source), arguments))
        }
        return nil
    }

    /// Returns the set of an entity that refers to the written one, and the navigation property.
    private func referrer(_ values: [DatabaseValue?], in database: Database) -> (set: String, name: String)? {
        for (set, table) in mapping.tables.sorted(by: { $0.key < $1.key }) {
            for (name, navigation) in table.navigation.sorted(by: { $0.key < $1.key }) {
                guard case .join(plan.storage.set, let pairs) = navigation,
                    table.shape.navigationProperty(name)?.constraints.isEmpty == false,
                    let arguments = arguments(pairs.map(\.target), values),
                    isThere(table.table, pairs.map(\.source), arguments, in: database) == true
                else { continue }
                return (set, name)
            }
        }
        return nil
    }

    /// Returns the values of columns; `nil` if one is null or not known.
    private func arguments(_ columns: [String], _ values: [DatabaseValue?]) -> [DatabaseValue]? {
        let found = columns.compactMap { column -> DatabaseValue? in
            guard let slot = plan.slot(named: column), slot < values.count, let value = values[slot], !value.isNull
            else { return nil }
            return value
        }
        return found.count == columns.count ? found : nil
    }

    /// Returns whether a table has a row with these values; `nil` if the database cannot tell.
    private func isThere(
        _ table: String, _ columns: [String], _ values: [DatabaseValue], in database: Database
    ) -> Bool? {
        let condition = columns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND ")
        let sql = "SELECT EXISTS (SELECT 1 FROM \(table.sqlIdentifier) WHERE \(condition))"
        return try? Bool.fetchOne(database, sql: sql, arguments: StatementArguments(values))
    }

    /// Returns the address of the entity that a foreign key names; the set alone if the key is not complete.
    private func address(
        of navigation: String, in set: String, _ columns: [String], _ values: [DatabaseValue]
    ) -> String {
        let constraints = plan.storage.shape.navigationProperty(navigation)?.constraints ?? []
        var referenced: [String: ODataValue] = [:]
        for (column, value) in zip(columns, values) {
            guard let slot = plan.slot(named: column), let stored = plan.slots[slot].column,
                let property = property(of: column),
                let name = constraints.first(where: { $0.property == property })?.referencedProperty
            else { continue }
            referenced[name] = try? stored.decode(value, in: mapping.model)
        }
        let parts = (mapping.tables[set]?.shape.key ?? []).map { part in
            referenced[part.path].map { EntityKey.Part(name: part.name, value: $0) }
        }
        guard !parts.isEmpty, !parts.contains(where: { $0 == nil }) else { return "an entity of \(set)" }
        return ODataURL(set: set, key: EntityKey(parts.compactMap { $0 }), model: mapping.model).description
    }
}
