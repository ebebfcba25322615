import GRDB
import ODataModel
import ODataService

/// Keys and foreign keys with several stored forms.
///
/// Examples are the letter case of a GUID's text, times with or without seconds, and instants with different
/// offsets. All forms are the same key for reads (``ExpressionCompiler/keyConditions(_:_:scope:)``) and for writes.
extension RowWriter {
    /// Returns the row whose key is stored in another form than the current one.
    func findOtherwiseWritten(
        _ key: EntityKey, parent: Int64?, plan: WritePlan, in database: Database
    ) throws -> WritePlan.Stored? {
        let (compiler, scope) = compiler(of: plan)
        var conditions = try compiler.keyConditions(key, plan.storage, scope: scope)
        if let parent {
            conditions.append("\(scope.sql(OfflineLayout.parentColumn)) = \(bind: parent.databaseValue)")
        }
        if let visibility = plan.storage.visibility {
            conditions.append(
                "\(scope.sql(visibility.ownerColumn)) NOT IN (SELECT id FROM \(name: visibility.hiddenTable))")
        }
        let rest = ExpressionCompiler.whereClause(conditions)
        let statement = try database.cachedStatement(sql: plan.selection + rest.sql)
        return try Row.fetchOne(statement, arguments: StatementArguments(rest.arguments)).map(plan.stored)
    }

    /// Checks that no row has the key of a new entity in another form, which a unique index would not detect.
    ///
    /// - Throws: 409 if there is such a row.
    func checkIsNew(_ entity: ODataEntity, parent: Int64?, plan: WritePlan, in database: Database) throws {
        guard plan.hasVariableKey, let key = entity.key,
            try find(key: key, parent: parent, plan: plan, in: database) != nil
        else { return }
        let names = plan.storage.shape.key.map(\.path)
        throw ODataError(
            status: 409, code: "AlreadyExists",
            message: "An entity with the same \(names.joined(separator: ", ")) exists already.",
            target: names.count == 1 ? names[0] : plan.storage.set)
    }

    /// Keeps the storage class of unchanged values, and writes foreign keys in the form of the referenced keys.
    ///
    /// Related rows, and foreign key constraints of an existing database, are compared by bytes. A foreign key
    /// without a referenced row is not changed.
    ///
    /// - Parameters:
    ///   - row: the values to be written.
    ///   - before: the current row; `nil` for a new row.
    func adoptForms(
        into row: inout [DatabaseValue?], before: [DatabaseValue]?, plan: WritePlan, in database: Database
    ) throws {
        if let before {
            for (index, slot) in plan.slots.enumerated() where slot.column?.codec.isAnyText == true {
                guard let value = row[index], let text = AnyText.text(of: value),
                    AnyText.text(of: before[index])?.utf8.elementsEqual(text.utf8) == true
                else { continue }
                row[index] = before[index]
            }
        }
        for reference in plan.variableReferences {
            guard let target = plans[reference.target] else { continue }
            let values = reference.pairs.map { row[$0.slot] ?? before?[$0.slot] ?? .null }
            guard !values.contains(where: \.isNull), reference.pairs.contains(where: { row[$0.slot] != nil }) else {
                continue
            }
            let (compiler, scope) = compiler(of: target)
            var (conditions, exact): ([SQLFragment], [SQLFragment]) = ([], [])
            for (pair, value) in zip(reference.pairs, values) {
                exact.append("\(scope.sql(pair.column)) = \(bind: value)")
                conditions.append(
                    try condition(
                        pair.column, of: target, holds: value, as: plan.slots[pair.slot].column, compiler: compiler,
                        scope: scope))
            }
            let columns = reference.pairs.map { scope.sql($0.column) }
            let find: SQLFragment = """
                SELECT \(list: columns) FROM \(name: target.storage.table)\(ExpressionCompiler.whereClause(conditions)) \
                ORDER BY \(.conjunction(exact)) DESC LIMIT 1
                """
            let statement = try database.cachedStatement(sql: find.sql)
            guard let found = try Row.fetchOne(statement, arguments: StatementArguments(find.arguments)) else {
                continue
            }
            for (index, pair) in reference.pairs.enumerated() where row[pair.slot] != nil {
                row[pair.slot] = found[index] as DatabaseValue
            }
        }
    }

    /// Returns the condition that a column equals a value of another column in any stored form.
    ///
    /// - Parameter source: the column of the value.
    func condition(
        _ name: String, of plan: WritePlan, holds value: DatabaseValue, as source: ColumnStorage?,
        compiler: ExpressionCompiler, scope: SQLScope
    ) throws -> SQLFragment {
        guard let source, let slot = plan.slot(named: name), let column = plan.slots[slot].column,
            column.isComparedAsText || source.codec.hasSeveralForms && column.codec == source.codec,
            let meant = try? source.decode(value, in: mapping.model)
        else { return "\(scope.sql(name)) = \(bind: value)" }
        return try compiler.equal(column, plan.storage, scope: scope, value: meant)
    }

    /// Returns a compiler for conditions on the rows of a table whose alias is the table's own name.
    func compiler(of plan: WritePlan) -> (ExpressionCompiler, SQLScope) {
        // Keys do not depend on the time.
        let options = SQLCompiler.Options(now: ODataDateTimeOffset(seconds: 0))
        let table = plan.storage.table
        return (
            ExpressionCompiler(mapping: mapping, options: options),
            SQLScope(alias: table, source: .table(plan.storage), from: "\(name: table)")
        )
    }
}
