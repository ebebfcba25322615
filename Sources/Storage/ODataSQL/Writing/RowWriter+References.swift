import GRDB
import ODataModel
import ODataService

/// The rows of a set with foreign keys to the rows of another set, and the effect of deleting the referenced rows.
struct Dependents: Sendable {
    var set: String
    /// The columns of the foreign key and the referenced columns.
    var pairs: [NavigationStorage.ColumnPair]
    var properties: [String]
    /// The action that the model declares; `nil` if it declares none.
    var action: OnDeleteAction?
    /// Whether the foreign key is nullable.
    var isNullable: Bool
    /// Whether an update can change the foreign key. This requires that none of its parts is a key property,
    /// computed or immutable.
    var isChangeable: Bool

    /// The effect on the rows. Without a declaration, a nullable foreign key is set to null. If the foreign key
    /// cannot be changed as required, the referenced entity cannot be deleted.
    var effect: OnDeleteAction {
        switch action ?? .setNull {
        case .setNull: isNullable && isChangeable ? .setNull : .none
        case .setDefault: isChangeable ? .setDefault : .none
        case let other: other
        }
    }

    /// Returns the dependents of each set.
    static func all(in mapping: StorageMapping) -> [String: [Dependents]] {
        var result: [String: [Dependents]] = [:]
        var seen: Set<String> = []
        for table in mapping.tables.values.sorted(by: { $0.set < $1.set }) {
            for (path, storage) in table.navigation.sorted(by: { $0.key < $1.key }) {
                // Containment is based on row ids, and triggers of the layout delete contained rows.
                guard case .join(let target, let pairs) = storage, !path.contains("/"),
                    let other = mapping.tables[target],
                    !pairs.contains(where: {
                        $0.source == OfflineLayout.rowIDColumn || $0.target == OfflineLayout.rowIDColumn
                    })
                else { continue }
                // A derived type may declare the navigation property.
                let shapes = [table.shape] + TableLayout.derivedShapes(of: table.shape, model: mapping.model)
                let shape = shapes.first { $0.navigationProperty(path) != nil } ?? table.shape
                let navigation = shape.navigationProperty(path)
                let dependent: Dependents
                let principal: String
                if navigation?.constraints.isEmpty == false {
                    let opposite = other.shape.navigationProperties.first {
                        $0.name == navigation?.partner || $0.partner == path
                    }
                    principal = target
                    dependent = Dependents(table, shape, pairs: pairs, action: opposite?.onDelete)
                } else {
                    principal = table.set
                    dependent = Dependents(
                        other, other.shape, pairs: pairs.map { .init(source: $0.target, target: $0.source) },
                        action: navigation?.onDelete)
                }
                let columns = dependent.pairs.map { "\($0.source)=\($0.target)" }.joined(separator: ",")
                guard seen.insert("\(principal)|\(dependent.set)|\(columns)").inserted else { continue }
                result[principal, default: []].append(dependent)
            }
        }
        return result
    }

    private init(
        _ table: TableStorage, _ shape: TypeShape, pairs: [NavigationStorage.ColumnPair], action: OnDeleteAction?
    ) {
        set = table.set
        self.pairs = pairs
        self.action = action
        let columns = Array(zip(shape.properties, table.properties(of: shape)))
        let found = pairs.map { pair in
            columns.first { if case .column(let column) = $0.1 { column.name == pair.source } else { false } }?.0
        }
        properties = found.compactMap { $0?.name }
        let keys = Set(table.shape.key.map(\.path))
        isNullable = properties.count == pairs.count && found.allSatisfy { $0?.isNullable == true }
        isChangeable =
            keys.isDisjoint(with: properties)
            && !found.contains { $0?.isComputed == true || $0?.isImmutable == true }
    }
}

/// References between rows: checks of new references, and the effects of deleting referenced rows (OData CSDL 4.01,
/// 8.5 and 8.6).
extension RowWriter {
    /// The identity of a dependent row. The parent is necessary, because contained entities of different containers
    /// can have the same key.
    struct HangingRow {
        var key: EntityKey?
        var parent: Int64?
    }

    /// Returns the dependents of a row that will be deleted, with the effect on them.
    ///
    /// - Throws: 409 if a dependent prevents the deletion.
    func dependentRows(
        on row: WrittenRow, plan: WritePlan, in database: Database
    ) throws -> [(rows: [HangingRow], dependents: Dependents)] {
        var result: [(rows: [HangingRow], dependents: Dependents)] = []
        for dependents in self.dependents[plan.storage.set] ?? [] {
            let other = try self.plan(dependents.set)
            let (compiler, scope) = compiler(of: other)
            var conditions: [String] = []
            var arguments: [DatabaseValue] = []
            for pair in dependents.pairs {
                guard let path = plan.path(ofColumn: pair.target), let column = plan.storage.column(at: path),
                    let value = row.entity[path], let stored = try? column.codec.encode(value), !stored.isNull
                else { break }
                let tie = try condition(
                    pair.source, of: other, holds: stored, as: column, compiler: compiler, scope: scope)
                conditions.append(tie.sql)
                arguments += tie.arguments
            }
            guard conditions.count == dependents.pairs.count else { continue }
            let sql = "\(other.selection) WHERE \(conditions.joined(separator: " AND "))"
            let rows = try Row.fetchAll(database, sql: sql, arguments: StatementArguments(arguments)).map {
                let stored = other.stored($0)
                return HangingRow(key: try other.entity(stored).key, parent: stored.parent)
            }
            // A reference of the entity to itself does not prevent its deletion.
            let others = rows.filter {
                dependents.set != plan.storage.set || $0.key != row.entity.key || $0.parent != row.parent
            }
            guard !others.isEmpty else { continue }
            if dependents.effect == .none {
                throw ODataError(
                    status: 409, code: "StillReferenced",
                    message: "\(row.id) cannot be deleted: \(others.count) of \(dependents.set) refer to it.",
                    target: row.id)
            }
            result.append((others, dependents))
        }
        return result
    }

    /// The maximum number of levels of a cascading deletion.
    static let maxCascadeDepth = 100

    /// Deletes the dependents of a deleted row, or resets their foreign keys.
    ///
    /// - Throws: 409 beyond ``maxCascadeDepth``; the whole change is then undone.
    func settle(
        _ hanging: [(rows: [HangingRow], dependents: Dependents)], in context: WriteContext
    ) throws {
        guard !hanging.isEmpty else { return }
        // The conditions of the request apply only to the deleted row.
        let context = context.unconditional
        var writer = self
        writer.cascadeDepth += 1
        guard writer.cascadeDepth <= Self.maxCascadeDepth else {
            throw ODataError(
                status: 409, code: "CascadeTooDeep",
                message: "The deletion would take more than \(Self.maxCascadeDepth) levels of entities with it.")
        }
        for (rows, dependents) in hanging {
            for row in rows {
                let address = RowAddress(set: dependents.set, key: row.key, parent: row.parent)
                // A cycle of references may have led to this row before.
                guard let row = try writer.read(at: address, in: context.database) else { continue }
                if dependents.effect == .cascade {
                    try writer.delete(at: address, in: context)
                    continue
                }
                let shape = row.entity.shape
                var patch = ODataEntity(shape: shape)
                for name in dependents.properties {
                    let property = shape.property(name)
                    patch[name] = dependents.effect == .setDefault ? property.flatMap(defaultValue) ?? .null : .null
                }
                _ = try writer.update(patch, at: address, in: context)
            }
        }
    }

    /// Checks that the foreign keys in an entity refer to existing entities, if the rules require it.
    ///
    /// - Parameter before: the row before an update, with the parts of foreign keys that the entity omits.
    /// - Throws: 400 with the navigation property as target.
    func checkReferences(
        _ entity: ODataEntity, before: ODataEntity? = nil, plan: WritePlan, in database: Database
    ) throws {
        guard rules.requiresPrincipals else { return }
        for navigation in entity.shape.navigationProperties
        where navigation.constraints.contains(where: { entity[$0.property] != nil }) {
            guard case .join(let target, let pairs)? = plan.storage.navigation[navigation.name],
                let other = plans[target]
            else { continue }
            let (compiler, scope) = compiler(of: other)
            var conditions: [SQLFragment] = []
            for (constraint, pair) in zip(navigation.constraints, pairs) {
                guard let value = entity[constraint.property] ?? before?[constraint.property],
                    let column = plan.storage.column(at: constraint.property),
                    let stored = try? column.codec.encode(value), !stored.isNull
                else { break }
                conditions.append(
                    try condition(pair.target, of: other, holds: stored, as: column, compiler: compiler, scope: scope))
            }
            guard conditions.count == pairs.count else { continue }
            let find: SQLFragment =
                "SELECT EXISTS (SELECT 1 FROM \(scope.from)\(ExpressionCompiler.whereClause(conditions)))"
            let exists = try Bool.fetchOne(
                database, sql: find.sql, arguments: StatementArguments(find.arguments))
            guard exists == true else {
                throw ODataError(
                    status: 400, code: "BrokenReference",
                    message: "\(navigation.name) refers to an entity of \(target) that does not exist.",
                    target: navigation.name)
            }
        }
    }
}
