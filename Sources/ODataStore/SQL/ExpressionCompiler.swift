import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Compiles bound expressions to SQL within one statement.
///
/// There are two ways to compile a boolean. As a *condition*, null counts as false, which leaves comparisons in
/// the plain form that indexes serve. As a *value*, comparisons are never null (OData URL Conventions 4.01,
/// 5.1.1.1), so that `not` and `eq false` give what the standard says.
final class ExpressionCompiler {
    let mapping: StorageMapping
    let options: SQLCompiler.Options
    /// What the range variables stand for, by identifier.
    var scopes: [Int: SQLScope] = [:]
    /// Whether the condition being compiled says which rows exist for the caller.
    var isWithinRowFilter = false
    private var aliasCount = 0

    init(mapping: StorageMapping, options: SQLCompiler.Options) {
        self.mapping = mapping
        self.options = options
    }

    /// A table alias not used before in the statement.
    func newAlias() -> String {
        aliasCount += 1
        return "t\(aliasCount - 1)"
    }

    // MARK: Conditions

    /// SQL that is true exactly where the expression is; null and false are the same.
    func condition(_ expression: BoundExpression) throws -> SQLFragment {
        switch expression {
        case .binary(.and, let left, let right, _):
            return "(\(try condition(left)) AND \(try condition(right)))"
        case .binary(.or, let left, let right, _):
            return "(\(try condition(left)) OR \(try condition(right)))"
        case .binary(let op, let left, let right, _) where Self.isComparison(op):
            return try compare(op, left, right, isCondition: true)
        case .membership(let operand, let members): return try membership(operand, members, isCondition: true)
        case .constant(.boolean(let flag), _): return flag ? "1" : "0"
        default: return try value(expression).sql
        }
    }

    static func isComparison(_ op: BinaryOperator) -> Bool {
        switch op {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    // MARK: Values

    /// SQL that yields the expression's value.
    func value(_ expression: BoundExpression) throws -> Operand {
        switch expression {
        case .constant(let value, let type): return try .constant(value, type)
        case .path(let path): return try scalar(path)
        case .unary(.not, let operand, _):
            let inner = try value(operand)
            return boolean("NOT \(inner.sql)", isNullable: inner.isNullable)
        case .unary(.negate, let operand, let type): return try negate(value(operand), type)
        case .binary(let op, let left, let right, let type):
            if Self.isComparison(op) { return boolean(try compare(op, left, right, isCondition: false)) }
            switch op {
            case .and, .or:
                let (a, b) = (try value(left), try value(right))
                let nullable = a.isNullable || b.isNullable
                return boolean(
                    op == .and ? "(\(a.sql) AND \(b.sql))" : "(\(a.sql) OR \(b.sql))", isNullable: nullable)
            case .has: return try hasFlags(value(left), value(right))
            default: return try arithmetic(op, value(left), value(right), type)
            }
        case .membership(let operand, let members):
            return boolean(try membership(operand, members, isCondition: false))
        case .function(let function, let arguments, let type): return try call(function, arguments, type)
        case .cast(let operand, let type): return try cast(value(operand), to: type)
        case .isOf(let path, let name): return boolean(try isOf(path, name))
        case .any(let path, let variable, let predicate):
            return boolean(try exists(path, variable, predicate.map { ($0, false) }))
        case .all(let path, let variable, let predicate):
            return boolean("NOT \(try exists(path, variable, (predicate, true)))")
        case .count(let path, let variable, let filter): return try count(path, variable, filter)
        case .isOfValue(_, let type): throw Self.unsupported("isof with the type \(type)")
        case .isDefined: throw Self.unsupported("isdefined")
        case .search: throw Self.unsupported("$search within $count")
        case .list: throw Self.unsupported("a list that is not made of literals")
        case .aggregate: throw Self.unsupported("aggregate in an expression")
        case .custom(let function, _): throw Self.unsupported("the function \(function.name)")
        }
    }

    func boolean(_ sql: SQLFragment, isNullable: Bool = false) -> Operand {
        Operand(sql: sql, type: .primitive(.boolean), codec: .boolean, isNullable: isNullable)
    }

    private func hasFlags(_ value: Operand, _ flags: Operand) throws -> Operand {
        guard value.codec == .integer, flags.codec == .integer else { throw Self.unsupported("has") }
        return boolean("(\(value.sql) & \(flags.sql)) = \(flags.sql)", isNullable: value.isNullable || flags.isNullable)
    }

    /// The refusal of what has no SQL.
    static func unsupported(_ name: String) -> ODataError { .notImplemented(name) }

    // MARK: in

    private func membership(
        _ operand: BoundExpression, _ members: [BoundExpression], isCondition: Bool
    ) throws -> SQLFragment {
        let tested = try value(Self.peeled(operand))
        var stored: [SQLFragment] = []
        var others: [SQLFragment] = []
        for member in members {
            guard case .constant(let constant, _) = member, !constant.isNull,
                case .exact(let value) = ComparisonForm.of(constant, in: tested.codec), tested.codec.isUnambiguous
            else {
                others.append(try compare(.equal, operand, member, isCondition: isCondition))
                continue
            }
            stored.append("\(bind: value)")
        }
        if !stored.isEmpty {
            let list: SQLFragment = "\(tested.sortable) IN (\(list: stored))"
            others.append(isCondition || !tested.isNullable ? list : "coalesce(\(list), 0)")
        }
        return others.isEmpty ? "0" : "(\(list: others, by: " OR "))"
    }

    // MARK: isof

    private func isOf(_ path: BoundPath, _ name: QualifiedName) throws -> SQLFragment {
        switch try resolve(path) {
        case .entity(let scope, let shape, _):
            guard let table = scope.table else { throw Self.unsupported("isof") }
            if mapping.model.isType(shape.name, name) { return try exists(scope, table) }
            return try typeCondition(scope, table, name)
        case .complex(let shape, _, let presence, _) where mapping.model.isType(shape.name, name):
            return "coalesce(\(presence), 0) = 1"
        default: throw Self.unsupported("isof of \(path.type)")
        }
    }

    /// Whether the row behind a left join is there.
    func exists(_ scope: SQLScope, _ table: TableStorage) throws -> SQLFragment {
        guard let probe = table.rowID ?? keyColumns(table).first?.name else {
            throw Self.unsupported("null test of \(table.set) without key")
        }
        return "\(column: probe, of: scope.alias) IS NOT NULL"
    }

    /// Whether a row's type is `name` or derives from it.
    func typeCondition(_ scope: SQLScope, _ table: TableStorage, _ name: QualifiedName) throws -> SQLFragment {
        guard let discriminator = table.discriminator else { return "0" }
        var names: [QualifiedName] = [name]
        var index = 0
        while index < names.count {
            names += mapping.model.derivedTypes(of: names[index])
            index += 1
        }
        let list = names.map { "\(bind: $0.description.databaseValue)" as SQLFragment }
        return "coalesce(\(column: discriminator, of: scope.alias) IN (\(list: list)), 0)"
    }

    /// The columns of the table's key, in key order; empty where a part has no column of its own.
    func keyColumns(_ table: TableStorage) -> [ColumnStorage] { table.keyColumns }
}

extension TableStorage {
    /// The columns of the key, in key order; empty where a part of the key has no column.
    var keyColumns: [ColumnStorage] {
        var result: [ColumnStorage] = []
        for part in shape.key {
            var storages = properties
            var current = shape
            var found: ColumnStorage?
            for name in part.path.split(separator: "/") {
                guard let ordinal = current.ordinal(of: String(name)), ordinal < storages.count else { return [] }
                switch storages[ordinal] {
                case .column(let column): found = column
                case .complex(let shape, let nested, _): (current, storages) = (shape, nested)
                case .absent: return []
                }
            }
            guard let found else { return [] }
            result.append(found)
        }
        return result
    }
}
