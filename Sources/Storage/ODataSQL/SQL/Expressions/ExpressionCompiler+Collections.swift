import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Lambda operators and `$count`: subqueries over related rows, or over the members of a JSON column.
extension ExpressionCompiler {
    /// Returns `EXISTS` over the members of a collection with the predicate or, for `all`, its negation.
    func exists(
        _ path: BoundPath, _ variable: RangeVariable, predicate: (BoundExpression, isOpposite: Bool)?
    ) throws -> SQLFragment {
        let members = try collection(path)
        scopes[variable.identifier] = members.scope
        defer { scopes[variable.identifier] = nil }
        var conditions: [SQLFragment] = []
        if let (expression, isOpposite) = predicate {
            // For `all`, a member with a null predicate does not satisfy it.
            conditions = [isOpposite ? "(\(try value(expression).sql)) IS NOT 1" : try condition(expression)]
        }
        return "EXISTS (SELECT 1 \(members.rows(where: conditions)))"
    }

    /// Returns the number of members, optionally of those that satisfy a condition.
    func count(_ path: BoundPath, _ variable: RangeVariable, filter: BoundExpression?) throws -> Operand {
        let members = try collection(path)
        scopes[variable.identifier] = members.scope
        defer { scopes[variable.identifier] = nil }
        let conditions = try filter.map { [try condition($0)] } ?? []
        return Operand(
            sql: "(SELECT COUNT(*) \(members.rows(where: conditions)))", type: .primitive(.int64),
            codec: .integer, isNullable: false)
    }

    /// Returns `aggregate(…)` of a collection within an expression (OData Data Aggregation 4.0, 6.2.5).
    func aggregate(_ path: BoundPath, _ item: BoundAggregate) throws -> Operand {
        guard item.from.isEmpty else { throw Self.unsupported("from in an aggregate within an expression") }
        let members = try collection(item.members?.path ?? path)
        if let variable = item.members?.variable { scopes[variable.identifier] = members.scope }
        guard let owner = item.owner, let expression = item.expression else {
            var result = try aggregated(item)
            result.sql = "(SELECT \(result.sql) \(members.rows()))"
            return result
        }
        let (values, value, _) = try values(of: expression, once: owner, for: []) { members.rows(where: [$0]) }
        var result = try aggregated(item, of: value)
        result.sql = "(SELECT \(result.sql) FROM \(values))"
        return result
    }

    package static func whereClause(_ conditions: [SQLFragment]) -> SQLFragment {
        conditions.isEmpty ? "" : " WHERE \(.conjunction(conditions))"
    }

    /// Returns a value within a member of a JSON array.
    func resolveMember(
        _ path: BoundPath, _ value: SQLFragment, type: TypeReference, scope: SQLScope
    ) throws -> PathTarget {
        let element = DynamicValue.element(alias: scope.alias)
        if path.steps.isEmpty {
            return .scalar(try member(value, type, place: path.variable.name, dynamic: element))
        }
        var names: [String] = []
        for step in path.steps {
            switch step {
            case .property(let property, _, _): names.append(property.name)
            case .dynamic(let name): names.append(name)
            default: throw Self.unsupported("the path \(Self.name(of: path.steps)) within a collection")
            }
        }
        var found = DynamicValue.member(of: value, path: names)
        // Members without a declared type may have other values than objects.
        if case .untyped = type { found = names.reduce(element) { $0.member($1) } }
        return .scalar(try member(found.value, path.type, place: names.joined(separator: "/"), dynamic: found))
    }

    /// Returns a value from JSON in the canonical form of its type.
    ///
    /// - Parameter dynamic: the location of a value without a declared type.
    func member(
        _ value: SQLFragment, _ type: TypeReference, place: String, dynamic: DynamicValue? = nil
    ) throws -> Operand {
        let codec = Operand.canonicalCodec(type)
        let label = place.databaseValue
        let sql: SQLFragment =
            switch codec {
            case .string, .boolean, .integer, .json: value
            case .double: "outpost_double_of_json(\(value))"
            // JSON contains the shortest digits of the binary32 value, which read as a different binary64 value.
            case .single: "outpost_real_single(outpost_double_of_json(\(value)))"
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
        let isDynamic = codec == .json && !type.isCollection
        return Operand(
            sql: sql, type: type, codec: codec, place: place, dynamic: isDynamic ? dynamic ?? .plain(value) : nil)
    }
}
