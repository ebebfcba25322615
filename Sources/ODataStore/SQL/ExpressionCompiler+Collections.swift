import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Lambda operators and `$count`: subqueries over related rows, or over the members of a JSON column.
extension ExpressionCompiler {
    /// `EXISTS` over the members of a collection, with the predicate or, for `all`, its opposite.
    func exists(
        _ path: BoundPath, _ variable: RangeVariable, _ predicate: (BoundExpression, isOpposite: Bool)?
    ) throws -> SQLFragment {
        let (scope, conditions) = try members(of: path, variable)
        var all = conditions
        if let (expression, isOpposite) = predicate {
            // For `all`, a member whose predicate is null does not satisfy it.
            all.append(isOpposite ? "(\(try value(expression).sql)) IS NOT 1" : try condition(expression))
        }
        scopes[variable.identifier] = nil
        return "EXISTS (SELECT 1 FROM \(scope.fromClause)\(Self.whereClause(all)))"
    }

    /// The number of members, optionally of those that satisfy a condition.
    func count(_ path: BoundPath, _ variable: RangeVariable, _ filter: BoundExpression?) throws -> Operand {
        let (scope, conditions) = try members(of: path, variable)
        var all = conditions
        if let filter { all.append(try condition(filter)) }
        scopes[variable.identifier] = nil
        return Operand(
            sql: "(SELECT COUNT(*) FROM \(scope.fromClause)\(Self.whereClause(all)))", type: .primitive(.int64),
            codec: .integer, isNullable: false)
    }

    static func whereClause(_ conditions: [SQLFragment]) -> SQLFragment {
        conditions.isEmpty ? "" : " WHERE \(.conjunction(conditions))"
    }

    /// A scope that runs over the members of the collection at the end of a path.
    private func members(of path: BoundPath, _ variable: RangeVariable) throws -> (SQLScope, [SQLFragment]) {
        let alias = newAlias()
        switch try resolve(path) {
        case .entities(let outer, let table, let property):
            let (storage, target) = try navigation(property, of: table)
            let scope = SQLScope(
                alias: alias, source: .table(target), from: "\(name: target.table) AS \(name: alias)")
            var conditions: [SQLFragment]
            switch storage {
            case .join(_, let pairs): conditions = joinConditions(pairs, source: outer.alias, target: alias)
            case .link(_, let link, let source, let targetColumn):
                let rowID = try requireRowID(target, property)
                let own = try requireRowID(table, property)
                let inner = newAlias()
                conditions = [
                    """
                    \(column: rowID, of: alias) IN (SELECT \(column: targetColumn, of: inner) FROM \(name: link) AS \
                    \(name: inner) WHERE \(column: source, of: inner) = \(column: own, of: outer.alias))
                    """
                ]
            }
            if let visible = try visibility(of: target, alias: alias) { conditions.append(visible) }
            if let shape = variable.shape, shape != target.shape,
                !mapping.model.isType(target.shape.name, shape.name)
            {
                conditions.append(try typeCondition(scope, target, shape.name))
            }
            scopes[variable.identifier] = scope
            return (scope, conditions)
        case .scalar(let operand) where operand.codec == .json && operand.type.isCollection:
            let scope = SQLScope(
                alias: alias, source: .json("\(column: "value", of: alias)", operand.type.element),
                from: "json_each(\(operand.sql)) AS \(name: alias)")
            scopes[variable.identifier] = scope
            return (scope, [])
        default: throw Self.unsupported("a lambda over \(Self.name(of: path.steps))")
        }
    }

    /// A value within a member of a JSON array.
    func resolveMember(
        _ path: BoundPath, _ value: SQLFragment, _ type: TypeReference, _ scope: SQLScope
    ) throws -> PathTarget {
        if path.steps.isEmpty {
            return .scalar(try member(value, type, place: path.variable.name))
        }
        var names: [String] = []
        for step in path.steps {
            switch step {
            case .property(let property, _, _): names.append(property.name)
            case .dynamic(let name): names.append(name)
            default: throw Self.unsupported("the path \(Self.name(of: path.steps)) within a collection")
            }
        }
        let extracted: SQLFragment = "json_extract(\(value), \(bind: SQLFragment.jsonPath(names).databaseValue))"
        return .scalar(try member(extracted, path.type, place: names.joined(separator: "/")))
    }

    /// A value taken out of JSON in the canonical form of its type.
    func member(_ value: SQLFragment, _ type: TypeReference, place: String) throws -> Operand {
        let codec = Operand.canonicalCodec(type)
        let label = place.databaseValue
        let sql: SQLFragment =
            switch codec {
            case .string, .boolean, .integer, .json: value
            case .double, .single: "outpost_double_of_json(\(value))"
            case .decimalBytes: "outpost_decimal_of_number(\(value), \(bind: label))"
            case .guid: "outpost_guid_of_text(\(value), \(bind: label))"
            case .date: "outpost_date_of_text(\(value), \(bind: label))"
            case .timeOfDay: "outpost_time_of_text(\(value), \(bind: label))"
            case .dateTimeOffset: "outpost_instant_of_text(\(value), \(bind: label))"
            case .dateTime: "outpost_local_of_text(\(value), \(bind: label))"
            case .duration: "outpost_duration_of_text(\(value), \(bind: label))"
            case .binary: "outpost_binary_of_text(\(value))"
            default: throw Self.unsupported("\(type) within a collection")
            }
        return Operand(
            sql: sql, type: type, codec: codec, place: place, isDynamic: codec == .json && !type.isCollection)
    }
}
