import GRDB
import ODataModel
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
            let name = brokenReference(values, in: database)
            return ODataError(
                status: 409, code: "BrokenReference",
                message: name.map { "\($0) refers to an entity that does not exist." }
                    ?? "Another entity refers to this one, or this one to one that does not exist.",
                target: name)
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

    /// Returns the navigation property with a foreign key to a missing entity.
    private func brokenReference(_ values: [DatabaseValue?], in database: Database) -> String? {
        for (name, navigation) in plan.storage.navigation.sorted(by: { $0.key < $1.key }) {
            guard case .join(let target, let pairs) = navigation,
                plan.storage.shape.navigationProperty(name)?.constraints.isEmpty == false,
                let table = mapping.tables[target]?.table
            else { continue }
            var arguments: [DatabaseValue] = []
            for pair in pairs {
                if let slot = plan.slot(named: pair.source), slot < values.count, let value = values[slot],
                    !value.isNull
                {
                    arguments.append(value)
                }
            }
            guard arguments.count == pairs.count else { continue }
            let condition = pairs.map { "\($0.target.sqlIdentifier) = ?" }.joined(separator: " AND ")
            let sql = "SELECT EXISTS (SELECT 1 FROM \(table.sqlIdentifier) WHERE \(condition))"
            if (try? Bool.fetchOne(database, sql: sql, arguments: StatementArguments(arguments))) == false {
                return name
            }
        }
        return nil
    }
}
