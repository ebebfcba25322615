import GRDB
import ODataModel
import ODataService

/// Keys and foreign keys whose values may be written in several ways: the letters of a GUID's text in either case, a
/// time with seconds or without, an instant with another offset. However it is written it is the same key, to those who
/// read (``ExpressionCompiler/keyConditions(_:_:scope:)``) and so to those who write.
extension RowWriter {
    /// The row with a key that is written otherwise there than it would be today.
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

    /// Checks that no row has the key of a new entity in another way of writing it, which no unique index would tell.
    ///
    /// - Throws: 409 when one has.
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

    /// Leaves values that stay the same in the storage class that they have, and writes foreign keys as the keys are written that they refer to: related rows, and the constraints of a foreign
    /// database, are found by the bytes. One that leads nowhere stays as it is.
    ///
    /// - Parameters:
    ///   - row: what is about to be written.
    ///   - before: the row as it is; `nil` for a new one.
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

    /// The condition that a column holds a value of another one, however it is written in either.
    ///
    /// - Parameter source: the column that the value is of.
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

    /// What compiles conditions on the rows of a table that stands in a statement under its own name.
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
