import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Compiles bound expressions to SQL within one statement.
///
/// A boolean is compiled in one of two ways. As a *condition*, null counts as false, so that comparisons keep the
/// plain form that can use indexes. As a *value*, comparisons are never null (OData URL Conventions 4.01, 5.1.1.1),
/// so that `not` and `eq false` follow the standard.
package final class ExpressionCompiler {
    let mapping: StorageMapping
    let options: SQLCompiler.Options
    /// The scopes of the range variables, by identifier.
    package var scopes: [Int: SQLScope] = [:]
    /// Whether the compiler is inside the condition of a row filter.
    var isWithinRowFilter = false
    private var aliasCount = 0
    /// The number of bytes of all conditions and values so far.
    private var length = 0
    /// The number of collections that transformations nest in rows.
    var nested = 0
    /// Whether the statement depends on the current time.
    var usesNow = false
    /// Whether there is a search that can use a full-text index.
    var usesSearch = false
    /// The data that the store must contain when the statement is run.
    private(set) var requirements: [LoadingRequirement] = []
    /// The columns that a dynamic query reads; `nil` for other statements, in which a value that is not loaded counts as
    /// null.
    var reads: ReadColumns?
    /// The ids of the addressed rows, from which the statement selects, and their table alias.
    var addressed: (alias: String, rows: SQLFragment)?
    /// The common table expressions of the statement, in the order of their definition.
    private(set) var common: [SQLFragment] = []

    /// The literals of the request, so that other requests can use the statement; empty if it is used once.
    let literals: [ODataValue]

    package init(mapping: StorageMapping, options: SQLCompiler.Options, literals: [ODataValue] = []) {
        self.mapping = mapping
        self.options = options
        self.literals = literals
    }

    /// Returns the index of the literal from which a constant was converted; `nil` if there is none or more than
    /// one.
    func literal(of constant: ODataValue, _ type: TypeReference) -> Int? {
        var found: Int?
        for (index, literal) in literals.enumerated()
        where TypePromotion.adapt(literal, to: type, model: mapping.model) == constant {
            if found != nil { return nil }
            found = index
        }
        return found
    }

    /// Returns a constant in the stored form of a codec, as an argument of the statement.
    func bound(_ stored: DatabaseValue, _ constant: ODataValue, type: TypeReference, codec: ColumnCodec)
        -> SQLFragment
    {
        if literals.isEmpty { return SQLFragment(bind: stored) }
        return "\(bind: stored, literal: literal(of: constant, type), .value(type, codec))"
    }

    /// Returns a new table alias.
    package func newAlias() -> String {
        aliasCount += 1
        // This runs for each table of each statement, and a string interpolation would allocate more memory.
        return "t" + String(aliasCount - 1)
    }

    /// Adds a check that runs before the statement.
    ///
    /// - Parameter violation: a statement that returns a row if the check fails.
    func require(_ violation: SQLFragment, _ error: ODataError) {
        requirements.append(LoadingRequirement(violation: violation) { _ in error })
    }

    /// Adds a check that runs before the statement.
    ///
    /// - Parameters:
    ///   - violation: a statement that returns a row with a number if the check fails.
    ///   - probe: a statement without arguments that returns no row if the check cannot fail.
    ///   - error: returns the error for the number.
    func require(_ violation: SQLFragment, unless probe: SQLFragment, error: @escaping @Sendable (Int) -> ODataError) {
        requirements.append(LoadingRequirement(violation: violation, probe: probe, error: error))
    }

    /// Defines a common table expression, which is computed only once.
    ///
    /// - Returns: Its name.
    func addCommon(_ select: SQLFragment) -> String {
        let name = "w\(common.count)"
        common.append("\(name: name) AS MATERIALIZED (\(select))")
        return name
    }

    /// Defines a recursive common table expression.
    func addRecursive(_ name: String, _ columns: SQLFragment, select: SQLFragment) {
        common.append("\(name: name)(\(columns)) AS (\(select))")
    }

    /// The maximum number of references to common table expressions, including those within the referenced ones.
    ///
    /// SQLite compiles a common table expression again for each reference, with about 20 KB of memory. A chain of
    /// transformations that read their input twice doubles the number of references with each step.
    private static let maxReferences = 4096

    /// Checks the number of references to common table expressions.
    ///
    /// - Throws: ``ODataError`` 400 beyond ``maxReferences``.
    func checkReferences() throws {
        var weights: [Int] = []
        for (index, fragment) in common.enumerated() {
            var weight = 1
            for part in fragment.sql.split(separator: "\"") {
                guard part.utf8.first == UInt8(ascii: "w"), let other = Int(part.dropFirst()), other < index else {
                    continue
                }
                weight += weights[other]
                guard weight <= Self.maxReferences else { throw ODataError.tooComplex }
            }
            weights.append(weight)
        }
    }

    // MARK: Conditions

    /// Returns SQL that is true exactly if the expression is true; null and false are equivalent.
    ///
    /// - Throws: ``ODataError`` 400 if the statement is too long.
    package func condition(_ expression: BoundExpression) throws -> SQLFragment {
        let sql = try plainCondition(expression)
        try count(sql)
        return sql
    }

    private func plainCondition(_ expression: BoundExpression) throws -> SQLFragment {
        switch expression {
        case .binary(.and, _, _, _), .binary(.or, _, _, _):
            var text = SQLFragment.Interpolation(literalCapacity: 128, interpolationCount: 2)
            try write(expression, into: &text)
            return SQLFragment(stringInterpolation: text)
        case .binary(let op, let left, let right, _) where Self.isComparison(op):
            return try compare(op, left: left, right: right, isCondition: true)
        case .membership(let operand, let members): return try membership(operand, members, isCondition: true)
        case .constant(.boolean(let flag), _): return flag ? "1" : "0"
        default: return try value(expression).sql
        }
    }

    /// Writes a condition. Nested `and` and `or` are written to the same text. Separate texts would copy the first
    /// condition of a chain once for each further condition.
    private func write(_ expression: BoundExpression, into text: inout SQLFragment.Interpolation) throws {
        guard case .binary(let op, let left, let right, _) = expression, op == .and || op == .or else {
            text.appendInterpolation(try condition(expression))
            return
        }
        text.appendLiteral("(")
        try write(left, into: &text)
        text.appendLiteral(op == .and ? " AND " : " OR ")
        try write(right, into: &text)
        text.appendLiteral(")")
    }

    static func isComparison(_ op: BinaryOperator) -> Bool {
        switch op {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    // MARK: Values

    /// Returns SQL with the value of the expression.
    ///
    /// - Throws: ``ODataError`` 400 if the statement is too long.
    func value(_ expression: BoundExpression) throws -> Operand {
        let operand = try plainValue(expression)
        try count(operand.sql)
        return operand
    }

    /// The maximum total length in bytes of the conditions and values in a statement, each with its parts.
    ///
    /// A name of `$compute` is replaced with its expression. The length therefore doubles with each name whose
    /// expression uses the previous name twice.
    static let maxLength = 32 << 20

    private func count(_ sql: SQLFragment) throws {
        length += sql.sql.utf8.count
        guard length <= Self.maxLength else { throw ODataError.tooComplex }
    }

    private func plainValue(_ expression: BoundExpression) throws -> Operand {
        switch expression {
        case .constant(let value, let type):
            var operand = try Operand.constant(value, type)
            if !literals.isEmpty, case .exact(let stored) = ComparisonForm.of(value, in: operand.codec) {
                operand.sql = bound(stored, value, type: type, codec: operand.codec)
            }
            return operand
        case .path(let path): return try scalar(path)
        case .unary(.not, let operand, _):
            let inner = try value(operand)
            return boolean("NOT \(inner.sql)", isNullable: inner.isNullable)
        case .unary(.negate, let operand, let type): return try negate(value(operand), type)
        case .binary(let op, let left, let right, let type):
            if Self.isComparison(op) { return boolean(try compare(op, left: left, right: right, isCondition: false)) }
            switch op {
            case .and, .or:
                let (a, b) = (try value(left), try value(right))
                let nullable = a.isNullable || b.isNullable
                return boolean(
                    op == .and ? "(\(a.sql) AND \(b.sql))" : "(\(a.sql) OR \(b.sql))", isNullable: nullable)
            case .has: return try hasFlags(value(left), value(right))
            default: return try arithmetic(op, left: value(left), right: value(right), type: type)
            }
        case .membership(let operand, let members):
            return boolean(try membership(operand, members, isCondition: false))
        case .function(let function, let arguments, let type): return try call(function, arguments, type: type)
        case .cast(let operand, let type): return try cast(value(operand), to: type)
        case .isOf(let path, let name): return boolean(try isOf(path, name))
        case .any(let path, let variable, let predicate):
            return boolean(try exists(path, variable, predicate: predicate.map { ($0, false) }))
        case .all(let path, let variable, let predicate):
            return boolean("NOT \(try exists(path, variable, predicate: (predicate, true)))")
        case .count(let path, let variable, let filter): return try count(path, variable, filter: filter)
        case .isOfValue(let operand, let type): return boolean(try isOf(operand, type))
        case .isDefined(let path): return boolean(try isDefined(path))
        case .search(let expression, let variable):
            guard let scope = scopes[variable.identifier] else { throw Self.unsupported("$search here") }
            return boolean(try search(expression, scope))
        case .list(let members, let type): return try list(members, type)
        case .aggregate(let path, let item): return try aggregate(path, item)
        case .custom(let function, let arguments): return try call(function, arguments)
        case .hierarchyTest: return try test(expression)
        case .subquery(let subquery): return try value(of: subquery)
        }
    }

    func boolean(_ sql: SQLFragment, isNullable: Bool = false) -> Operand {
        Operand(sql: sql, type: .primitive(.boolean), codec: .boolean, isNullable: isNullable)
    }

    private func hasFlags(_ value: Operand, _ flags: Operand) throws -> Operand {
        guard value.codec == .integer, flags.codec == .integer else { throw Self.unsupported("has") }
        return boolean("(\(value.sql) & \(flags.sql)) = \(flags.sql)", isNullable: value.isNullable || flags.isNullable)
    }

    /// Returns the error for a construct without SQL.
    static func unsupported(_ name: String) -> ODataError { .notImplemented(name) }

    // MARK: in

    private func membership(
        _ operand: BoundExpression, _ members: [BoundExpression], isCondition: Bool
    ) throws -> SQLFragment {
        if Self.isStructured(operand.type) {
            let equal = try members.map { try compare(.equal, left: operand, right: $0, isCondition: isCondition) }
            return equal.isEmpty ? "0" : .disjunction(equal[...])
        }
        let tested = try value(Self.peeled(operand))
        // A value without a declared type is compared separately with each member.
        let isDynamic = tested.dynamic != nil
        var stored: [SQLFragment] = []
        var others: [SQLFragment] = []
        for member in members {
            guard !isDynamic, tested.anyTextColumn == nil, case .constant(let constant, _) = member, !constant.isNull,
                let value = Self.listed(constant, in: tested.codec)
            else {
                others.append(try compare(.equal, left: operand, right: member, isCondition: isCondition))
                continue
            }
            stored.append("\(bind: value)")
        }
        if !stored.isEmpty {
            let list: SQLFragment = "\(Self.lookedUp(tested)) IN (\(list: stored))"
            others.append(isCondition || !tested.isNullable ? list : "coalesce(\(list), 0)")
        }
        return others.isEmpty ? "0" : .disjunction(others[...])
    }

    /// Returns a constant in a form that SQL can find in a list by equality; `nil` if it needs a separate
    /// comparison.
    private static func listed(_ constant: ODataValue, in codec: ColumnCodec) -> DatabaseValue? {
        switch (codec, constant) {
        case (.dateTimeOffset, _):
            return ColumnCodec.instant(constant).map {
                ColumnCodec.blob(InstantKey.encode(seconds: $0.seconds, picoseconds: $0.picoseconds))
            }
        case (.guidText, .guid(let guid)): return guid.description.databaseValue
        default:
            guard codec.isUnambiguous, case .exact(let stored) = ComparisonForm.of(constant, in: codec) else {
                return nil
            }
            return stored
        }
    }

    /// Returns the unique form of a value for a search in a list: instants without offsets, GUIDs in lowercase.
    private static func lookedUp(_ operand: Operand) -> SQLFragment {
        switch operand.codec {
        case .dateTimeOffset: operand.order
        case .guidText: "lower(\(operand.sql))"
        default: operand.sortable
        }
    }

    // MARK: isof and isdefined

    /// Returns whether a value has a primitive type and is not null.
    private func isOf(_ expression: BoundExpression, _ type: TypeReference) throws -> SQLFragment {
        guard type == expression.type || Self.peeled(.cast(expression, type)) != .cast(expression, type) else {
            if case .untyped = expression.type { throw Self.unsupported("isof of a value without a declared type") }
            return "0"
        }
        return "(\(try value(expression).sql)) IS NOT NULL"
    }

    /// Returns whether a row has the target of a path. It lacks the properties of other types, and properties that
    /// its branch of a `concat` does not define.
    private func isDefined(_ path: BoundPath) throws -> SQLFragment {
        let name = Self.name(of: path.steps)
        guard let scope = scopes[path.variable.identifier] else { throw Self.unsupported("isdefined here") }
        if let condition = scope.defined[name] { return condition }
        var condition: [SQLFragment] = []
        for (index, step) in path.steps.enumerated() {
            let before = BoundPath(
                variable: path.variable, steps: Array(path.steps[..<index]), type: .untyped("Edm.Untyped"))
            switch step {
            case .cast(let shape):
                condition.append(try isOf(before, shape.name))
            case .dynamic(let name):
                guard case .entity(let scope, _, _) = try resolve(before), let table = scope.table,
                    let column = table.dynamicProperties
                else { return "0" }
                let path = SQLFragment.jsonPath([name]).databaseValue
                condition.append("json_type(\(scope.sql(column)), \(bind: path)) IS NOT NULL")
            case .navigation where index < path.steps.count - 1:
                // A missing entity has no properties.
                var through = before
                through.steps.append(step)
                guard case .entity(let joined, _, _) = try resolve(through), let table = joined.table else {
                    throw Self.unsupported("isdefined of \(name)")
                }
                condition.append(try exists(joined, table))
            case .property(let property, _, _) where index < path.steps.count - 1:
                var through = before
                through.steps.append(step)
                if case .complex(_, _, let presence, _) = try resolve(through) {
                    condition.append("coalesce(\(presence), 0) = 1")
                } else {
                    throw Self.unsupported("isdefined of \(property.name)")
                }
            default: continue
            }
        }
        return condition.isEmpty ? "1" : "(\(.conjunction(condition)))"
    }

    // MARK: Lists and registered functions

    /// Returns a list with non-constant members as JSON, in the form of stored collections.
    private func list(_ members: [BoundExpression], _ type: TypeReference) throws -> Operand {
        let values = try members.map { try jsonMember(try value($0)) }
        return Operand(
            sql: "json_array(\(list: values))", type: .collection(type), codec: .json, isNullable: false)
    }

    private func call(_ function: ScalarFunction, _ arguments: [BoundExpression]) throws -> Operand {
        if let condition = mapping.rowConditions[function.name] {
            // A dynamic query names the row.
            var variable = 0
            if case .path(let path)? = arguments.first { variable = path.variable.identifier }
            guard let scope = scopes[variable], let table = scope.table,
                let sql = condition.fragment(of: table, in: scope)
            else { throw Self.unsupported("\(function.name) here") }
            return boolean(sql)
        }
        if function.isDeclared, !mapping.computedFunctions.contains(function.name) {
            throw Self.unsupported("The function \(function.name.prefix { $0 != "(" }) in an expression")
        }
        let values = try zip(arguments, function.parameters).map { argument, type in
            try converted(try value(argument), to: Operand.canonicalCodec(type)).sql
        }
        return Operand(
            sql: "\(name: AppFunctions.sqlName(function.name))(\(list: values))", type: function.returnType,
            codec: Operand.canonicalCodec(function.returnType))
    }

    // MARK: isof

    private func isOf(_ path: BoundPath, _ name: QualifiedName) throws -> SQLFragment {
        switch try resolve(path) {
        case .entity(let scope, let shape, _):
            guard let table = scope.table else { throw Self.unsupported("isof") }
            if mapping.model.isType(shape.name, name) { return try exists(scope, table) }
            return try typeCondition(scope, table, name: name)
        case .complex(let shape, _, let presence, _) where mapping.model.isType(shape.name, name):
            return "coalesce(\(presence), 0) = 1"
        default: throw Self.unsupported("isof of \(path.type)")
        }
    }

    /// Returns whether a left join has found a row.
    func exists(_ scope: SQLScope, _ table: TableStorage) throws -> SQLFragment {
        guard let probe = table.rowID ?? keyColumns(table).first?.name else {
            throw Self.unsupported("null test of \(table.set) without key")
        }
        return "\(scope.sql(probe)) IS NOT NULL"
    }

    /// Returns whether the type of a row is `name` or derived from it.
    func typeCondition(_ scope: SQLScope, _ table: TableStorage, name: QualifiedName) throws -> SQLFragment {
        guard let discriminator = table.discriminator else { return "0" }
        var names: [QualifiedName] = [name]
        var index = 0
        while index < names.count {
            names += mapping.model.derivedTypes(of: names[index])
            index += 1
        }
        let list = names.map { "\(bind: $0.description.databaseValue)" as SQLFragment }
        return "coalesce(\(scope.sql(discriminator)) IN (\(list: list)), 0)"
    }

    /// Returns the columns of the table's key, in key order; empty if a part of the key has no column.
    func keyColumns(_ table: TableStorage) -> [ColumnStorage] { table.keyColumns }
}

extension TableStorage {
    /// The columns of the key, in key order; empty if a part of the key has no column.
    package var keyColumns: [ColumnStorage] {
        if let knownKeyColumns { return knownKeyColumns }
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
