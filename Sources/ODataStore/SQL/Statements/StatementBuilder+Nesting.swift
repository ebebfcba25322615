import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `nest` and `addnested` (OData Data Aggregation 4.0, 3.4.2 and 3.5.1): rows that become a collection within a row.
///
/// The collection is a JSON text that SQLite makes, in the form of a response, so that the rows within need neither
/// statements of their own nor memory.
extension StatementBuilder {
    /// `nest`: one row, with what each item makes of the rows.
    func nest(_ items: [BoundNest]) throws {
        try settle()
        try apart(
            items.map { item in
                Part(name: item.name, empty: "'[]'") { rows in try rows.gathered(item.transformations) }
            }, [])
        order = []
        expands = []
        variants = nil
        limit = nil
        identity = .values([])
        compiler.scopes[variable] = scope
    }

    /// `addnested`: each row with what the items make of the rows it is related to.
    func addNested(_ path: BoundPath, _ items: [BoundNest]) throws {
        try settle()
        let shared = numbered()
        let outer = shared.fork()
        for item in items {
            let related = try related(along: path, of: shared, as: variable)
            guard related.scope.table != nil else {
                throw ODataError.notImplemented("addnested to values that are no entities")
            }
            let (select, made) = try related.gathered(item.transformations)
            let alias = compiler.newAlias()
            outer.scope.from = """
                \(outer.scope.from) LEFT JOIN (\(select)) AS \(name: alias) \
                ON \(column: "$p.0", of: alias) = \(column: "$r", of: outer.scope.alias)
                """
            var result = made.moved(to: "coalesce(\(column: "$a", of: alias), '[]')")
            result.isNullable = false
            outer.scope.computed[item.name] = result
        }
        adopt(outer)
        names += items.map(\.name)
        if let kinds = variants?.kinds {
            variants?.kinds = kinds.map { Variant(names: $0.names + items.map(\.name), isEntity: $0.isEntity) }
        }
    }

    /// The rows as a JSON array under the name `$a`, per partition.
    private func gathered(_ transformations: [BoundTransformation]) throws -> (SQLFragment, Operand) {
        for transformation in transformations { try apply(transformation) }
        try settle()
        guard variants == nil else { throw ODataError.notImplemented("concat of different rows within nest") }
        guard scope.shownAttachments.isEmpty else { throw ODataError.notImplemented("join within nest") }
        var columns = partition.enumerated().map { "\($1.sortable) AS \(name: "$p.\($0)")" as SQLFragment }
        let keys = columns.indices.map { "\(name: "$p.\($0)")" as SQLFragment }
        columns.append("\(try json()) AS \(name: "$j")")
        let terms = keys + totalOrder.map(\.fragment)
        let sorting: SQLFragment = terms.isEmpty ? "" : " ORDER BY \(list: terms)"
        var select: SQLFragment = """
            SELECT \(list: keys + ["'[' || coalesce(group_concat(\(name: "$j"), ','), '') || ']' AS \(name: "$a")"]) \
            FROM (SELECT \(list: columns) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))\(sorting))
            """
        if !keys.isEmpty { select += " GROUP BY \(list: keys)" }
        return (select, Operand(sql: "", type: .untyped("Edm.Untyped"), codec: .json, isNullable: false))
    }

    /// The row as the text of a JSON object.
    private func json() throws -> SQLFragment {
        var members: [SQLFragment] = []
        var others: [SQLFragment] = []
        if let table = scope.table {
            for (property, storage) in zip(table.shape.properties, table.properties) {
                members += try member(property, storage).map { [$0] } ?? []
            }
            others = try membersOfSome(table)
        }
        members += try object(of: names.map { ($0.split(separator: "/").map(String.init), $0) })
        let all = "\(list: members.isEmpty ? ["''"] : members, by: " || ',' || ")" as SQLFragment
        return "'{' || \(list: [all] + others, by: " || ") || '}'"
    }

    /// The members that only some rows of a table have, each with a comma before it: those of derived types, and those
    /// that no type declares.
    private func membersOfSome(_ table: TableStorage) throws -> [SQLFragment] {
        var result: [SQLFragment] = []
        for (name, storages) in table.derivedProperties.sorted(by: { $0.key.description < $1.key.description }) {
            guard let shape = compiler.mapping.model.shape(name), let discriminator = table.discriminator else {
                continue
            }
            let own = zip(shape.properties.dropFirst(table.properties.count), storages)
            let parts = try own.compactMap { try member($0, $1) }
            guard !parts.isEmpty else { continue }
            result.append(
                """
                CASE WHEN \(scope.sql(discriminator)) = \(bind: name.description.databaseValue) \
                THEN ',' || \(list: parts, by: " || ',' || ") ELSE '' END
                """)
        }
        if let dynamic = table.dynamicProperties {
            let column = scope.sql(dynamic)
            result.append(
                """
                CASE WHEN json(\(column)) <> '{}' THEN ',' || substr(json(\(column)), 2, length(json(\(column))) - 2) \
                ELSE '' END
                """)
        }
        return result
    }

    /// The members for computed values; those with a path stand in objects of their own.
    private func object(of paths: [(path: [String], name: String)]) throws -> [SQLFragment] {
        var members: [SQLFragment] = []
        var seen: Set<String> = []
        for (path, name) in paths {
            guard let first = path.first, seen.insert(first).inserted else { continue }
            if path.count == 1 {
                guard let operand = scope.computed[name] else { continue }
                members.append("\(label(first)) || \(try text(operand, first))")
            } else {
                let inner = paths.filter { $0.path.count > 1 && $0.path[0] == first }
                let parts = try object(of: inner.map { (Array($0.path.dropFirst()), $0.name) })
                members.append("\(label(first)) || '{' || \(list: parts, by: " || ',' || ") || '}'")
            }
        }
        return members
    }

    private func label(_ name: String) -> SQLFragment {
        var writer = JSONWriter()
        writer.string(name)
        return "\(bind: (String(decoding: writer.bytes, as: UTF8.self) + ":").databaseValue)"
    }

    private func member(_ property: Property, _ storage: PropertyStorage) throws -> SQLFragment? {
        switch storage {
        case .column(let column):
            if property.type.primitive == .stream { return nil }
            let operand = scope.computed[property.name] ?? scope.column(column, isNullable: true)
            return "\(label(property.name)) || \(try text(operand, property.name))"
        case .complex(let shape, let nested, let presence):
            let parts = try zip(shape.properties, nested).compactMap { try member($0, $1) }
            let object: SQLFragment = "'{' || \(list: parts.isEmpty ? ["''"] : parts, by: " || ',' || ") || '}'"
            return """
                \(label(property.name)) || CASE WHEN coalesce(\(scope.sql(presence)), 0) = 1 THEN \(object) ELSE 'null' END
                """
        case .absent: return nil
        }
    }

    /// A value as the JSON text that a response has for it; `null` for none.
    private func text(_ operand: Operand, _ name: String) throws -> SQLFragment {
        let value = try compiler.normalized(operand)
        let x = value.sql
        switch value.codec {
        case .integer:
            if case .enumeration(let type) = value.type { return try text(x, of: type, name) }
            return "coalesce(CAST(\(x) AS TEXT), 'null')"
        case .boolean: return "CASE \(x) WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END"
        case .json: return "coalesce(\(x), 'null')"
        case .decimalBytes: return "coalesce(outpost_dec_text(\(x)), 'null')"
        case .double, .single:
            // Neither NaN nor infinity is a number of JSON.
            return """
                CASE WHEN typeof(\(x)) = 'real' AND abs(\(x)) <= \(bind: Double.greatestFiniteMagnitude.databaseValue) \
                THEN outpost_real_text(\(x)) ELSE coalesce(json_quote(outpost_real_text(\(x))), 'null') END
                """
        default: return "coalesce(json_quote(\(try compiler.cast(value, to: .primitive(.string)).sql)), 'null')"
        }
    }

    /// The JSON text of an enumeration's value: members by their names, what they do not express as a number.
    private func text(_ value: SQLFragment, of type: QualifiedName, _ name: String) throws -> SQLFragment {
        guard let type = compiler.mapping.model.enumType(type) else { throw ODataError.notImplemented(name) }
        let number: SQLFragment = "coalesce('\"' || CAST(\(value) AS TEXT) || '\"', 'null')"
        var branches: [SQLFragment] = type.members.map {
            "WHEN \(value) = \(bind: $0.value.databaseValue) THEN \(bind: "\"\($0.name)\"".databaseValue)"
        }
        let flags = type.members.filter { $0.value != 0 }
        if type.isFlags {
            let all = flags.reduce(0) { $0 | $1.value }
            guard flags.reduce(0, { $0 + $1.value.nonzeroBitCount }) == all.nonzeroBitCount else {
                throw ODataError.notImplemented("\(name), whose members overlap, within nest")
            }
            let parts = flags.map { flag -> SQLFragment in
                let bits: SQLFragment = "\(bind: flag.value.databaseValue)"
                return "CASE WHEN \(value) & \(bits) = \(bits) THEN \(bind: ",\(flag.name)".databaseValue) ELSE '' END"
            }
            let list: SQLFragment = "ltrim(\(list: parts, by: " || "), ',')"
            branches.append(
                """
                WHEN \(value) <> 0 AND \(value) & ~\(bind: all.databaseValue) = 0 THEN '"' || \(list) || '"'
                """)
        }
        return branches.isEmpty ? number : "CASE \(list: branches, by: " ") ELSE \(number) END"
    }
}
