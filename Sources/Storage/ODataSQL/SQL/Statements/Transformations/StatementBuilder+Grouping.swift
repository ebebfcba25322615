import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `aggregate` and `groupby` (OData Data Aggregation 4.0, 3.2).
extension StatementBuilder {
    /// A grouped value with its name in the result.
    struct Grouping {
        var name: String
        var operand: Operand
    }

    /// A grouped entity, which is represented by the parts of its key.
    private struct GroupedEntity {
        var name: String
        var table: TableStorage
        var keys: [String]
    }

    private func groupings(_ paths: [BoundPath]) throws -> ([Grouping], [GroupedEntity]) {
        var groups: [Grouping] = []
        var entities: [GroupedEntity] = []
        for path in paths {
            let name = ExpressionCompiler.name(of: path.steps)
            guard case .entity = path.type else {
                groups.append(Grouping(name: name, operand: try grouped(path, "groupby")))
                continue
            }
            guard path.steps.count == 1, case .entity(let scope, _, _) = try compiler.resolve(path),
                let table = scope.table, !table.keyColumns.isEmpty
            else { throw ODataError.notImplemented("groupby of \(name)") }
            // No property has such a name, so that no request can select it.
            let keys = table.keyColumns.map { "\(name)/$\($0.name)" }
            groups += zip(keys, table.keyColumns).map {
                Grouping(name: $0, operand: scope.column($1, isNullable: true))
            }
            entities.append(GroupedEntity(name: name, table: table, keys: keys))
        }
        return (groups, entities)
    }

    /// Attaches the grouped entities to the groups, so that they can be expanded and their properties can be used.
    private func attach(_ entities: [GroupedEntity]) throws {
        // Rows that are still entities have their own related entities.
        guard scope.table == nil else { return }
        for entity in entities {
            names.removeAll { entity.keys.contains($0) }
            changeKinds { $0.names.removeAll { entity.keys.contains($0) } }
            let alias = compiler.newAlias()
            let related = SQLScope(alias: alias, source: .table(entity.table), from: "", root: scope)
            var conditions = zip(entity.table.keyColumns, entity.keys).compactMap { column, name in
                scope.computed[name].map { key -> SQLFragment in
                    column.codec.isAnyText
                        ? .column(related.sql(column.name), isServedAs: key.sql)
                        : "\(related.sql(column.name)) = \(key.sql)"
                }
            }
            if let visible = try compiler.visibility(of: entity.table, alias: alias) { conditions.append(visible) }
            scope.from = """
                \(scope.from) LEFT JOIN \(name: entity.table.table) AS \(name: alias) ON \(.conjunction(conditions))
                """
            scope.attach(
                related, as: entity.name, names: [], presence: related.sql(entity.table.keyColumns[0].name),
                isInline: false)
        }
    }

    /// Returns the value at the end of a path in a form that is identical for equal values; instants are in UTC.
    private func grouped(_ path: BoundPath, _ purpose: String) throws -> Operand {
        var operand = try sortable(try compiler.scalar(path), for: purpose)
        if operand.codec == .dateTimeOffset { operand.sql = "outpost_utc(\(operand.sql))" }
        return operand
    }

    // MARK: groupby with transformations

    /// Applies `groupby` with transformations for each group (3.2.3.1). The rows are partitioned by the grouped
    /// values during the transformations.
    func group(by paths: [BoundPath], _ transformations: [BoundTransformation]) throws {
        try settle()
        let (groups, entities) = try groupings(paths)
        let outer = partition
        let (outerPartitions, outerMayHaveLost) = (allPartitions, mayHaveLostPartitions)
        partition = outer + groups.map(\.operand)
        let (name, fork) = share()
        let inner = fork()
        let columns = inner.partition.indices.map { "\(name: "$p.\($0)")" as SQLFragment }
        inner.allPartitions = "SELECT DISTINCT \(list: columns) FROM \(name: name)"
        inner.mayHaveLostPartitions = false
        compiler.scopes[variable] = inner.scope
        for transformation in transformations { try inner.apply(transformation) }
        try inner.settle()
        adopt(inner)
        let (ownNames, ownTable) = (names, scope.table)
        // An entity already has its own properties, including all members of complex properties.
        func isOwn(_ group: Grouping) -> Bool {
            guard let ownTable else { return false }
            guard let slash = group.name.firstIndex(of: "/") else { return true }
            return ownTable.shape.ordinal(of: String(group.name[..<slash])) != nil
        }
        for (position, group) in groups.enumerated() where position + outer.count < partition.count {
            let operand = partition[position + outer.count]
            if !isOwn(group) { scope.computed[group.name] = operand }
        }
        let added = groups.map(\.name).filter { name in
            scope.computed[name] != nil && !ownNames.contains(name)
        }
        names = added + ownNames
        if variants != nil {
            changeKinds { kind in
                kind.names =
                    groups.filter { !kind.names.contains($0.name) && !(kind.isEntity && isOwn($0)) }.map(\.name)
                    + kind.names
            }
            for (position, group) in groups.enumerated() where scope.computed[group.name] == nil {
                scope.computed[group.name] = partition[position + outer.count]
            }
        }
        if case .values(let values) = identity {
            identity = .values(groups.map(\.name).filter { !values.contains($0) } + values)
        }
        partition = Array(partition.prefix(outer.count))
        allPartitions = outerPartitions
        mayHaveLostPartitions = outerMayHaveLost || mayHaveLostPartitions
        try attach(entities)
        compiler.scopes[variable] = scope
    }

    // MARK: aggregate

    /// Applies `aggregate`, or `groupby` with at most one `aggregate`. An aggregate over other values than the rows
    /// is a separate table, which is joined by the grouped values.
    func aggregate(_ items: [BoundAggregate], by paths: [BoundPath]) throws {
        try settle()
        let (groups, entities) = try groupings(paths)
        let isSimple = items.allSatisfy { $0.members == nil && $0.owner == nil && $0.from.isEmpty }
        let mayLackRows = !partition.isEmpty && paths.isEmpty && mayHaveLostPartitions
        if isSimple, !mayLackRows {
            try aggregateAtOnce(items, groups)
        } else {
            try apart(
                items.map { item in
                    let isCount = (item.method == .count || item.method == .countDistinct) && item.from.isEmpty
                    return Part(name: item.name, empty: isCount ? "0" : nil) { rows in try rows.aggregated(item) }
                }, groups)
        }
        order = []
        expands = []
        variants = nil
        limit = nil
        identity = .values(groups.map(\.name))
        try attach(entities)
        compiler.scopes[variable] = scope
    }

    /// Builds a single SELECT with GROUP BY.
    private func aggregateAtOnce(_ items: [BoundAggregate], _ groups: [Grouping]) throws {
        let keys = partition + groups.map(\.operand)
        var columns = keys.enumerated().map { "\($1.sortable) AS \(name: "$g.\($0)")" as SQLFragment }
        var results: [Operand] = []
        for (index, item) in items.enumerated() {
            let operand = try compiler.aggregated(item)
            columns.append("\(operand.sql) AS \(name: "$a.\(index)")")
            results.append(operand)
        }
        if columns.isEmpty { columns = ["1 AS \(name: "$")"] }
        var select: SQLFragment =
            "SELECT \(list: columns) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))"
        if !keys.isEmpty { select += " GROUP BY \(list: keys.map(\.sortable))" }
        let alias = compiler.newAlias()
        let made = SQLScope(alias: alias, source: .derived, from: "(\(select)) AS \(name: alias)")
        let moved = results.enumerated().map { $1.moved(to: "\(column: "$a.\($0)", of: alias)") }
        finish(made, groups, parts: items.map(\.name), results: moved) {
            "\(column: "$g.\($0)", of: alias)"
        }
    }

    /// A column of a result that has a separate statement for each column, all on the same rows.
    struct Part {
        var name: String
        /// The value if there are no rows; `nil` for NULL.
        var empty: SQLFragment?
        /// Returns a SELECT with the columns of the partition and the value as `$a`, and the operand of the value.
        var make: (StatementBuilder) throws -> (SQLFragment, Operand)
    }

    /// Builds a SELECT with all groups, joined with one SELECT for each part.
    func apart(_ parts: [Part], _ groups: [Grouping]) throws {
        let outerCount = partition.count
        partition += groups.map(\.operand)
        let (name, fork) = share()
        let keys = partition.indices
        let base = compiler.newAlias()
        let columns = keys.map { "\(name: "$p.\($0)")" as SQLFragment }
        let partitions: SQLFragment =
            if keys.isEmpty {
                "SELECT 1 AS \(name: "$")"
            } else if groups.isEmpty, let allPartitions {
                allPartitions
            } else {
                "SELECT DISTINCT \(list: columns) FROM \(name: name)"
            }
        let made = SQLScope(alias: base, source: .derived, from: "(\(partitions)) AS \(name: base)")
        var results: [Operand] = []
        for part in parts {
            let rows = fork()
            compiler.scopes[variable] = rows.scope
            let (select, operand) = try part.make(rows)
            let alias = compiler.newAlias()
            let same = keys.map {
                "\(column: "$p.\($0)", of: alias) IS \(column: "$p.\($0)", of: base)" as SQLFragment
            }
            made.from = """
                \(made.from) LEFT JOIN (\(select)) AS \(name: alias) ON \
                \(keys.isEmpty ? "1" : .conjunction(same))
                """
            var result = operand.moved(to: "\(column: "$a", of: alias)")
            result.isNullable = part.empty == nil
            if let empty = part.empty { result.sql = "coalesce(\(result.sql), \(empty))" }
            results.append(result)
        }
        let operands = partition
        partition = Array(operands.prefix(outerCount))
        let moved = groups.enumerated().map { Grouping(name: $1.name, operand: operands[$0 + outerCount]) }
        finish(made, moved, parts: parts.map(\.name), results: results) { "\(column: "$p.\($0)", of: base)" }
    }

    /// Replaces the rows with those of an aggregation.
    private func finish(
        _ made: SQLScope, _ groups: [Grouping], parts: [String], results: [Operand],
        key: (Int) -> SQLFragment
    ) {
        partition = partition.enumerated().map { $1.moved(to: key($0)) }
        names = []
        for (index, group) in groups.enumerated() {
            made.computed[group.name] = group.operand.moved(to: key(partition.count + index))
            names.append(group.name)
        }
        for (name, result) in zip(parts, results) {
            made.computed[name] = result
            names.append(name)
        }
        scope = made
        conditions = []
    }

    /// Returns a SELECT with an aggregate for each partition: the columns of the partition and `$a`.
    private func aggregated(_ item: BoundAggregate) throws -> (SQLFragment, Operand) {
        if let members = item.members {
            guard item.from.isEmpty else {
                throw ODataError.notImplemented("from after a collection-valued path in aggregate")
            }
            try go(into: members)
        }
        var keys = partition
        var steps: [[Operand]] = []
        for step in item.from { steps.append(try step.paths.map { try grouped($0, "from") }) }
        var finest = keys + steps.flatMap { $0 }
        var operand: Operand
        let rows: SQLFragment
        if let owner = item.owner, let expression = item.expression {
            let (values, value, alias) = try compiler.values(of: expression, once: owner, for: finest) {
                "FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions + [$0]))"
            }
            operand = try compiler.aggregated(item, of: value)
            finest = finest.enumerated().map { $1.moved(to: "\(column: "$p.\($0)", of: alias)") }
            rows = "FROM \(values)"
        } else {
            operand = try compiler.aggregated(item)
            rows = "FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))"
        }
        var columns = finest.enumerated().map { "\($1.sortable) AS \(name: "$p.\($0)")" as SQLFragment }
        columns.append("\(operand.sql) AS \(name: "$a")")
        var select: SQLFragment = "SELECT \(list: columns) \(rows)"
        if !finest.isEmpty { select += " GROUP BY \(list: finest.map(\.sortable))" }
        // Each step is grouped by its own paths, by those of later steps, and by those of the result.
        for (index, step) in item.from.enumerated() {
            let alias = compiler.newAlias()
            let moved = finest.enumerated().map { $1.moved(to: "\(column: "$p.\($0)", of: alias)") }
            let before = keys.count + steps[...index].reduce(0) { $0 + $1.count }
            keys = Array(moved.prefix(partition.count))
            let kept = keys + moved[before...]
            let value = operand.moved(to: "\(column: "$a", of: alias)")
            var again = item
            again.method = step.method
            again.function = step.function
            operand = try compiler.aggregated(again, of: value)
            var columns: [SQLFragment] = []
            for (position, key) in moved.enumerated() {
                let isKept = position < partition.count || position >= before
                columns.append("\(isKept ? key.sortable : "NULL") AS \(name: "$p.\(position)")")
            }
            columns.append("\(operand.sql) AS \(name: "$a")")
            select = "SELECT \(list: columns) FROM (\(select)) AS \(name: alias)"
            if !kept.isEmpty { select += " GROUP BY \(list: kept.map(\.sortable))" }
        }
        return (select, operand)
    }

    /// Replaces the rows with the members of a collection-valued path. Each entity counts once in a partition, even
    /// if several rows lead to it (3.2.1.1).
    private func go(into members: BoundAggregate.Members) throws {
        let collection = try compiler.collection(members.path)
        let target = collection.scope
        let from: SQLFragment = "\(scope.fromClause) CROSS JOIN \(collection.fromClause)"
        let all = conditions + collection.conditions
        guard let table = target.table else {
            // Primitive and complex values are not entities and may occur several times.
            let rows = SQLScope(alias: scope.alias, source: scope.source, from: from, prefix: scope.prefix)
            rows.computed = scope.computed
            scope = rows
            conditions = all
            compiler.scopes[variable] = rows
            compiler.scopes[members.variable.identifier] = SQLScope(
                alias: target.alias, source: target.source, from: "", root: rows)
            return
        }
        let keys = table.rowID.map { [$0] } ?? table.keyColumns.map(\.name)
        guard !keys.isEmpty else { throw ODataError.notImplemented("aggregate over \(table.set), which has no key") }
        var columns = partition.enumerated().map { "\($1.sortable) AS \(name: "$p.\($0)")" as SQLFragment }
        columns += keys.enumerated().map { "\(target.sql($1)) AS \(name: "$k.\($0)")" }
        let (once, alias) = (compiler.newAlias(), compiler.newAlias())
        let same = keys.enumerated().map {
            "\(column: $1, of: alias) = \(column: "$k.\($0)", of: once)" as SQLFragment
        }
        let from2: SQLFragment = """
            (SELECT DISTINCT \(list: columns) FROM \(from)\(ExpressionCompiler.whereClause(all))) AS \(name: once) \
            CROSS JOIN \(name: table.table) AS \(name: alias)
            """
        partition = partition.enumerated().map { $1.moved(to: "\(column: "$p.\($0)", of: once)") }
        scope = SQLScope(alias: alias, source: .table(table), from: from2)
        conditions = same
        compiler.scopes[members.variable.identifier] = scope
    }
}
