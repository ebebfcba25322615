import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The columns that a dynamic query reads. A row whose value is *not loaded* is refused, and its value does not count
/// as null.
struct ReadColumns {
    /// The rows of a table in a statement.
    struct Rows {
        let table: TableStorage
        /// The range variable of the rows, if they are a source of a query.
        var variable: RangeVariable?
        /// The conditions that every row of a result satisfies, on the source alone.
        var conditions: [BoundExpression] = []
        /// The columns that may lack a value, by the type that declares the property.
        var columns: [(shape: TypeShape, bits: Set<Int>)] = []
    }

    /// By table alias, in the order of the first read.
    private(set) var rows: [(alias: String, rows: Rows)] = []

    /// Adds a column of a table.
    mutating func add(_ bit: Int, of shape: TypeShape, _ table: TableStorage, alias: String) {
        change(table, alias) { rows in
            if let index = rows.columns.firstIndex(where: { $0.shape.name == shape.name }) {
                rows.columns[index].bits.insert(bit)
            } else {
                rows.columns.append((shape, [bit]))
            }
        }
    }

    /// Adds the conditions on the rows of a source.
    mutating func add(_ conditions: [BoundExpression], on source: RangeVariable, _ table: TableStorage, alias: String) {
        change(table, alias) { rows in
            rows.variable = source
            rows.conditions += conditions
        }
    }

    private mutating func change(_ table: TableStorage, _ alias: String, _ body: (inout Rows) -> Void) {
        if let index = rows.firstIndex(where: { $0.alias == alias }) {
            body(&rows[index].rows)
        } else {
            var added = Rows(table: table)
            body(&added)
            rows.append((alias, added))
        }
    }

    /// Returns the bits of columns in the form of ``TableStorage/notLoaded``.
    static func mask(_ bits: Set<Int>) -> DatabaseValue {
        var bytes = [UInt8](repeating: 0, count: (bits.max() ?? 0) / 8 + 1)
        for bit in bits { bytes[bit / 8] |= 1 << UInt8(bit % 8) }
        return Data(bytes).databaseValue
    }
}

extension ExpressionCompiler {
    /// Notes that a dynamic query reads a column.
    ///
    /// - Parameter shape: the type whose rows have the column.
    @inline(__always)
    func noteRead(_ column: ColumnStorage, of shape: TypeShape, in scope: SQLScope) {
        guard reads != nil, column.isOptionallyLoaded, let table = scope.table, table.notLoaded != nil,
            let bit = table.columnBits[column.name]
        else { return }
        reads?.add(bit, of: shape, table, alias: scope.alias)
    }

    /// Notes that a dynamic query reads a property with all its columns.
    func noteRead(_ storages: [PropertyStorage], of shape: TypeShape, in scope: SQLScope) {
        for storage in storages {
            switch storage {
            case .column(let column): noteRead(column, of: shape, in: scope)
            case .complex(_, let nested, _): noteRead(nested, of: shape, in: scope)
            case .absent: continue
            }
        }
    }

    /// Notes the columns of a join.
    func noteJoin(_ pairs: [NavigationStorage.ColumnPair], from source: SQLScope, to target: SQLScope) {
        guard reads != nil else { return }
        func note(_ name: String, _ scope: SQLScope) {
            guard let table = scope.table, let column = table.columns.first(where: { $0.name == name }) else { return }
            noteRead(column, of: table.shape, in: scope)
        }
        for pair in pairs {
            note(pair.source, source)
            note(pair.target, target)
        }
    }

    /// Requires that the rows which can contribute to a dynamic query have all values that the query reads.
    ///
    /// A row counts unless a condition on its source alone excludes it. A condition on a missing value excludes none.
    func requireReadColumns() throws {
        guard let known = reads else { return }
        defer { reads = known }
        for (_, rows) in known.rows {
            guard let notLoaded = rows.table.notLoaded else { continue }
            for (shape, bits) in rows.columns {
                reads = nil
                let (alias, scope) = ownRows(of: rows.table)
                let missing: SQLFragment =
                    "outpost_missing(\(scope.sql(notLoaded)), \(bind: ReadColumns.mask(bits)))"
                var conditions: [SQLFragment] = ["\(scope.sql(notLoaded)) IS NOT NULL", "\(missing) IS NOT NULL"]
                if let visible = try visibility(of: rows.table, alias: alias) { conditions.append(visible) }
                // Rows of other types have no such property.
                for type in [shape, rows.variable?.shape].compactMap({ $0 })
                where !mapping.model.isType(rows.table.shape.name, type.name) {
                    conditions.append(try typeCondition(scope, rows.table, name: type.name))
                }
                if let variable = rows.variable?.identifier {
                    let before = scopes[variable]
                    scopes[variable] = scope
                    defer { scopes[variable] = before }
                    for condition in rows.conditions {
                        if let sql = try possible(condition, scope, notLoaded) { conditions.append(sql) }
                    }
                }
                require(
                    "SELECT \(missing) FROM \(scope.from)\(Self.whereClause(conditions)) LIMIT 1",
                    unless: "SELECT 1 FROM \(scope.from) WHERE \(scope.sql(notLoaded)) IS NOT NULL LIMIT 1"
                ) { [table = rows.table] in Self.notLoaded($0, of: table) }
            }
        }
    }

    /// Returns the condition that a row satisfies a condition, or may satisfy it since a value is not loaded; `nil` if
    /// the condition needs other rows.
    private func possible(_ condition: BoundExpression, _ scope: SQLScope, _ notLoaded: String) throws -> SQLFragment? {
        reads = ReadColumns()
        defer { reads = nil }
        let sql = try self.condition(condition)
        guard let found = reads?.rows, found.allSatisfy({ $0.alias == scope.alias }), scope.joins.isEmpty else {
            return nil
        }
        let bits = found.flatMap { $0.rows.columns }.reduce(into: Set<Int>()) { $0.formUnion($1.bits) }
        if bits.isEmpty { return sql }
        return "(outpost_missing(\(scope.sql(notLoaded)), \(bind: ReadColumns.mask(bits))) IS NOT NULL OR \(sql))"
    }

    /// Returns the error for a missing value.
    private static func notLoaded(_ bit: Int, of table: TableStorage) -> ODataError {
        let columns = table.columns
        let path = columns.indices.contains(bit) ? table.path(of: columns[bit].name) : nil
        guard let path else { return .notLoaded(table.set, definingQuery: table.set) }
        // A selected complex value brings all its properties. A qualified name is a derived type.
        let names = path.split(separator: "/")
        let selected = names.prefix(names.first?.contains(".") == true ? 2 : 1).joined(separator: "/")
        return .notLoaded("\(table.set)/\(path)", definingQuery: "\(table.set)?$select=\(selected)")
    }
}

extension BoundExpression {
    /// The conditions that are joined by `and` and read a single row of a source alone.
    func conditions(on source: RangeVariable) -> [BoundExpression] {
        if case .binary(.and, let left, let right, _) = self {
            return left.conditions(on: source) + right.conditions(on: source)
        }
        func isElsewhere(_ node: BoundNode) -> Bool {
            switch node {
            case .path(let path):
                path.variable.identifier != source.identifier
                    || path.steps.contains { if case .property = $0 { false } else { true } }
            case .expression(.search), .expression(.hierarchyTest), .expression(.subquery), .condition, .selection: true
            default: false
            }
        }
        return isElsewhere(.expression(self)) || BoundNode.expression(self).contains(isElsewhere) ? [] : [self]
    }
}

extension TableStorage {
    /// Returns the path of the property that a column stores, such as `Address/City`.
    fileprivate func path(of column: String) -> String? {
        func find(_ properties: ArraySlice<Property>, _ storages: ArraySlice<PropertyStorage>) -> String? {
            for (property, storage) in zip(properties, storages) {
                switch storage {
                case .column(let found): if found.name == column { return property.name }
                case .complex(let shape, let nested, _):
                    if let inner = find(shape.properties[...], nested[...]) { return "\(property.name)/\(inner)" }
                case .absent: continue
                }
            }
            return nil
        }
        if let path = find(shape.properties[...], properties[...]) { return path }
        for (type, storages) in derivedProperties {
            guard let derived = model?.shape(type) else { continue }
            if let path = find(derived.properties.dropFirst(shape.properties.count), storages[...]) {
                return "\(type)/\(path)"
            }
        }
        return nil
    }
}
