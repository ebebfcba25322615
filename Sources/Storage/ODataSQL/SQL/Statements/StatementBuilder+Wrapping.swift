import GRDB
import ODataModel
import ODataQuery

/// Rows as derived tables and common table expressions, for transformations of earlier results.
///
/// A derived table has the columns of the original table under the same names. Further values have names that start
/// with a dollar sign, which no property has.
extension StatementBuilder {
    /// A SELECT with the current rows, and the location of their values in its columns.
    struct Carried {
        let select: SQLFragment
        /// The names and operands of all values, by column.
        private let template: Template
        private let order: [CompiledQuery.SortTerm]
        private let partition: [Operand]
        private let kinds: [Variant]?

        fileprivate init(
            select: SQLFragment, template: Template, order: [CompiledQuery.SortTerm], partition: [Operand],
            kinds: [Variant]?
        ) {
            self.select = select
            self.template = template
            self.order = order
            self.partition = partition
            self.kinds = kinds
        }

        /// Returns the scope of the rows with an alias in the FROM of another scope.
        func scope(alias: String, root: SQLScope) -> SQLScope { template.scope(alias: alias, from: "", root: root) }

        /// Makes the rows with an alias the rows of a builder.
        func become(rowsOf builder: StatementBuilder, alias: String, from: SQLFragment) {
            builder.scope = template.scope(alias: alias, from: from, root: nil)
            builder.conditions = []
            builder.limit = nil
            builder.order = order.enumerated().map { index, term in
                var term = term
                term.sql = "\(column: "$o.\(index)", of: alias)"
                return term
            }
            builder.partition = partition.enumerated().map { $1.moved(to: "\(column: "$p.\($0)", of: alias)") }
            builder.variants = kinds.map { ("\(column: "$v", of: alias)", $0) }
            builder.compiler.scopes[builder.variable] = builder.scope
        }
    }

    /// The columns of a scope in a derived table.
    final class Template {
        let source: SQLScope.Source
        let prefix: String
        var computed: [(name: String, column: String, operand: Operand)] = []
        var attachments: [(name: String, names: [String], presence: String, isInline: Bool, Template)] = []

        init(source: SQLScope.Source, prefix: String) {
            self.source = source
            self.prefix = prefix
        }

        func scope(alias: String, from: SQLFragment, root: SQLScope?) -> SQLScope {
            let scope = SQLScope(alias: alias, source: source, from: from, root: root, prefix: prefix)
            for (name, column, operand) in computed {
                scope.computed[name] = operand.moved(to: "\(column: column, of: alias)")
            }
            for (name, names, presence, isInline, template) in attachments {
                scope.attach(
                    template.scope(alias: alias, from: "", root: scope.owner), as: name, names: names,
                    presence: "\(column: presence, of: alias)", isInline: isInline)
            }
            return scope
        }
    }

    /// Returns the current rows as a SELECT.
    ///
    /// - Parameter extra: additional columns with their names.
    func carried(adding extra: [(name: String, sql: SQLFragment)] = []) -> Carried {
        var columns: [SQLFragment] = []
        let template = Self.template(scope, prefix: "", &columns)
        for (index, operand) in partition.enumerated() {
            // Values are ordered by code points, regardless of the collation of their column.
            columns.append("\(operand.sortable) AS \(name: "$p.\(index)")")
        }
        for (index, term) in order.enumerated() { columns.append("\(term.sql) AS \(name: "$o.\(index)")") }
        if let variants { columns.append("\(variants.column) AS \(name: "$v")") }
        columns += extra.map { "\($0.sql) AS \(name: $0.name)" }
        // An aggregate without items has no columns.
        if columns.isEmpty { columns = ["1 AS \(name: "$")"] }
        var select: SQLFragment =
            "SELECT \(list: columns) FROM \(scope.fromClause)\(ExpressionCompiler.whereClause(conditions))"
        if let limit, partition.isEmpty {
            // The rows selected by a limit must not change from one page to the next.
            let sorting = totalOrder.map(\.fragment)
            if !sorting.isEmpty { select += " ORDER BY \(list: sorting)" }
            let (count, offset) = ((limit.count ?? -1).databaseValue, (limit.offset ?? 0).databaseValue)
            select += " LIMIT \(bind: count) OFFSET \(bind: offset)"
        }
        return Carried(
            select: select, template: template, order: order, partition: partition, kinds: variants?.kinds)
    }

    private static func template(_ scope: SQLScope, prefix: String, _ columns: inout [SQLFragment]) -> Template {
        let template = Template(source: scope.source, prefix: prefix)
        if let table = scope.table {
            columns += table.statementColumns.map { "\(scope.sql($0)) AS \(name: prefix + $0)" }
        }
        for (index, name) in scope.computed.keys.sorted().enumerated() {
            guard let operand = scope.computed[name] else { continue }
            let column = "\(prefix)$c.\(index)"
            columns.append("\(operand.sortable) AS \(name: column)")
            template.computed.append((name, column, operand))
        }
        for (index, attachment) in scope.attachments.enumerated() {
            let inner = Self.template(attachment.scope, prefix: "\(prefix)$j.\(index).", &columns)
            let presence = "\(prefix)$j.\(index)"
            columns.append("\(attachment.presence) AS \(name: presence)")
            template.attachments.append(
                (attachment.name, attachment.names, presence, attachment.isInline, inner))
        }
        return template
    }

    /// Applies a pending limit to the rows.
    func settle() throws {
        guard let limit else { return }
        guard !partition.isEmpty else { return wrap() }
        // Within partitions, a limit is a range of row numbers.
        self.limit = nil
        number()
        let offset = limit.offset ?? 0
        if offset > 0 { conditions.append("\(column: "$n", of: scope.alias) > \(bind: offset.databaseValue)") }
        if let count = limit.count {
            let (last, overflow) = offset.addingReportingOverflow(count)
            conditions.append(
                "\(column: "$n", of: scope.alias) <= \(bind: (overflow ? Int.max : last).databaseValue)")
        }
        mayHaveLostPartitions = true
    }

    /// Numbers the rows of each partition in their order, in a column `$n`.
    func number() {
        wrap(adding: [("$n", "ROW_NUMBER() OVER (\(window(totalOrder)))")])
    }

    /// Returns the content of OVER: the partition and the order.
    func window(_ terms: [CompiledQuery.SortTerm]) -> SQLFragment {
        var parts: [SQLFragment] = []
        if !partition.isEmpty { parts.append("PARTITION BY \(list: partition.map(\.sortable))") }
        if !terms.isEmpty { parts.append("ORDER BY \(list: terms.map(\.fragment))") }
        return "\(list: parts, by: " ")"
    }

    /// Moves the current rows to a derived table with the same columns, on which later transformations operate.
    func wrap(adding extra: [(name: String, sql: SQLFragment)] = []) {
        let carried = carried(adding: extra)
        let alias = compiler.newAlias()
        carried.become(rowsOf: self, alias: alias, from: "(\(carried.select)) AS \(name: alias)")
    }

    /// Moves the current rows to a common table expression, which several parts of the statement can read.
    ///
    /// - Returns: A function that returns further builders on its rows, and the name of the table.
    func share(
        adding extra: [(name: String, sql: SQLFragment)] = []
    ) -> (name: String, fork: () -> StatementBuilder) {
        let carried = carried(adding: extra)
        let name = compiler.addCommon(carried.select)
        let identity = identity
        let (names, expands, variable) = (names, expands, variable)
        let (allPartitions, mayHaveLostPartitions) = (allPartitions, mayHaveLostPartitions)
        let compiler = compiler
        return (
            name,
            {
                let alias = compiler.newAlias()
                let fork = StatementBuilder(
                    compiler: compiler, scope: SQLScope(alias: alias, source: .derived, from: ""))
                fork.variable = variable
                carried.become(rowsOf: fork, alias: alias, from: "\(name: name) AS \(name: alias)")
                fork.identity = identity
                fork.names = names
                fork.expands = expands
                fork.allPartitions = allPartitions
                fork.mayHaveLostPartitions = mayHaveLostPartitions
                return fork
            }
        )
    }

    /// Replaces the rows with those of another builder.
    func adopt(_ other: StatementBuilder) {
        scope = other.scope
        conditions = other.conditions
        order = other.order
        names = other.names
        identity = other.identity
        limit = other.limit
        partition = other.partition
        variants = other.variants
        expands = other.expands
        mayHaveLostPartitions = other.mayHaveLostPartitions
        compiler.scopes[variable] = scope
    }

    /// Removes the rows that do not satisfy a condition.
    func keep(_ condition: SQLFragment) throws {
        conditions.append(condition)
        if !partition.isEmpty { mayHaveLostPartitions = true }
    }

    func filter(_ filter: BoundExpression) throws {
        try settle()
        try keep(try compiler.condition(filter))
    }
}

extension Operand {
    /// Returns the same value in another column.
    func moved(to sql: SQLFragment) -> Operand {
        var moved = self
        moved.sql = sql
        moved.constant = nil
        // Columns keep values, but not their JSON types.
        if dynamic != nil { moved.dynamic = .plain(sql) }
        return moved
    }
}
